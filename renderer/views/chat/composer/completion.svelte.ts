// The suggestions for a command, or for a file mentioned at the caret, requested from the host while the person types; and the selected
// one. Sends nothing.

import { isCommandLine } from '../../../../core/contracts/command-line.ts';
import type { OpResult } from '../../../../core/contracts/ops.ts';
import type { OpClient } from '../../../lib/client.ts';
import { mentionAt, withMention, type Mention } from '../../../lib/mentions.ts';

export type Suggestion = OpResult<'command.complete'>['completions'][number] & {
  /** The position of the caret in the completed line; its end by default. */
  readonly caret?: number;
};

const askAfterMs = 60;
const lineMax = 1000;

/** A slash with the beginning of a name, or a command with its arguments. A message that starts with two slashes is not a command. */
export function isBegunCommand(text: string): boolean {
  return /^\/[A-Za-z]*$/.test(text) || isCommandLine(text);
}

export class Completion {
  items = $state.raw<readonly Suggestion[]>([]);
  /** The index of the selected suggestion; -1 for none, so that Enter runs the typed text. */
  active = $state(-1);
  #line = '';
  /** True if files are suggested, not commands. */
  isMention = $state(false);
  /** The line for which the person closed the list. */
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

  /** Must be called after every change of the text. */
  follow(line: string, sessionId: string | null, caret = line.length): void {
    if (line === this.#line) return;
    this.#line = line;
    this.#ending?.abort();
    const mention = mentionAt(line, caret);
    this.isMention = mention !== null;
    if (mention !== null && line !== this.#closedFor) {
      this.#later((signal) => this.#askFiles(mention, sessionId, signal));
      return;
    }
    if (!isBegunCommand(line) || line.includes('\n') || line.length > lineMax || line === this.#closedFor) {
      this.#show([]);
      return;
    }
    this.#closedFor = null;
    // Suggestions kept until the answer arrives must match the current text; otherwise Enter would replace later text.
    this.#show(this.items.filter((item) => item.line.startsWith(line)));
    this.#later((signal) => this.#ask(line, sessionId, signal));
  }

  #later(ask: (signal: AbortSignal) => Promise<void>): void {
    const ending = new AbortController();
    this.#ending = ending;
    setTimeout(() => void ask(ending.signal), askAfterMs);
  }

  async #askFiles(mention: Mention, sessionId: string | null, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const params = { query: mention.query, ...(sessionId === null ? {} : { sessionId }) };
    const found = await this.#client.op('project.files', params, signal).catch(() => null);
    if (!signal.aborted) this.#show((found?.files ?? []).map((path) => ({ label: path, about: '', ...withMention(mention, path) })));
  }

  async #ask(line: string, sessionId: string | null, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const params = { line, ...(sessionId === null ? {} : { sessionId }) };
    // Without an answer nothing is suggested; the command can still be typed.
    const found = await this.#client.op('command.complete', params, signal).catch(() => null);
    if (!signal.aborted) this.#show(found?.completions ?? []);
  }

  #show(items: readonly Suggestion[]): void {
    // Text that is already complete needs no suggestion.
    const isWhole = items.length === 1 && items[0]?.line.trimEnd() === this.#line.trimEnd();
    this.items = isWhole ? [] : items;
    // A name is preselected, so Enter completes it. A parameter may be omitted, so it must be selected first.
    const isName = this.isMention || !/\s/.test(this.#line.trimStart());
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
