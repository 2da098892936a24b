// What a begun command may go on to, asked of the host as one types, and which of it is chosen. Sends nothing.

import { isCommandLine } from '../../../../core/contracts/command-line.ts';
import type { OpResult } from '../../../../core/contracts/ops.ts';
import type { OpClient } from '../../../lib/client.ts';

export type Suggestion = OpResult<'command.complete'>['completions'][number];

const askAfterMs = 60;
const lineMax = 1000;

/** A slash with a name begun, or a command with its words; a message that starts with two slashes is none. */
export function isBegunCommand(text: string): boolean {
  return /^\/[A-Za-z]*$/.test(text) || isCommandLine(text);
}

export class Completion {
  items = $state.raw<readonly Suggestion[]>([]);
  /** -1: none, so that Enter runs what is typed. */
  active = $state(-1);
  #line = '';
  /** The line for which the list was closed by hand. */
  #closedFor: string | null = null;
  #ending: AbortController | undefined;
  readonly #client: Pick<OpClient, 'op'>;

  constructor(client: Pick<OpClient, 'op'>) {
    this.#client = client;
  }

  get isOpen(): boolean {
    return this.items.length > 0;
  }

  get chosen(): Suggestion | undefined {
    return this.items[this.active];
  }

  /** Follows what is typed; to be called with every change of it. */
  follow(line: string, sessionId: string | null): void {
    if (line === this.#line) return;
    this.#line = line;
    this.#ending?.abort();
    if (!isBegunCommand(line) || line.includes('\n') || line.length > lineMax || line === this.#closedFor) {
      this.#show([]);
      return;
    }
    this.#closedFor = null;
    // What is offered until the answer comes must go on from what is typed now: else Enter would put it in place of later words.
    this.#show(this.items.filter((item) => item.line.startsWith(line)));
    const ending = new AbortController();
    this.#ending = ending;
    setTimeout(() => void this.#ask(line, sessionId, ending.signal), askAfterMs);
  }

  async #ask(line: string, sessionId: string | null, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const params = { line, ...(sessionId === null ? {} : { sessionId }) };
    // Without an answer there is nothing to offer; the command can be typed all the same.
    const found = await this.#client.op('command.complete', params, signal).catch(() => null);
    if (!signal.aborted) this.#show(found?.completions ?? []);
  }

  #show(items: readonly Suggestion[]): void {
    // What is typed already is no suggestion.
    const isWhole = items.length === 1 && items[0]?.line.trimEnd() === this.#line.trimEnd();
    this.items = isWhole ? [] : items;
    // A name is completed by Enter; a parameter may be meant to be left out, so one has to be chosen.
    const isName = !/\s/.test(this.#line.trimStart());
    const whole = this.items.findIndex((item) => item.line.trimEnd() === this.#line);
    this.active = this.isOpen && isName ? Math.max(0, whole) : -1;
  }

  move(step: 1 | -1): void {
    const count = this.items.length;
    if (count > 0) this.active = (this.active + step + (this.active === -1 && step === -1 ? 1 : 0) + count) % count;
  }

  close(): void {
    this.#ending?.abort();
    this.#closedFor = this.#line;
    this.items = [];
    this.active = -1;
  }
}
