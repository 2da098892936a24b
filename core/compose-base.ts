// The ground of the composition: what is handed in from outside, and the stores. Read it before compose.ts.

import { join } from 'node:path';
import { systemClock, type Clock } from './base/clock.ts';
import type { Lifetimes } from './base/disposable.ts';
import { RandomIds, type IdSource } from './base/ids.ts';
import { silentLogger, type Logger } from './base/logger.ts';
import type { ConfigInput } from './contracts/config.ts';
import type { ToolDefinition } from './contracts/tools.ts';
import { ArtifactStore, artifactMigrations } from './store/artifact/artifact.ts';
import { CheckpointRows, checkpointMigrations } from './store/checkpoint/checkpoint.ts';
import type { LoadedConfig } from './store/config/config.ts';
import { SessionLog, sessionMigrations } from './store/session/session.ts';
import { Storage, type Migration } from './store/storage/storage.ts';
import { Telemetry, telemetryMigrations } from './store/telemetry/telemetry.ts';
import { PolicyStore, policyMigrations } from './guard/policy/policy.ts';
import { SafetyChecks } from './guard/safety/safety.ts';
import { TaintStore, taintMigrations } from './guard/taint/taint.ts';
import type { CrashPoints, TurnDeps } from './runtime/turns/turns.ts';

export interface TrayClawOptions {
  /** The data folder. Made when missing; owned by one process at a time. */
  readonly home: string;
  /** In place of config.yaml; the same shape. */
  readonly config?: ConfigInput;
  /** Further tools, behind the same gate as the built-in ones. */
  readonly tools?: readonly ToolDefinition[];
  /** False leaves unfinished turns as they are, for a look at the data. */
  readonly resume?: boolean;
  readonly version?: string;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly logger?: Logger;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** For the project's own fault tests; the program passes none. */
  readonly faults?: FaultHooks;
}

export interface FaultHooks {
  readonly crashPoints?: CrashPoints;
  /** Puts a double in place of a part, so that a test can show what that part prevents. */
  readonly replaceParts?: (parts: TurnDeps) => TurnDeps;
  /** The same for the redactor of one sink. */
  readonly replaceSafety?: (safety: SafetyChecks, sink: RedactedSink) => SafetyChecks;
}

/** Where text leaves the runtime or is kept; each has one place that takes secrets out, beside those inside a turn. */
export type RedactedSink = 'event-log' | 'app-log' | 'artifacts' | 'tool-results' | 'prompt' | 'doors';

const noCrashPoints: CrashPoints = { reach: () => undefined };

const migrations = [
  ...sessionMigrations,
  ...policyMigrations,
  ...taintMigrations,
  ...artifactMigrations,
  ...checkpointMigrations,
  ...telemetryMigrations,
];

export function composeBase(options: TrayClawOptions, loaded: LoadedConfig, lifetimes: Lifetimes) {
  const clock = options.clock ?? systemClock;
  const safety = new SafetyChecks({ policy: loaded.config.policy, personalData: loaded.config.safety.personalData });
  const safetyOf = (sink: RedactedSink): SafetyChecks => options.faults?.replaceSafety?.(safety, sink) ?? safety;
  return {
    safety,
    safetyOf,
    options,
    loaded,
    lifetimes,
    home: options.home,
    config: loaded.config,
    clock,
    ids: options.ids ?? new RandomIds(() => clock.nowMs()),
    logger: safetyOf('app-log').logger(options.logger ?? silentLogger),
    environment: options.environment ?? process.env,
    crashPoints: options.faults?.crashPoints ?? noCrashPoints,
  };
}
export type Base = ReturnType<typeof composeBase>;

export function composeStore({ home, lifetimes, clock, logger, crashPoints, safetyOf }: Base) {
  const steps = migrations.map((migration) => withCrashPoints(migration, crashPoints));
  const storage = lifetimes.add(Storage.open({ home, migrations: steps }));
  const policy = new PolicyStore(storage.db);
  const marks = new TaintStore(storage.db);
  const checkpointRows = new CheckpointRows(storage.db);
  const scrub = <T>(body: T): T => safetyOf('event-log').redactDeep(body);
  const log = new SessionLog({ storage, clock, logger, scrub, projections: [policy, marks, checkpointRows] });
  const telemetry = new Telemetry({ db: storage.db });
  /** True while there is more to take in. */
  const catchUp = (eventsMax?: number): boolean =>
    !telemetry.catchUp((after, limit) => log.reads.after(after, limit), eventsMax === undefined ? {} : { eventsMax }).caughtUp;
  const artifacts = new ArtifactStore({ db: storage.db, folder: join(home, 'artifacts'), clock });
  const safeArtifacts = safetyOf('artifacts').artifacts(artifacts);
  return { storage, policy, marks, log, telemetry, catchUp, artifacts, safeArtifacts, checkpointRows };
}
export type Store = ReturnType<typeof composeStore>;

/** A start may end in the middle of a change to the schema, before or after it is written. */
function withCrashPoints(migration: Migration, crashPoints: CrashPoints): Migration {
  return {
    ...migration,
    up: (db) => {
      crashPoints.reach('migration');
      migration.up(db);
      crashPoints.reach('migration');
    },
  };
}
