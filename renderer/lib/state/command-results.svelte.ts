// The results of slash commands typed in this window: the newest for each session, and the typed lines for recall. Nothing is stored; the
// log records what a command did.

import type { OpResult } from '../../../core/contracts/ops.ts';
import { toOpFailure, type OpClient } from '../client.ts';

export interface CommandResult {
  readonly line: string;
  /** Null while the command runs, and if it failed. */
  readonly result: OpResult<'command.run'> | null;
  readonly failure: { readonly message: string; readonly hint: string | undefined } | null;
}

const linesMax = 100;

export class CommandResults {
  /** Results by session; '' is the conversation that has no session yet. */
  readonly #bySession = $state<Record<string, CommandResult>>({});
  readonly #lines = $state<Record<string, string[]>>({});
  readonly #client: OpClient;

  constructor(client: OpClient) {
    this.#client = client;
  }

  of(sessionId: string | null): CommandResult | undefined {
    return this.#bySession[sessionId ?? ''];
  }

  linesOf(sessionId: string | null): readonly string[] {
    return this.#lines[sessionId ?? ''] ?? [];
  }

  dismiss(sessionId: string | null): void {
    delete this.#bySession[sessionId ?? ''];
  }

  /** Resolves to the session to show from now on, or false if the command was refused; the result then has the reason. */
  async run(line: string, sessionId: string | null): Promise<{ sessionId: string | null } | false> {
    const key = sessionId ?? '';
    this.#lines[key] = [...this.linesOf(sessionId), line].slice(-linesMax);
    this.#bySession[key] = { line, result: null, failure: null };
    try {
      const result = await this.#client.op('command.run', { line, ...(sessionId === null ? {} : { sessionId }) });
      this.dismiss(sessionId);
      this.#bySession[result.sessionId ?? ''] = { line, result, failure: null };
      return { sessionId: result.sessionId };
    } catch (cause) {
      const { message, hint } = toOpFailure(cause);
      this.#bySession[key] = { line, result: null, failure: { message, hint } };
      return false;
    }
  }
}
