// Properties of models learned from their servers' answers: how their token count compares with ours, and how large their window really is.
// Stored in a separate small table; if it is lost, they are learned again.

import type Database from 'better-sqlite3';
import { type Clock, isOver } from '../../base/clock.ts';
import type { ExactCounters, TextCounter } from './exact-counters.ts';
import { healthMigration } from './routes/kept-health.ts';
import { RefusedWordsInMemory, type RefusedWordsStore } from './wire-words.ts';

export const modelMigrations = [
  {
    id: 'llm-001-learned',
    minSafeVersion: 1,
    up: (db: Database.Database): void => {
      db.exec(`
        CREATE TABLE IF NOT EXISTS learned_models (
          ref TEXT PRIMARY KEY,
          fixed REAL NOT NULL,
          flow REAL NOT NULL,
          samples INTEGER NOT NULL,
          window_tokens INTEGER,
          window_until_ms INTEGER
        ) STRICT, WITHOUT ROWID;
      `);
    },
  },
  {
    id: 'llm-002-refused-words',
    minSafeVersion: 1,
    up: (db: Database.Database): void => {
      db.exec(`
        CREATE TABLE IF NOT EXISTS refused_words (
          server TEXT NOT NULL,
          model TEXT NOT NULL,
          words TEXT NOT NULL,
          until_ms INTEGER NOT NULL,
          PRIMARY KEY (server, model)
        ) STRICT, WITHOUT ROWID;
      `);
    },
  },
  healthMigration,
];

export interface ModelLearningDeps {
  readonly db: Database.Database;
  readonly clock: Clock;
  readonly counters: ExactCounters;
}

/** One answer: our own count before any factor, and the server's count of the request. */
export interface SeenRequest {
  readonly ref: string;
  readonly fixed: number;
  readonly flow: number;
  readonly reportedTokens: number;
}

interface Learned {
  fixed: number;
  flow: number;
  samples: number;
  windowTokens: number | null;
  windowUntilMs: number | null;
  /** The uncertainty of the two factors: the upper half of a covariance matrix. Reset at each start. */
  unsure: [fixed: number, both: number, flow: number];
  isDirty: boolean;
}

type Row = Pick<Learned, 'fixed' | 'flow' | 'samples' | 'windowTokens' | 'windowUntilMs'>;

const FACTOR_MIN = 0.4;
const FACTOR_MAX = 3;
/** Outside these ratios a server counts something other than the tokens of this request. */
const RATIO_MIN = 0.2;
const RATIO_MAX = 5;
const UNSURE_AT_FIRST = 0.25;
/** After a restart the stored factors are trusted, but still follow a change. */
const UNSURE_AFTER_START = 0.01;
/** The usual squared error of a single answer. */
const NOISE = 0.0004;
const FORGETTING = 0.97;
/** Used if the server only said that the request was too large. */
const GUESSED_SHARE = 0.9;
const GUESS_HOLDS_MS = 86_400_000;
const WINDOW_TOKENS_MIN = 512;
const MODELS_MAX = 500;

export class ModelLearning {
  readonly #deps: ModelLearningDeps;
  readonly #models = new Map<string, Learned>();
  readonly #put;
  /** Fields and schema keywords that servers refused by name. */
  readonly refusedWords: KeptRefusedWords;

