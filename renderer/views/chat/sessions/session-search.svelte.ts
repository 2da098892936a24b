// What the search over the sessions finds: titles and last lines of those that are loaded at once, everything that was said, and titles of
// all the others, once typing pauses. Every session comes once.

import type { SessionInfo } from '../../../../core/contracts/op-results.ts';
import type { OpResult } from '../../../../core/contracts/ops.ts';
import type { OpClient } from '../../../lib/client.ts';

export type SearchHit = OpResult<'session.search'>['hits'][number];

const searchAfterMs = 200;
const hitsMax = 30;
const charsLeast = 2;
const saidTypes: ReadonlySet<string> = new Set(['user.message', 'assistant.message', 'tool.finished']);

/** Where in the conversation it was said; a title has no place there. */
export function placeOf(hit: SearchHit): number | null {
  return saidTypes.has(hit.type) ? hit.seq : null;
}

export class SessionSearch {
  query = $state('');
  /** Asked, and not answered yet. */
  isBusy = $state(false);
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

  /** Without those whose title already stands in a row above. */
  hitsBeside(rows: readonly SessionInfo[]): readonly SearchHit[] {
    if (!this.isOn) return [];
    const listed = new Set(rows.map(({ sessionId }) => sessionId));
    return this.#hits.filter((hit) => placeOf(hit) !== null || !listed.has(hit.sessionId));
  }

  /** Asks for what is typed now; the returned function gives it up. To be run anew when that changes. */
  follow(): (() => void) | undefined {
    const wanted = this.query.trim();
    const isAsked = wanted.length >= charsLeast;
    this.#hits = [];
    // Written and not read: what runs this must not run anew when the answer comes.
    this.isBusy = isAsked;
    if (!isAsked) return undefined;
    const ending = new AbortController();
    const timer = setTimeout(() => void this.#ask(wanted, ending.signal), searchAfterMs);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }

  async #ask(wanted: string, signal: AbortSignal): Promise<void> {
    // A search that fails shows no hits; typing on tries again.
    const found = await this.#client.op('session.search', { query: wanted, limit: hitsMax, each: 'session' }, signal).catch(() => null);
    if (signal.aborted) return;
    this.#hits = found?.hits ?? [];
    this.isBusy = false;
  }
}
