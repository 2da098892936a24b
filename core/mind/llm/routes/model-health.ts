// The recent health of models, servers and keys: cool-downs with a half-open trial at their end, and how soon models start to answer. Kept
// in memory, so that a turn writes nothing; saved in idle time and read at the first lookup.

import type { AppError } from '../../../contracts/errors.ts';
import { classOf, coolMsOf, failoverTable, longestCoolMs, retryAfterOf, type FailureClass } from './failover-table.ts';

export interface HealthRow {
  readonly subject: string;
  readonly untilMs: number;
  readonly failures: number;
  readonly why: FailureClass;
  readonly latencyMs: number | null;
}

/** Stores health across restarts. */
export interface HealthStore {
  load(): readonly HealthRow[];
  save(rows: readonly HealthRow[]): void;
}

export interface Health {
  /** `open` once a cool-down is over and no request has succeeded since; `trying` while a trial request is in flight. */
  readonly state: 'ok' | 'cooling' | 'open' | 'trying';
  readonly untilMs: number;
  /** The class of the last failure; meaningless in the state `ok`. */
  readonly why: FailureClass;
}

interface Entry {
  untilMs: number;
  failures: number;
  why: FailureClass;
  latencyMs: number | null;
  /** A trial without a result is forgotten at this time. */
  trialUntilMs: number;
}

export interface Subjects {
  readonly model: string;
  readonly server: string;
  readonly key: string;
  readonly keyAndModel: string;
}

const ENTRIES_MAX = 1_000;
/** The weight of the newest answer in the average latency. */
const LATENCY_SHARE = 0.3;
const fine: Health = { state: 'ok', untilMs: 0, why: 'stop' };
/** Worst first. */
const order = ['cooling', 'trying', 'open', 'ok'] as const;

/** `keyRef` is the reference of the key; null for a provider without one. */
export function subjectsOf(ref: string, keyRef: string | null): Subjects {
  const provider = ref.slice(0, ref.indexOf('/'));
  const key = `key ${provider} ${keyRef ?? ''}`;
  return { model: `model ${ref}`, server: `server ${provider}`, key, keyAndModel: `${key} ${ref}` };
}

export class ModelHealth {
  readonly #store: HealthStore | undefined;
  readonly #nowMs: () => number;
  #entries: Map<string, Entry> | null = null;
  readonly #dirty = new Set<string>();

  constructor(nowMs: () => number, store?: HealthStore) {
    this.#nowMs = nowMs;
    this.#store = store;
  }

  /** The worst health of the subjects. */
  of(...subjects: readonly string[]): Health {
    let worst = fine;
    for (const subject of subjects) {
      const health = this.#one(subject);
      const isWorse = order.indexOf(health.state) < order.indexOf(worst.state);
      if (isWorse || (health.state === worst.state && health.untilMs > worst.untilMs)) worst = health;
    }
    return worst;
  }

  /** The average time from request to the first piece of the answer, with newer ones weighing more; null before the first. */
  latencyMs(ref: string): number | null {
    return this.#all().get(`model ${ref}`)?.latencyMs ?? null;
  }

