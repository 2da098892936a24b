// The composition root: one readable list of `new`, floor by floor from the bottom. Nothing in a floor imports it.

import { hash } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { systemClock, type Clock } from './base/clock.ts';
import { Lifetimes } from './base/disposable.ts';
import { Emitter } from './base/emitter.ts';
import { RandomIds, type IdSource } from './base/ids.ts';
import { silentLogger, type Logger } from './base/logger.ts';
import type { Claw } from './contracts/claw.ts';
import type { Config, ConfigInput } from './contracts/config.ts';
import { systemSessionId, type DeltaNotice } from './contracts/events.ts';
import type { FactContext, ToolDefinition } from './contracts/tools.ts';
import { ArtifactStore, artifactMigrations } from './store/artifact/artifact.ts';
import { CheckpointRows, Checkpoints, checkpointMigrations } from './store/checkpoint/checkpoint.ts';
import { loadConfig, type LoadedConfig } from './store/config/config.ts';
import { SessionLog, sessionMigrations } from './store/session/session.ts';
import { restoreBackup as restoreFile, Storage, type Migration, type SyncMeter } from './store/storage/storage.ts';
import { Telemetry, telemetryMigrations } from './store/telemetry/telemetry.ts';
import { createBudget } from './guard/budget/budget.ts';
import { PanicSwitch } from './guard/panic/panic.ts';
import { PolicyGate, PolicyStore, policyMigrations } from './guard/policy/policy.ts';
import { SafetyChecks } from './guard/safety/safety.ts';
import { KeytarKeychain, SecretVault } from './guard/secret/secret.ts';
import { ContextPacker, createSystemPrompt } from './mind/context/context.ts';
import { estimateTokens, ModelRouter } from './mind/llm/llm.ts';
import { createBuiltInTools, createProcessTable, ProcessTrees, ToolHost } from './hands/tools/tools.ts';
import { recoverLog, TurnRuntime, type CrashPoints, type TurnDeps } from './runtime/turns/turns.ts';
import { Upkeep } from './runtime/upkeep/upkeep.ts';
import { Controlplane } from './doors/controlplane/controlplane.ts';
import { checkHealth } from './doors/diagnostics/diagnostics.ts';
import { createOps, LocalClaw, type OpsDeps } from './doors/ops/ops.ts';

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
}

const DAY_MS = 86_400_000;
const noCrashPoints: CrashPoints = { reach: () => undefined };

/** The runtime of this process. */
export interface HostedClaw extends Claw {
  /** Time spent waiting for the disk so far. */
  syncMeter(): SyncMeter;
}

const migrations = [...sessionMigrations, ...policyMigrations, ...artifactMigrations, ...checkpointMigrations, ...telemetryMigrations];

/**
 * Starts the runtime on a data folder. Fails with invalid_config or a store_* error (store_locked while another process owns it).
 * Whatever an earlier run left open is settled before it returns.
 */
export async function createTrayClaw(options: TrayClawOptions): Promise<HostedClaw> {
  const home = resolve(options.home);
  const loaded = await loadConfig(home, options.config);
  const lifetimes = new Lifetimes();
  try {
    const base = composeBase({ ...options, home }, loaded, lifetimes);
    const store = composeStore(base);
    const guard = composeGuard(base, store);
    const mind = composeMind(base, guard);
    const hands = composeHands(base, store, guard);
    const runtime = composeRuntime(base, store, guard, mind, hands);
    return await openDoors(base, store, guard, mind, hands, runtime);
  } catch (cause) {
    await lifetimes.dispose();
    throw cause;
  }
}

/** Offline: refuses with store_locked while an instance owns the folder. */
export function restoreBackup(options: { readonly home: string; readonly file: string }): { restored: string; kept: string | null } {
  return restoreFile(resolve(options.home), options.file, systemClock.nowMs());
}

