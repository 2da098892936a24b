// Questions of MCP servers that wait for a person, reloaded whenever the log has an event about one.

import type { AnyEvent } from '../../../core/contracts/events.ts';
import type { McpQuestion } from '../../../core/contracts/features/mcp.ts';
import type { OpParams } from '../../../core/contracts/ops.ts';
import type { OpClient } from '../client.ts';

export class ServerQuestions {
  open = $state.raw<readonly McpQuestion[]>([]);
  readonly #client: OpClient;
  readonly #onError: (cause: unknown) => void;

  constructor(client: OpClient, onError: (cause: unknown) => void) {
    this.#client = client;
    this.#onError = onError;
  }

  async load(): Promise<void> {
    this.open = (await this.#client.op('mcp.list', {})).questions;
  }

  async answer(answer: OpParams<'mcp.answer'>): Promise<void> {
    await this.#client.op('mcp.answer', answer);
    this.open = this.open.filter(({ questionId }) => questionId !== answer.questionId);
  }

  apply(event: AnyEvent): void {
    if (event.type === 'mcp.asked' || event.type === 'mcp.answered') this.load().catch(this.#onError);
    // The question timed out, or the call was stopped.
    else if (event.type === 'tool.finished') this.open = this.open.filter(({ callId }) => callId !== event.body.callId);
  }
}
