// The results of the session search: titles and last lines of loaded sessions at once; all messages, and the titles of all other sessions,
// when typing pauses. Every session appears once.

import { afterPause } from '../../../lib/after-pause.ts';
import type { SessionInfo } from '../../../../core/contracts/op-results.ts';
import type { OpResult } from '../../../../core/contracts/ops.ts';
import type { OpClient } from '../../../lib/client.ts';

export type SearchHit = OpResult<'session.search'>['hits'][number];

const searchAfterMs = 200;
const hitsMax = 30;
const charsLeast = 2;
const saidTypes: ReadonlySet<string> = new Set(['user.message', 'assistant.message', 'tool.finished']);

/** The position in the conversation; null for a title. */
export function placeOf(hit: SearchHit): number | null {
  return saidTypes.has(hit.type) ? hit.seq : null;
}

export class SessionSearch {
  query = $state('');
  /** A request is in flight. */
  isBusy = $state(false);
  hasFailed = $state(false);
  #hits = $state.raw<readonly SearchHit[]>([]);
  readonly #client: Pick<OpClient, 'op'>;
  readonly #needle = $derived(this.query.trim().toLowerCase());
  readonly isOn = $derived(this.#needle !== '');

  constructor(client: Pick<OpClient, 'op'>) {
    this.#client = client;
  }

  matches({ title, lastText }: SessionInfo): boolean {
    return !this.isOn || title.toLowerCase().includes(this.#needle) || lastText.toLowerCase().includes(this.#needle);
  }

  /** The hits without sessions already listed in a row above by title. */
  hitsBeside(rows: readonly SessionInfo[]): readonly SearchHit[] {
    if (!this.isOn) return [];
    const listed = new Set(rows.map(({ sessionId }) => sessionId));
    return this.#hits.filter((hit) => placeOf(hit) !== null || !listed.has(hit.sessionId));
  }

  /** Requests the hits for the current text; the returned function cancels it. Must run again when the text changes. */
  follow(): (() => void) | undefined {
    const wanted = this.query.trim();
    const isAsked = wanted.length >= charsLeast;
    this.#hits = [];
    this.hasFailed = false;
    // Only written, never read here: an effect that runs this must not run again when the answer arrives.
    this.isBusy = isAsked;
    if (!isAsked) return undefined;
    return afterPause(searchAfterMs, (signal) => this.#ask(wanted, signal));
  }

  async #ask(wanted: string, signal: AbortSignal): Promise<void> {
    // Typing more retries a failed search.
    const found = await this.#client.op('session.search', { query: wanted, limit: hitsMax, each: 'session' }, signal).catch(() => null);
    if (signal.aborted) return;
    this.#hits = found?.hits ?? [];
    this.hasFailed = found === null;
    this.isBusy = false;
  }
}