function composeBase(options: TrayClawOptions, loaded: LoadedConfig, lifetimes: Lifetimes) {
  const clock = options.clock ?? systemClock;
  return {
    options,
    loaded,
    lifetimes,
    home: options.home,
    config: loaded.config,
    clock,
    ids: options.ids ?? new RandomIds(() => clock.nowMs()),
    logger: options.logger ?? silentLogger,
    environment: options.environment ?? process.env,
    crashPoints: options.faults?.crashPoints ?? noCrashPoints,
  };
}
type Base = ReturnType<typeof composeBase>;

function composeStore({ home, config, lifetimes, clock, logger, crashPoints }: Base) {
  const steps = migrations.map((migration) => withCrashPoints(migration, crashPoints));
  const storage = lifetimes.add(Storage.open({ home, migrations: steps }));
  const safety = new SafetyChecks({ policy: config.policy });
  const policy = new PolicyStore(storage.db);
  const checkpointRows = new CheckpointRows(storage.db);
  const log = new SessionLog({ storage, clock, logger, scrub: (text) => safety.redact(text).text, projections: [policy, checkpointRows] });
  const telemetry = new Telemetry({ db: storage.db });
  /** True while there is more to take in. */
  const catchUp = (eventsMax?: number): boolean =>
    !telemetry.catchUp((after, limit) => log.reads.after(after, limit), eventsMax === undefined ? {} : { eventsMax }).caughtUp;
  const artifacts = new ArtifactStore({ db: storage.db, folder: join(home, 'artifacts'), clock });
  return { storage, safety, policy, log, telemetry, catchUp, artifacts, checkpointRows };
}
type Store = ReturnType<typeof composeStore>;

function composeGuard({ home, config, clock, ids, logger, environment }: Base, store: Store) {
  const { policy, safety, telemetry, catchUp } = store;
  const workspace = openWorkspace(home, config);
  const facts = {
    workspace,
    home: realpathSync(home),
    extraFolders: config.workspace.extraFolders.map((folder) => resolve(home, folder)),
  };
  const panic = new PanicSwitch();
  const gate = new PolicyGate({ store: policy, clock, ids, panic, deniedTools: config.policy.denyTools, workspace });
  const secrets = new SecretVault({ keychain: new KeytarKeychain(), env: environment, registrar: safety, logger, home });
  const current = <T>(read: () => T): T => {
    catchUp();
    return read();
  };
  const budget = createBudget(config.budget, {
    spentInTurn: (turnId) => current(() => telemetry.spentInTurn(turnId)),
    spentInSession: (sessionId) => current(() => telemetry.spentInSession(sessionId)),
    spentSince: (query) => current(() => telemetry.spentSince(query)),
  });
  const checkpoints = new Checkpoints({
    db: store.storage.db,
    rows: store.checkpointRows,
    store: store.artifacts,
    clock,
    undoDays: config.retention.undoDays,
    isStopped: () => panic.engaged,
    forbids: (path) => whyOwnData(path, facts),
  });
  return { facts, panic, gate, secrets, budget, checkpoints };
}
type Guard = ReturnType<typeof composeGuard>;

function composeMind({ config, lifetimes, clock, logger }: Base, { facts, secrets }: Guard) {
  const models = new ModelRouter({ config, secrets, clock, logger });
  lifetimes.defer(() => models.close());
  const { workspace } = facts;
  const system = createSystemPrompt({ workspace, platform: process.platform, nowMs: () => clock.nowMs() });
  return { models, packer: new ContextPacker({ estimate: estimateTokens, system }) };
}
type Mind = ReturnType<typeof composeMind>;