  /** Records a failure. Returns what cools down, and until when; null if nothing does. An earlier, longer cool-down is kept. */
  failed(subjects: Subjects, error: AppError): { readonly subject: string; readonly untilMs: number } | null {
    const failureClass = classOf(error);
    const rule = failoverTable[failureClass];
    if (rule.cools === null) return null;
    const subject = { key: subjects.key, 'key and model': subjects.keyAndModel, model: subjects.model, server: subjects.server }[
      rule.cools
    ];
    const entry = this.#entry(subject);
    // Failures of concurrent requests count as one.
    if (this.#coolsUntilMs(entry) <= this.#nowMs()) entry.failures += 1;
    entry.untilMs = Math.max(this.#coolsUntilMs(entry), this.#nowMs() + coolMsOf(rule, Math.max(1, entry.failures), retryAfterOf(error)));
    entry.why = failureClass;
    entry.trialUntilMs = 0;
    this.#dirty.add(subject);
    return { subject, untilMs: entry.untilMs };
  }

  answered(ref: string, subjects: Subjects, firstTokenMs: number | null): void {
    const known = this.#all();
    for (const subject of [subjects.model, subjects.server, subjects.key, subjects.keyAndModel]) {
      const entry = known.get(subject);
      if (entry === undefined || (entry.failures === 0 && entry.untilMs === 0)) continue;
      Object.assign(entry, { untilMs: 0, failures: 0, trialUntilMs: 0 });
      this.#dirty.add(subject);
    }
    if (firstTokenMs === null) return;
    const entry = this.#entry(`model ${ref}`);
    entry.latencyMs = entry.latencyMs === null ? firstTokenMs : entry.latencyMs + (firstTokenMs - entry.latencyMs) * LATENCY_SHARE;
    this.#dirty.add(`model ${ref}`);
  }

  /** Marks a trial request as in flight. Others wait for its result, but no longer than `forMs`. */
  beginTrial(subjects: Subjects, forMs: number): void {
    for (const subject of [subjects.model, subjects.server, subjects.key, subjects.keyAndModel]) {
      if (this.#one(subject).state === 'open') this.#entry(subject).trialUntilMs = this.#nowMs() + forMs;
    }
  }

  /** The trial request was cancelled, so nothing was learned. */
  endTrial(subjects: Subjects): void {
    const known = this.#all();
    for (const subject of [subjects.model, subjects.server, subjects.key, subjects.keyAndModel]) {
      const entry = known.get(subject);
      if (entry !== undefined) entry.trialUntilMs = 0;
    }
  }

  /** Forgets a provider's failures, because the person changed its settings. */
  forget(provider: string): void {
    for (const [subject, entry] of this.#all()) {
      const [, about = ''] = subject.split(' ');
      if (about !== provider && !about.startsWith(`${provider}/`)) continue;
      Object.assign(entry, { untilMs: 0, failures: 0, trialUntilMs: 0 });
      this.#dirty.add(subject);
    }
  }

  /** Saves changes. Meant for idle time. */
  save(): void {
    if (this.#dirty.size === 0 || this.#store === undefined) return;
    const known = this.#all();
    const rows = [...this.#dirty].flatMap((subject) => {
      const entry = known.get(subject);
      return entry === undefined ? [] : [{ subject, ...entry }];
    });
    this.#dirty.clear();
    this.#store.save(rows);
  }

  #one(subject: string): Health {
    const entry = this.#all().get(subject);
    if (entry === undefined || entry.failures === 0) return fine;
    const { why, trialUntilMs } = entry;
    const untilMs = this.#coolsUntilMs(entry);
    const nowMs = this.#nowMs();
    if (untilMs > nowMs) return { state: 'cooling', untilMs, why };
    return trialUntilMs > nowMs ? { state: 'trying', untilMs: trialUntilMs, why } : { state: 'open', untilMs, why };
  }

  /** Zero if the clock was set back since: no cool-down is that long. */
  #coolsUntilMs({ untilMs }: Entry): number {
    return untilMs - this.#nowMs() > longestCoolMs ? 0 : untilMs;
  }

  #entry(subject: string): Entry {
    const known = this.#all();
    const found = known.get(subject);
    if (found !== undefined) return found;
    const [oldest] = known.keys();
    if (known.size >= ENTRIES_MAX && oldest !== undefined) known.delete(oldest);
    const made: Entry = { untilMs: 0, failures: 0, why: 'stop', latencyMs: null, trialUntilMs: 0 };
    known.set(subject, made);
    return made;
  }

  #all(): Map<string, Entry> {
    if (this.#entries === null) {
      const rows = this.#store?.load() ?? [];
      this.#entries = new Map(rows.map(({ subject, ...row }) => [subject, { ...row, trialUntilMs: 0 }]));
    }
    return this.#entries;
  }
}
