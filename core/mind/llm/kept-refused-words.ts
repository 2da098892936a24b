// Fields and schema keywords that servers refused by name, kept across restarts. They expire after a week, because servers are updated and
// trying again costs only one request.

import type Database from 'better-sqlite3';
import type { Clock } from '../../base/clock.ts';
import { RefusedWordsInMemory, type RefusedWordsStore } from './wire-words.ts';

const HOLDS_MS = 7 * 86_400_000;
const ROWS_MAX = 500;

export class KeptRefusedWords implements RefusedWordsStore {
  readonly #deps: { readonly db: Database.Database; readonly clock: Clock };
  readonly #words = new RefusedWordsInMemory();
  #unsaved = new Map<string, { readonly server: string; readonly modelId: string }>();

  constructor(deps: { readonly db: Database.Database; readonly clock: Clock }) {
    this.#deps = deps;
    const rows = deps.db
      .prepare<[number, number], { server: string; model: string; words: string }>(
        'SELECT server, model, words FROM refused_words WHERE until_ms > ? LIMIT ?',
      )
      .all(deps.clock.nowMs(), ROWS_MAX);
    for (const { server, model, words } of rows) this.#words.refuse(server, model, words.split(' '));
  }

  refusedBy(server: string, modelId: string): ReadonlySet<string> {
    return this.#words.refusedBy(server, modelId);
  }

  refuse(server: string, modelId: string, words: readonly string[]): void {
    this.#words.refuse(server, modelId, words);
    this.#unsaved.set(`${server} ${modelId}`, { server, modelId });
  }

  /** Saves new words and drops expired ones. */
  save(): void {
    if (this.#unsaved.size === 0) return;
    const { db, clock } = this.#deps;
    const put = db.prepare('INSERT OR REPLACE INTO refused_words (server, model, words, until_ms) VALUES (?, ?, ?, ?)');
    for (const { server, modelId } of this.#unsaved.values()) {
      put.run(server, modelId, [...this.refusedBy(server, modelId)].join(' '), clock.nowMs() + HOLDS_MS);
    }
    db.prepare('DELETE FROM refused_words WHERE until_ms <= ?').run(clock.nowMs());
    this.#unsaved = new Map();
  }
}
