// The composition root: one readable list of `new`, from the bottom floor to the top. Nothing in a floor imports it.

import { hash } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { systemClock, type Clock } from './base/clock.ts';
import { Lifetimes } from './base/disposable.ts';
import { Emitter } from './base/emitter.ts';
import { RandomIds, type IdSource } from './base/ids.ts';
import { silentLogger, type Logger } from './base/logger.ts';
import type { Claw } from './contracts/claw.ts';
import type { Config, ConfigInput } from './contracts/config.ts';
import { systemSessionId, type DeltaNotice } from './contracts/events.ts';
import type { OpHandlers } from './contracts/ops.ts';
import type { ToolDefinition } from './contracts/tools.ts';
import { ArtifactStore, artifactMigrations } from './store/artifact/artifact.ts';
import { loadConfig, type LoadedConfig } from './store/config/config.ts';
import { SessionLog, sessionMigrations } from './store/session/session.ts';
import { restoreBackup as restoreFile, Storage, type Migration } from './store/storage/storage.ts';
import { Telemetry, telemetryMigrations } from './store/telemetry/telemetry.ts';
import { BudgetBook } from './guard/budget/budget.ts';
import { PanicSwitch } from './guard/panic/panic.ts';
import { PolicyGate, PolicyStore, policyMigrations } from './guard/policy/policy.ts';
import { SafetyChecks } from './guard/safety/safety.ts';
import { KeytarKeychain, SecretVault } from './guard/secret/secret.ts';
import { ContextPacker } from './mind/context/context.ts';
import { estimateTokens, ModelRouter } from './mind/llm/llm.ts';
import { createBuiltInTools, createProcessTable, ProcessTrees, ToolHost } from './hands/tools/tools.ts';
import { recoverLog, TurnRuntime, type BudgetPort, type CrashPoints, type ModelPort, type TurnDeps } from './runtime/turns/turns.ts';
import { Upkeep } from './runtime/upkeep/upkeep.ts';
import { Controlplane } from './doors/controlplane/controlplane.ts';
import { checkHealth } from './doors/diagnostics/diagnostics.ts';
import { createOps, LocalClaw, type OpsDeps } from './doors/ops/ops.ts';
import { createSystemPrompt } from './mind/context/system-prompt.ts';

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

const noCrashPoints: CrashPoints = { reach: () => undefined };

const migrations = [...sessionMigrations, ...policyMigrations, ...artifactMigrations, ...telemetryMigrations];

/**
 * Starts the runtime on a data folder. Fails with invalid_config or a store_* error (store_locked while another process owns it).
 * Whatever an earlier run left open is settled before it returns.
 */
export async function createTrayClaw(options: TrayClawOptions): Promise<Claw> {
  const home = resolve(options.home);
  const loaded = await loadConfig(home, options.config);
  const lifetimes = new Lifetimes();
  try {
    return await build({ ...options, home }, loaded, lifetimes);
  } catch (cause) {
    await lifetimes.dispose();
    throw cause;
  }
}

