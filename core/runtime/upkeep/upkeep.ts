// Work for idle time: search index, pack file, write-ahead log, garbage. Never on the path of a turn; runs in short steps that yield.

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Config } from '../../contracts/config.ts';
import type { ModelLearning, ModelRouter } from '../../mind/llm/llm.ts';
import type { ArtifactStore } from '../../store/artifact/artifact.ts';
import type { Checkpoints } from '../../store/checkpoint/checkpoint.ts';
import type { LogHead, SessionLog } from '../../store/session/session.ts';
import { listReplaced, pruneReplaced } from '../../store/storage/storage.ts';
import type { AutomaticBackup } from './automatic-backup.ts';
import { collectGarbage, retentionTime } from './collect-garbage.ts';

export { firstUses } from './first-uses.ts';
export { AutomaticBackup, type AutomaticBackupDeps } from './automatic-backup.ts';

export interface UpkeepDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  onCommitted(listener: () => void): () => void;
  /** Each function does a bounded piece of work, in a separate turn of the event loop, and returns true while there is more. */
  readonly afterCommits: readonly (() => boolean)[];
  /**
   * Maintenance for a long run of commits without idle time: runs in a gap where `isBusy` is false, or else after twice as many commits.
   */
  readonly betweenTurns: () => void;
  readonly isBusy: () => boolean;
  /** Runs once a day, starting a minute after the start. */
  readonly daily: () => void;
}

const QUIET_MS = 1_000;
/** The pause between two pieces, so that other work goes first. */
const PAUSE_MS = 5;
const FIRST_DAILY_MS = 60_000;
const DAY_MS = 86_400_000;
/** The write-ahead log is checked after this many commits. */
const COMMITS_MAX = 100;

export class Upkeep {
  readonly #deps: UpkeepDeps;
  readonly #stopListening: () => void;
  readonly #dailyTimer: NodeJS.Timeout;
  #timer: NodeJS.Timeout | null = null;
  #gap: NodeJS.Timeout | null = null;
  #commits = 0;
  #lastCommitMs = 0;
  /** Whether there were commits since the first of the pieces began. */
  #isCommitted = false;
  #dailyAtMs: number;

  constructor(deps: UpkeepDeps) {
    this.#deps = deps;
    this.#dailyAtMs = deps.clock.monotonicMs() + FIRST_DAILY_MS;
    this.#stopListening = deps.onCommitted(() => {
      this.#lastCommitMs = deps.clock.monotonicMs();
      this.#isCommitted = true;
      this.#commits += 1;
      if (this.#commits >= COMMITS_MAX) this.#gap ??= setTimeout(() => this.#useGap(), PAUSE_MS).unref();
      this.#timer ??= this.#schedule(QUIET_MS);
    });
    this.#dailyTimer = setInterval(() => {
      if (deps.clock.monotonicMs() < this.#dailyAtMs) return;
      this.#dailyAtMs = deps.clock.monotonicMs() + DAY_MS;
      this.#attempt(() => {
        deps.daily();
        return false;
      });
    }, FIRST_DAILY_MS);
    this.#dailyTimer.unref();
  }

  dispose(): void {
    this.#stopListening();
    clearInterval(this.#dailyTimer);
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#gap !== null) clearTimeout(this.#gap);
  }

  #useGap(): void {
    this.#gap = null;
    if (this.#commits < COMMITS_MAX || (this.#deps.isBusy() && this.#commits < 2 * COMMITS_MAX)) return;
    this.#commits = 0;
    this.#attempt(() => {
      this.#deps.betweenTurns();
      return false;
    });
  }

  #schedule(ms: number, work: () => void = () => this.#run()): NodeJS.Timeout {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const timer = setTimeout(() => {
      this.#timer = null;
      work();
    }, ms);
    timer.unref();
    return timer;
  }

  #run(): void {
    const quietFor = this.#deps.clock.monotonicMs() - this.#lastCommitMs;
    if (quietFor < QUIET_MS) this.#timer = this.#schedule(QUIET_MS - quietFor);
    else {
      this.#isCommitted = false;
      this.#commits = 0;
      this.#runFrom(0, false);
    }
  }

  #runFrom(index: number, hasMore: boolean): void {
    const step = this.#deps.afterCommits[index];
    if (step === undefined) return;
    const hasMoreNow = this.#attempt(step) || hasMore;
    const isLast = index === this.#deps.afterCommits.length - 1;
    if (!isLast) this.#timer = this.#schedule(PAUSE_MS, () => this.#runFrom(index + 1, hasMoreNow));
    else if (hasMoreNow || this.#isCommitted) this.#timer = this.#schedule(PAUSE_MS);
  }

  #attempt(step: () => boolean): boolean {
    try {
      return step();
    } catch (cause) {
      // A failure here does not affect the log: the work is retried in the next idle time.
      this.#deps.logger.log('warn', 'upkeep failed', { cause: String(cause) });
      return false;
    }
  }
}

interface ProgramParts extends Pick<UpkeepDeps, 'clock' | 'logger'> {
  readonly config: Pick<Config, 'retention'>;
  readonly log: SessionLog;
  readonly head: Pick<LogHead, 'secure'>;
  readonly models: Pick<ModelRouter, 'save'>;
  readonly learning: Pick<ModelLearning, 'save'>;
  readonly backups: AutomaticBackup;
  readonly artifactStore: ArtifactStore;
  readonly checkpoints: Checkpoints;
  readonly turns: { readonly runningTurns: number };
  /** Of the features. */
  readonly contributions: readonly { catchUp?(): boolean; daily?(nowMs: number): void }[];
}

export function createUpkeep(parts: ProgramParts): Upkeep {
  const { log, head, models, learning, contributions, artifactStore: artifacts } = parts;
  return new Upkeep({
    ...parts,
    onCommitted: (listener) => log.onCommitted(listener),
    afterCommits: [
      () => log.search.catchUp(),
      () => log.activity.catchUp(),
      ...contributions.flatMap((one) => (one.catchUp === undefined ? [] : [() => one.catchUp?.() === true])),
      () => {
        models.save();
        return learning.save();
      },
      () => {
        head.secure();
        return false;
      },
    ],
    betweenTurns: () => head.secure(),
    isBusy: () => parts.turns.runningTurns > 0,
    daily: () => {
      void parts.backups.run();
      const { db, home } = log.storage;
      pruneReplaced(home, parts.config.retention.backups);
      const nowMs = retentionTime(db, parts.clock.nowMs());
      const { files: replaced } = listReplaced(home);
      collectGarbage({ ...parts, artifacts, retention: parts.config.retention, db, replaced, nowMs });
      for (const one of contributions) one.daily?.(nowMs);
    },
  });
}