  constructor(deps: ModelLearningDeps) {
    this.#deps = deps;
    this.refusedWords = new KeptRefusedWords(deps);
    this.#put = deps.db.prepare(
      'INSERT OR REPLACE INTO learned_models (ref, fixed, flow, samples, window_tokens, window_until_ms) VALUES (?, ?, ?, ?, ?, ?)',
    );
    const rows = deps.db
      .prepare<[number], Row & { ref: string }>(
        'SELECT ref, fixed, flow, samples, window_tokens AS windowTokens, window_until_ms AS windowUntilMs FROM learned_models LIMIT ?',
      )
      .all(MODELS_MAX);
    for (const { ref, ...row } of rows)
      this.#models.set(ref, { ...row, unsure: [UNSURE_AFTER_START, 0, UNSURE_AFTER_START], isDirty: false });
  }

  counterOf(ref: string): TextCounter {
    return this.#deps.counters.counterOf(ref);
  }

  /**
   * Both factors are 1 until something was learned. They belong to the counter in use: a request counted by another counter resets them.
   */
  scaleOf(ref: string): { readonly fixed: number; readonly flow: number } {
    const { fixed, flow } = this.#models.get(ref) ?? { fixed: 1, flow: 1 };
    return { fixed, flow };
  }

  /** Null if nothing was learned, or if a guess has expired. */
  windowOf(ref: string): number | null {
    const known = this.#models.get(ref);
    if (known === undefined || known.windowTokens === null) return null;
    const { windowTokens, windowUntilMs } = known;
    if (windowUntilMs === null) return windowTokens;
    return isOver({ fromMs: windowUntilMs - GUESS_HOLDS_MS, untilMs: windowUntilMs }, this.#deps.clock.nowMs()) ? null : windowTokens;
  }

  observe({ ref, fixed, flow, reportedTokens }: SeenRequest): void {
    const counted = fixed + flow;
    if (counted <= 0 || reportedTokens <= 0) return;
    const ratio = reportedTokens / counted;
    if (ratio < RATIO_MIN || ratio > RATIO_MAX) return;
    const learned = this.#learned(ref);
    const shares = [fixed / counted, flow / counted] as const;
    follow(learned, shares, ratio);
    learned.samples += 1;
    learned.isDirty = true;
    // The model accepted more than the learned window, so the window is at least that large.
    if (learned.windowTokens !== null && reportedTokens > learned.windowTokens) learned.windowTokens = reportedTokens;
  }

  /** Records that a request was refused as too large. `limitTokens` is the server's stated limit; null if it stated none. */
  overflowed({ ref, packTokens, limitTokens }: { ref: string; packTokens: number; limitTokens: number | null }): void {
    const learned = this.#learned(ref);
    const stated = limitTokens !== null && limitTokens >= WINDOW_TOKENS_MIN;
    const window = stated ? limitTokens : Math.max(WINDOW_TOKENS_MIN, Math.floor(packTokens * GUESSED_SHARE));
    const known = this.windowOf(ref);
    learned.windowTokens = stated ? window : Math.min(window, known ?? window);
    learned.windowUntilMs = stated ? null : this.#deps.clock.nowMs() + GUESS_HOLDS_MS;
    learned.isDirty = true;
  }

  /** Saves new data. Meant for idle time. Returns false, because nothing is left to save afterwards. */
  save(): boolean {
    this.refusedWords.save();
    for (const [ref, learned] of this.#models) {
      if (!learned.isDirty) continue;
      learned.isDirty = false;
      this.#put.run(ref, learned.fixed, learned.flow, learned.samples, learned.windowTokens, learned.windowUntilMs);
    }
    return false;
  }

  #learned(ref: string): Learned {
    const known = this.#models.get(ref);
    if (known !== undefined) return known;
    const unsure: Learned['unsure'] = [UNSURE_AT_FIRST, 0, UNSURE_AT_FIRST];
    const made: Learned = { fixed: 1, flow: 1, samples: 0, windowTokens: null, windowUntilMs: null, unsure, isDirty: false };
    if (this.#models.size >= MODELS_MAX) this.#models.clear();
    this.#models.set(ref, made);
    return made;
  }
}

/** One step of recursive least squares with forgetting: two factors, one observation. */
function follow(learned: Learned, [a, b]: readonly [number, number], ratio: number): void {
  const [pa, pc, pb] = learned.unsure;
  const towardsA = pa * a + pc * b;
  const towardsB = pc * a + pb * b;
  const spread = FORGETTING * NOISE + a * towardsA + b * towardsB;
  const off = ratio - (learned.fixed * a + learned.flow * b);
  learned.fixed = within(learned.fixed + (towardsA / spread) * off);
  learned.flow = within(learned.flow + (towardsB / spread) * off);
  const grow = (value: number): number => Math.min(UNSURE_AT_FIRST, value / FORGETTING);
  learned.unsure = [
    grow(pa - (towardsA * towardsA) / spread),
    (pc - (towardsA * towardsB) / spread) / FORGETTING,
    grow(pb - (towardsB * towardsB) / spread),
  ];
}

function within(factor: number): number {
  return Math.min(FACTOR_MAX, Math.max(FACTOR_MIN, factor));
}

// Fields and schema keywords that servers refused by name, kept across restarts. They expire after a week, because servers are updated and
// trying again costs only one request.

const HOLDS_MS = 7 * 86_400_000;
const ROWS_MAX = 500;

class KeptRefusedWords implements RefusedWordsStore {
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