async function build(options: TrayClawOptions, loaded: LoadedConfig, lifetimes: Lifetimes): Promise<Claw> {
  const { home } = options;
  const { config } = loaded;
  const clock = options.clock ?? systemClock;
  const ids = options.ids ?? new RandomIds(() => clock.nowMs());
  const logger = options.logger ?? silentLogger;
  const environment = options.environment ?? process.env;

  // store
  const crashPoints = options.faults?.crashPoints ?? noCrashPoints;
  const storage = lifetimes.add(Storage.open({ home, migrations: migrations.map((migration) => withCrashPoints(migration, crashPoints)) }));
  const policy = new PolicyStore(storage.db);
  const safety = new SafetyChecks({ policy: config.policy });
  const log = new SessionLog({ storage, clock, logger, scrub: (text) => safety.redact(text).text, projections: [policy] });
  const artifacts = new ArtifactStore({ db: storage.db, folder: join(home, 'artifacts'), clock });
  const telemetry = new Telemetry({ db: storage.db });
  const catchUpTelemetry = (eventsMax?: number): boolean =>
    !telemetry.catchUp((after, limit) => log.reads.after(after, limit), eventsMax === undefined ? {} : { eventsMax }).caughtUp;

  // guard
  const workspace = openWorkspace(home, config);
  const facts = { workspace, home: realpathSync(home), extraFolders: config.workspace.extraFolders.map((folder) => resolve(home, folder)) };
  const panic = new PanicSwitch();
  const gate = new PolicyGate({ store: policy, clock, ids, panic, deniedTools: config.policy.denyTools, workspace });
  const secrets = new SecretVault({ keychain: new KeytarKeychain(), env: environment, registrar: safety, logger, home });
  const budget = createBudget(config, telemetry, catchUpTelemetry);

  // mind and hands
  const router = new ModelRouter({ config, secrets, clock, logger });
  lifetimes.defer(() => router.close());
  const packer = new ContextPacker({
    estimate: estimateTokens,
    system: createSystemPrompt({ workspace, platform: process.platform, nowMs: () => clock.nowMs() }),
  });
  const instanceMarker = { TRAYCLAW_INSTANCE: hash('sha256', facts.home, 'hex').slice(0, 16) };
  const trees = new ProcessTrees({ clock, logger, table: createProcessTable(process.platform), instanceMarker });
  const processes = {
    killAll: () => trees.killAll(),
    reap: async (...args: Parameters<ProcessTrees['reap']>) => (await trees.reap(...args)).killed,
  };
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

  // runtime
  const deltas = new Emitter<DeltaNotice>((cause) => logger.log('error', 'a listener of deltas failed', { cause: String(cause) }));
  const models = createModelPort(router, config);
  const turnDeps: TurnDeps = {
    crashPoints,
    log,
    clock,
    ids,
    logger,
    gate,
    policy,
    panic,
    models: models.port,
    tools,
    budget,
    packer,
    artifacts,
    facts,
    limits: config.limits,
    instanceMarker,
    redact: (text) => safety.redact(text).text,
    searchSessions: (query, limit) => log.search.find(query, limit),
    wantsDeltas: () => deltas.size > 0,
    publishDelta: (delta) => deltas.emit(delta),
  };
  const runtime = new TurnRuntime(options.faults?.replaceParts?.(turnDeps) ?? turnDeps);
  lifetimes.defer(async () => {
    await runtime.dispose();
    await trees.killAll();
  });

  // doors
  const closing = new AbortController();
  const nextCommit = createCommitSignal(log);
  const controlplane = new Controlplane({ runtime, index: log.index, ids, defaultAgentId: 'main' });
  const deps: OpsDeps = {
    log,
    clock,
    ids,
    logger,
    runtime,
    gate,
    policy,
    panic,
    packer,
    processes,
    facts,
    controlplane,
    tools,
    secrets,
    nextCommit,
    config: loaded,
    closing: closing.signal,
    artifacts,
    usage: {
      usage: (query) => {
        catchUpTelemetry();
        return telemetry.usage({ ...query, nowMs: clock.nowMs() });
      },
    },
    models: router,
    safety: {
      checkUrl: (url) => safety.url(url),
      redact: (text) => {
        const { text: clean, found } = safety.redact(text);
        return { text: clean, found: [...found] };
      },
    },
    systemText: () => packer.systemText,
    checkHealth: () =>
      checkHealth({
        log,
        home,
        workspace,
        panic,
        warnings: loaded.warnings,
        defaultModel: () => router.defaultRef(),
        unknownOutcomes: () => log.index.openCalls().filter((call) => call.state === 'unknown').length,
        listSecrets: () => secrets.list(),
      }),
  };
  lifetimes.add(
    new Upkeep({
      clock,
      logger,
      onCommitted: (listener) => log.onCommitted(listener),
      afterCommits: [
        () => log.search.catchUp(),
        () => catchUpTelemetry(500),
        () => {
          storage.checkpoint();
          return false;
        },
      ],
      daily: () => collectGarbage(artifacts, log, config, clock),
    }),
  );
  lifetimes.defer(() => closing.abort());

  const version = options.version ?? 'library';
  await settle({ log, clock, panic, processes, instanceMarker, crashPoints, version, resumes: options.resume ?? true });
  models.discover(closing.signal);
  if (options.resume !== false && !panic.engaged) void models.ready().then(() => runtime.resume());
  else runtime.holdWaiting();
  if (panic.engaged) runtime.stopAll('The panic stop was pressed.');
  const handlers: OpHandlers = withModels(createOps(deps), models.ready);
  return new LocalClaw({ ops: handlers, log, deltas, closing: closing.signal, nextCommit, close: () => lifetimes.dispose() });
}

