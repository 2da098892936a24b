// The base of the composition: the options passed in, and the stores. Read it before compose.ts.

import { uptime } from 'node:os';
import { join, resolve } from 'node:path';
import { systemClock } from './base/clock.ts';
import type { Lifetimes } from './base/disposable.ts';
import { RandomIds, type IdSource } from './base/ids.ts';
import { silentLogger } from './base/logger.ts';
import type { TrayClawOptions } from './contracts/library.ts';
import type { OpResult } from './contracts/ops.ts';
import { ArtifactStore, artifactMigrations } from './store/artifact/artifact.ts';
import { CheckpointRows, checkpointMigrations } from './store/checkpoint/checkpoint.ts';
import type { LoadedConfig } from './store/config/config.ts';
import { ContinuityRows, continuityMigrations } from './store/continuity/continuity.ts';
import { LogHead, SessionLog, sessionMigrations } from './store/session/session.ts';
import { Storage, type Migration } from './store/storage/storage.ts';
import { modelMigrations, type StartChild } from './mind/llm/llm.ts';
import type { SendableTool } from './hands/tools/tools.ts';
import { FeatureRows, type AnyFeature } from './features/feature.ts';
import type { BrowserOptions } from './features/browser/browser.ts';
import type { Machine } from './features/health/health.ts';
import { findPlugins, PluginBook, plugins } from './features/plugins/plugins.ts';
import { realOf } from './guard/workspace/workspace.ts';
import { PolicyStore, policyMigrations } from './guard/policy/policy.ts';
import { SafetyChecks } from './guard/safety/safety.ts';
import { TaintStore, taintMigrations } from './guard/taint/taint.ts';
import { Settings } from './runtime/settings/settings.ts';
import { AutomaticBackup } from './runtime/upkeep/upkeep.ts';
import { ChatRows, OutboundRows, outboxMigrations } from './runtime/outbox/outbox.ts';
import type { CrashPoints, TurnDeps } from './runtime/turns/turns.ts';

export type HealthCheck = Omit<OpResult<'health.check'>['checks'][number], 'repair'>;

/** Further options that only this project's own programs and tests may pass, in addition to those of the library. */
export interface RuntimeOptions extends TrayClawOptions {
  readonly version?: string;
  /** Rests of a door between two tries; resolves false at once when the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<boolean>;
  readonly ids?: IdSource;
  /** Health checks of the host program, in addition to those of the runtime. */
  readonly moreChecks?: () => readonly HealthCheck[];
  /** Where the public price list is downloaded from when a person asks; a mirror, for a network without the internet. */
  readonly priceListUrl?: string;
  /** Other ways of the browser into the network. */
  readonly browser?: BrowserOptions;
  /** Starts the child of the engine where the program is no Node, as in the desktop app. */
  readonly startChild?: StartChild;
  /** The data folder is deleted at the end: nothing waits for the disk. */
  readonly isThrowaway?: boolean;
  /** Forms of tools that several programs on the same settings share. */
  readonly sharedTools?: Map<string, SendableTool>;
  /** For the project's own fault tests; the program passes none. */
  readonly faults?: FaultHooks;
}

export interface FaultHooks {
  readonly crashPoints?: CrashPoints;
  /** Puts a double in place of a part, so that a test can show what that part prevents. */
  readonly replaceParts?: (parts: TurnDeps) => TurnDeps;
  /** When the machine came up. */
  readonly bootedAtMs?: number;
  /** Overrides readings of the machine. */
  readonly machine?: Pick<Machine, 'freeBytes'>;
  /** The same for the redactor of one sink. */
  readonly replaceSafety?: (safety: SafetyChecks, sink: RedactedSink) => SafetyChecks;
}

/** The places where text leaves the runtime or is stored; each has one redaction, in addition to those inside a turn. */
export type RedactedSink = 'event-log' | 'app-log' | 'artifacts' | 'tool-results' | 'prompt' | 'channels' | 'doors';

const noCrashPoints: CrashPoints = { reach: () => undefined };

const spineMigrations = [
  ...sessionMigrations,
  ...policyMigrations,
  ...taintMigrations,
  ...artifactMigrations,
  ...checkpointMigrations,
  ...continuityMigrations,
  ...modelMigrations,
  ...outboxMigrations,
];

/** Of the spine and of the features, in the order they are applied. */
export function migrationsOf(features: readonly AnyFeature[]): Migration[] {
  return [...spineMigrations, ...features.flatMap((feature) => feature.migrations)].sort((a, b) => (a.id < b.id ? -1 : 1));
}

export function composeBase(options: RuntimeOptions, loaded: LoadedConfig, lifetimes: Lifetimes) {
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
    closing: new AbortController(),
  };
}
export type Base = ReturnType<typeof composeBase>;

/** The database, and what is approved in it of the program's own plugins. */
export async function openData({ home, lifetimes, crashPoints, config, options }: Base, features: readonly AnyFeature[]) {
  const migrations = migrationsOf(features).map((step) => withCrashPoints(step, crashPoints));
  const storage = lifetimes.add(Storage.open({ home, migrations, isThrowaway: options.isThrowaway === true }));
  const rows = new FeatureRows(storage, features);
  const { path = 'workspace', extraFolders } = config.workspace;
  const pluginFiles = await findPlugins({
    home,
    given: options.features ?? [],
    files: config.plugins.files,
    written: () => [path, ...extraFolders].map((folder) => realOf(resolve(home, folder))),
    approved: (at) => rows.of(plugins).approved(at),
  });
  return { storage, rows, pluginFiles };
}
type Data = Awaited<ReturnType<typeof openData>>;

export function composeStore(base: Base, { storage, rows, pluginFiles }: Data) {
  const { home, lifetimes, clock, logger, safetyOf } = base;
  const pluginBook = new PluginBook(
    storage,
    pluginFiles.flatMap(({ plugin }) => plugin ?? []),
  );
  const policy = new PolicyStore(storage.db);
  const marks = new TaintStore(storage.db);
  const checkpointRows = new CheckpointRows(storage.db);
  const continuity = new ContinuityRows(storage.db);
  const outbound = new OutboundRows(storage.db);
  const chats = new ChatRows(storage.db);
  const artifacts = new ArtifactStore({ db: storage.db, folder: join(home, 'artifacts'), clock });
  const projections = [policy, marks, checkpointRows, artifacts, outbound, chats, continuity, ...rows.projections, pluginBook];
  const head = composeHead(base, storage);
  const scrub = <T>(body: T): T => safetyOf('event-log').redactDeep(body);
  const log = new SessionLog({ storage, clock, logger, scrub, projections, head });
  return {
    storage,
    backups: lifetimes.add(new AutomaticBackup({ log, clock, logger, config: base.config.backup })),
    settings: new Settings({ loaded: base.loaded, log, areHandedIn: base.options.config !== undefined }),
    head,
    policy,
    marks,
    log,
    continuity,
    artifacts,
    safeArtifacts: safetyOf('artifacts').artifacts(artifacts),
    checkpointRows,
    outbound,
    chats,
    rows,
    pluginFiles,
    pluginBook,
  };
}
export type Store = ReturnType<typeof composeStore>;

function composeHead({ options, lifetimes, clock, logger }: Base, storage: Storage): LogHead {
  const bootedAtMs = options.faults?.bootedAtMs ?? Math.round(systemClock.nowMs() - uptime() * 1_000);
  return lifetimes.add(new LogHead({ storage, clock, logger, bootedAtMs }));
}

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