function composeHands({ options, config, clock, logger, environment }: Base, { artifacts }: Store, { facts }: Guard) {
  const instanceMarker = { TRAYCLAW_INSTANCE: hash('sha256', facts.home, 'hex').slice(0, 16) };
  const trees = new ProcessTrees({ clock, logger, table: createProcessTable(process.platform), instanceMarker });
  const { outputBytesMax, execTimeoutMs } = config.tools;
  const builtIn = createBuiltInTools({
    processTrees: trees,
    clock,
    environment,
    platform: process.platform,
    userHome: homedir(),
    temporaryFolder: tmpdir(),
    execTimeoutMs,
    outputBytesMax,
  });
  const tools = new ToolHost({ tools: [...builtIn, ...(options.tools ?? [])], clock, logger, outputBytesMax, artifacts });
  return { instanceMarker, trees, tools };
}
type Hands = ReturnType<typeof composeHands>;

// eslint-disable-next-line max-params -- one parameter a floor
function composeRuntime(base: Base, store: Store, guard: Guard, mind: Mind, hands: Hands) {
  const { clock, ids, logger, config, lifetimes } = base;
  const { log, artifacts, safety, policy } = store;
  const deltas = new Emitter<DeltaNotice>((cause) => {
    logger.log('error', 'a listener of deltas failed', { cause: String(cause) });
  });
  const parts: TurnDeps = {
    crashPoints: base.crashPoints,
    ...guard,
    ...mind,
    log,
    clock,
    ids,
    logger,
    policy,
    artifacts,
    tools: hands.tools,
    instanceMarker: hands.instanceMarker,
    limits: config.limits,
    redact: (text) => safety.redact(text).text,
    searchSessions: (query, limit) => log.search.find(query, limit),
    wantsDeltas: () => deltas.size > 0,
    publishDelta: (delta) => {
      deltas.emit(delta);
    },
  };
  const turns = new TurnRuntime(base.options.faults?.replaceParts?.(parts) ?? parts);
  lifetimes.defer(async () => {
    await turns.dispose();
    await hands.trees.killAll();
  });
  lifetimes.add(
    new Upkeep({
      clock,
      logger,
      onCommitted: (listener) => log.onCommitted(listener),
      afterCommits: [() => log.search.catchUp(), () => store.catchUp(500), () => store.storage.checkpoint()],
      daily: () => {
        collectGarbage(base, store, guard);
      },
    }),
  );
  return { deltas, turns };
}
type Runtime = ReturnType<typeof composeRuntime>;

// eslint-disable-next-line max-params -- one parameter a floor
async function openDoors(base: Base, store: Store, guard: Guard, mind: Mind, hands: Hands, runtime: Runtime): Promise<HostedClaw> {
  const { clock, ids, logger, lifetimes, loaded, home, options } = base;
  const { log, telemetry, safety, policy, artifacts, storage } = store;
  const { panic, facts, secrets } = guard;
  const closing = new AbortController();
  lifetimes.defer(() => {
    closing.abort();
  });
  const processes = {
    killAll: () => hands.trees.killAll(),
    reap: async (...left: Parameters<ProcessTrees['reap']>) => (await hands.trees.reap(...left)).killed,
  };
  const deps: OpsDeps = {
    log,
    clock,
    ids,
    logger,
    policy,
    panic,
    facts,
    secrets,
    artifacts,
    checkpoints: guard.checkpoints,
    processes,
    gate: guard.gate,
    packer: mind.packer,
    models: mind.models,
    tools: hands.tools,
    runtime: runtime.turns,
    controlplane: new Controlplane({ runtime: runtime.turns, index: log.index, ids, defaultAgentId: 'main' }),
    config: loaded,
    closing: closing.signal,
    usage: {
      usage: (query) => {
        store.catchUp();
        return telemetry.usage({ ...query, nowMs: clock.nowMs() });
      },
    },
    safety: { checkUrl: (url) => safety.url(url), redact: (text) => safety.redact(text) },
    checkHealth: () =>
      checkHealth({
        log,
        home,
        panic,
        workspace: facts.workspace,
        warnings: loaded.warnings,
        defaultModel: () => mind.models.defaultRef(),
        unknownOutcomes: () => log.index.openCalls().filter((call) => call.state === 'unknown').length,
        listSecrets: () => secrets.list(),
      }),
  };
  const claw = new LocalClaw({
    ops: createOps(deps),
    log,
    deltas: runtime.deltas,
    closing: closing.signal,
    close: () => lifetimes.dispose(),
  });
  await settle({ ...base, log, panic, processes, instanceMarker: hands.instanceMarker, resumes: options.resume ?? true });
  mind.models.lookAround(closing.signal);
  begin(base, guard, mind, runtime);
  return Object.assign(claw, { syncMeter: () => storage.syncMeter });
}