/** A start that ends in the middle of a change to the schema, before or after it is written. */
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

type RecoveryDeps = Parameters<typeof recoverLog>[0];

interface SettleDeps extends RecoveryDeps {
  readonly panic: PanicSwitch;
  readonly version: string;
}

/** Before anything runs: the panic state, and what the last run left. */
async function settle(deps: SettleDeps): Promise<void> {
  const { log, panic } = deps;
  if (log.index.session(systemSessionId) === null) {
    log.append(systemSessionId, [
      { type: 'session.created', body: { title: 'System', agentId: 'system', channel: 'library', forkedFrom: null } },
    ]);
  }
  panic.restore(
    log.reads.slice(systemSessionId, { types: ['panic.engaged', 'panic.measured', 'panic.released'], limit: 50, newest: true }),
  );
  const recovery = await recoverLog(deps);
  if (recovery.recoveredTurns + recovery.unknownOutcomes + recovery.reaped > 0) {
    log.append(systemSessionId, [{ type: 'instance.started', body: { version: deps.version, ...recovery } }]);
  }
}

function openWorkspace(home: string, config: Config): string {
  const { path } = config.workspace;
  const folder = path === undefined ? join(home, 'workspace') : isAbsolute(path) ? path : resolve(home, path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return realpathSync(folder);
}

/** With no limit configured nothing is kept or asked: spending is then only reported. */
function createBudget(config: Config, telemetry: Telemetry, catchUp: () => boolean): BudgetPort {
  if (Object.values(config.budget).every((limit) => limit === undefined)) return { check: () => null, record: () => undefined };
  const current = <T>(read: () => T): T => {
    catchUp();
    return read();
  };
  return new BudgetBook(config.budget, {
    spentInTurn: (turnId) => current(() => telemetry.spentInTurn(turnId)),
    spentInSession: (sessionId) => current(() => telemetry.spentInSession(sessionId)),
    spentSince: (query) => current(() => telemetry.spentSince(query)),
  });
}

/** Where nothing is configured local servers are looked for, and the first message waits for the look (well under a second). */
function createModelPort(
  router: ModelRouter,
  config: Config,
): { port: ModelPort; discover(signal: AbortSignal): void; ready(): Promise<unknown> } {
  const isConfigured = config.models.default !== undefined || Object.keys(config.providers).length > 0;
  let looking: Promise<unknown> | null = null;
  return {
    port: router,
    discover: (signal) => {
      if (!isConfigured) looking = router.discover(signal).finally(() => (looking = null));
    },
    ready: () => looking ?? Promise.resolve(),
  };
}

/** Operations that start a turn or name a model wait for the first look around. */
function withModels(ops: OpHandlers, ready: () => Promise<unknown>): OpHandlers {
  return {
    ...ops,
    'message.send': async (params, caller) => {
      await ready();
      return ops['message.send'](params, caller);
    },
    'model.list': async (params, caller) => {
      await ready();
      return ops['model.list'](params, caller);
    },
  };
}

/** One promise for all who wait for the next commit, made only while somebody waits. */
function createCommitSignal(log: SessionLog): (signal: AbortSignal) => Promise<void> {
  return (signal) =>
    new Promise((resolve) => {
      const done = (): void => {
        stop();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const stop = log.onCommitted(done);
      if (signal.aborted) done();
      else signal.addEventListener('abort', done, { once: true });
    });
}

function collectGarbage(artifacts: ArtifactStore, log: SessionLog, config: Config, clock: Clock): void {
  const used = log.storage.db.prepare(
    'SELECT 1 FROM artifact_uses u JOIN sessions s ON s.session_id = u.session_id WHERE u.sha256 = ? LIMIT 1',
  );
  artifacts.collectGarbage({
    nowMs: clock.nowMs(),
    olderThanDays: config.retention.artifactDays,
    isReferenced: (sha256) => used.get(sha256) !== undefined,
  });
}

/** Offline: refuses with store_locked while an instance owns the folder. */
export function restoreBackup(options: { readonly home: string; readonly file: string }): { restored: string; kept: string | null } {
  return restoreFile(resolve(options.home), options.file, systemClock.nowMs());
}