type RecoveryDeps = Parameters<typeof recoverLog>[0];

/** Before anything runs: the panic state, and what the last run left. */
async function settle(deps: RecoveryDeps & Pick<Base, 'options'> & { readonly panic: PanicSwitch }): Promise<void> {
  const { log, panic } = deps;
  if (log.index.session(systemSessionId) === null) {
    const body = { title: 'System', agentId: 'system', channel: 'library', forkedFrom: null };
    log.append(systemSessionId, [{ type: 'session.created', body }]);
  }
  const switched = log.reads.slice(systemSessionId, { types: ['panic.engaged', 'panic.released'], limit: 1, newest: true });
  panic.restore(switched);
  if (panic.engaged)
    panic.restore(
      log.reads.slice(systemSessionId, { types: ['panic.measured'], after: switched[0]?.sessionSeq ?? 0, limit: 1, newest: true }),
    );
  const recovery = await recoverLog(deps);
  if (recovery.recoveredTurns + recovery.unknownOutcomes + recovery.reaped > 0) {
    log.append(systemSessionId, [{ type: 'instance.started', body: { version: deps.options.version ?? 'library', ...recovery } }]);
  }
}

/** Goes on with what was under way, once a model is known; under a panic stop nothing moves. */
function begin({ options, logger }: Base, { panic }: Guard, { models }: Mind, { turns }: Runtime): void {
  if (options.resume === false || panic.engaged) {
    turns.holdWaiting();
    // What the stop cut off before the last run ended is written down as stopped, not left as running.
    if (panic.engaged) turns.stopAll('The panic stop was pressed.');
    return;
  }
  const looking = models.ready();
  if (looking === null) turns.resume();
  else {
    void looking
      .then(() => turns.resume())
      .catch((cause: unknown) => {
        logger.log('error', 'unfinished turns could not be taken up', { cause: String(cause) });
      });
  }
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

function openWorkspace(home: string, config: Config): string {
  const folder = resolve(home, config.workspace.path ?? 'workspace');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return realpathSync(folder);
}

/** Nothing puts files back into the data folder, its workspace and other opened folders aside. */
function whyOwnData(path: string, { home, workspace, extraFolders }: FactContext): string | null {
  const isBelow = (folder: string): boolean => path === folder || path.startsWith(folder + sep);
  const isOwn = isBelow(home) && ![workspace, ...extraFolders].some((folder) => folder !== home && isBelow(folder));
  return isOwn ? "It is TrayClaw's own data, which is never written this way." : null;
}

/** What a session refers to stays; what is kept for undo as long as undo may need it; everything else until its time is over. */
function collectGarbage({ clock, config }: Base, { storage, artifacts }: Store, { checkpoints }: Guard): void {
  const { artifactDays, undoDays } = config.retention;
  const nowMs = clock.nowMs();
  checkpoints.releaseOld();
  const used = storage.db.prepare(
    `SELECT 1 FROM artifact_uses u JOIN artifacts a USING (sha256) LEFT JOIN sessions s ON s.session_id = u.session_id
     WHERE u.sha256 = ? AND (s.session_id IS NOT NULL OR a.last_used_at_ms >= ?) LIMIT 1`,
  );
  artifacts.collectGarbage({
    nowMs,
    olderThanDays: Math.min(artifactDays, undoDays),
    isReferenced: (sha256) => used.get(sha256, nowMs - artifactDays * DAY_MS) !== undefined || checkpoints.needs(sha256),
  });
}
