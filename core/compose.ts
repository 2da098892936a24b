// The composition root: one readable list of `new`, floor by floor from the bottom. Nothing in a floor imports it.

import { hash } from 'node:crypto';
import { homedir, tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { systemClock } from './base/clock.ts';
import { Lifetimes } from './base/disposable.ts';
import { Emitter } from './base/emitter.ts';
import type { Claw } from './contracts/claw.ts';
import type { Config } from './contracts/config.ts';
import { systemSessionId, type DeltaNotice } from './contracts/events.ts';
import { noUsage } from './contracts/llm.ts';
import type { BudgetScope } from './contracts/policy.ts';
import { loadConfig } from './store/config/config.ts';
import { restoreBackup as restoreFile, type SyncMeter } from './store/storage/storage.ts';
import { GuardedFetch } from './guard/egress/egress.ts';
import type { PanicSwitch } from './guard/panic/panic.ts';
import { OneOriginCheck, type SafetyChecks } from './guard/safety/safety.ts';
import { secretRefsOf, type Secrets } from './guard/secret/secret.ts';
import { ContextPacker, createSystemPrompt } from './mind/context/context.ts';
import { estimateTokens, ModelRouter } from './mind/llm/llm.ts';
import { createBuiltInTools, createProcessTable, ProcessTrees, ToolHost, type WebDeps } from './hands/tools/tools.ts';
import { recoverLog, TurnRuntime, type TurnDeps } from './runtime/turns/turns.ts';
import { Upkeep } from './runtime/upkeep/upkeep.ts';
import { Controlplane } from './doors/controlplane/controlplane.ts';
import { checkHealth } from './doors/diagnostics/diagnostics.ts';
import { createOps, LocalClaw, type OpsDeps } from './doors/ops/ops.ts';
import { composeBase, composeStore, type Base, type Store, type TrayClawOptions } from './compose-base.ts';
import { composeGuard, type Guard } from './compose-guard.ts';

export { firstUses } from './compose-ahead.ts';
export type { FaultHooks, HealthCheck, RedactedSink, TrayClawOptions } from './compose-base.ts';

const DAY_MS = 86_400_000;
/** The runtime of this process. */
export interface HostedClaw extends Claw {
  /** Time spent waiting for the disk so far. */
  syncMeter(): SyncMeter;
  /** Takes secrets out of a text, for every way out beside the operations: channels, notifications, a report of a crash. */
  redact(text: string): string;
  /** Brings to the disk what was recorded without waiting for it: before the machine sleeps or the session ends. */
  sync(): void;
}

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
    const mind = composeMind(base, store, guard);
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

function composeMind({ config, lifetimes, clock, logger, safetyOf }: Base, { safeArtifacts }: Store, { facts, secrets }: Guard) {
  const models = new ModelRouter({ config, secrets, clock, logger });
  lifetimes.defer(() => models.close());
  const { workspace } = facts;
  const system = createSystemPrompt({ workspace, platform: process.platform, nowMs: () => clock.nowMs() });
  return {
    models,
    packer: new ContextPacker({
      estimate: estimateTokens,
      system,
      redact: (text) => safetyOf('prompt').redact(text).text,
      readAttachment: (sha256, lengthMax) => safeArtifacts.read(sha256, { offset: 0, length: lengthMax }),
    }),
  };
}
type Mind = ReturnType<typeof composeMind>;

function composeHands(
  { options, config, clock, logger, environment, safety, safetyOf }: Base,
  { safeArtifacts }: Store,
  { facts, secrets, sandbox }: Guard,
) {
  const instanceMarker = { TRAYCLAW_INSTANCE: hash('sha256', facts.home, 'hex').slice(0, 16) };
  const trees = new ProcessTrees({ clock, logger, table: createProcessTable(process.platform), instanceMarker });
  const { outputBytesMax, execTimeoutMs } = config.tools;
  const builtIn = createBuiltInTools({
    processTrees: trees,
    sandbox,
    clock,
    environment,
    platform: process.platform,
    userHome: homedir(),
    temporaryFolder: tmpdir(),
    execTimeoutMs,
    outputBytesMax,
    web: composeWeb(config.web, safety, secrets),
  });
  const redact = (text: string): string => safetyOf('tool-results').redact(text).text;
  const tools = new ToolHost({
    tools: [...builtIn, ...(options.tools ?? [])],
    clock,
    logger,
    outputBytesMax,
    artifacts: safeArtifacts,
    redact,
  });
  return { instanceMarker, trees, tools };
}

/** Every request of a tool leaves through here; model servers and channels are the person's own choice and keep their own clients. */
function composeWeb(config: Config['web'], safety: SafetyChecks, secrets: Secrets): WebDeps {
  const { timeoutMs, bytesMax, search } = config;
  const quick = Math.min(timeoutMs, 10_000);
  const limits = { connectMs: quick, headersMs: timeoutMs, idleMs: Math.min(timeoutMs, 15_000), totalMs: timeoutMs, bytesMax };
  const http = new GuardedFetch({ judge: safety, limits });
  const searchHttp = search?.baseUrl === undefined ? http : new GuardedFetch({ judge: new OneOriginCheck(search.baseUrl), limits });
  return { http, searchHttp, secrets, config, redact: (text) => safety.redact(text).text };
}
type Hands = ReturnType<typeof composeHands>;

// eslint-disable-next-line max-params -- one parameter a floor
function composeRuntime(base: Base, store: Store, guard: Guard, mind: Mind, hands: Hands) {
  const { clock, ids, logger, config, lifetimes, safety } = base;
  const { log, safeArtifacts, policy } = store;
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
    artifacts: safeArtifacts,
    tools: hands.tools,
    instanceMarker: hands.instanceMarker,
    limits: config.limits,
    estimate: estimateTokens,
    redact: (text) => safety.redact(text).text,
    redactJson: (text) => safety.redactJson(text),
    redactStream: () => safety.stream(),
    unfinishedAt: (text) => safety.unfinishedAt(text),
    searchSessions: (query, limit) => log.search.find(query, limit),
    artifactSessions: (idOrAlias) => store.artifacts.sessionsOf(idOrAlias),
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
  const { clock, ids, logger, lifetimes, loaded, home, options, safety } = base;
  const { log, policy, artifacts, storage } = store;
  const { panic, facts, secrets, sandbox } = guard;
  const closing = new AbortController();
  lifetimes.defer(() => {
    closing.abort();
  });
  const redact = (text: string): string => safety.redact(text).text;
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
    sandbox,
    artifacts,
    checkpoints: guard.checkpoints,
    processes,
    gate: guard.gate,
    budget: guard.budget,
    packer: mind.packer,
    models: mind.models,
    tools: hands.tools,
    runtime: runtime.turns,
    controlplane: composeControlplane(base, store, guard, runtime),
    config: loaded,
    closing: closing.signal,
    usage: { usage: (query) => usageOf(base, store, query) },
    safety: { checkUrl: (url) => safety.url(url), redact: (text) => safety.redact(text) },
    checkHealth: () =>
      checkHealth({
        log,
        home,
        panic,
        workspace: facts.workspace,
        warnings: loaded.warnings,
        defaultModel: () => mind.models.defaultRef(),
        limitsUsd: usdLimitsOf(base.config),
        hasPrice: (ref) => mind.models.cost(ref, noUsage) !== null,
        unknownOutcomes: () => log.index.openCalls().filter((call) => call.state === 'unknown').length,
        secretStatus: () => secrets.status(),
        sandbox: () => sandbox.health(),
        moreChecks: () => options.moreChecks?.() ?? [],
      }),
  };
  const claw = new LocalClaw({
    ops: createOps(deps),
    log,
    deltas: runtime.deltas,
    closing: closing.signal,
    redactDeep: (value) => base.safetyOf('doors').redactDeep(value),
    close: () => lifetimes.dispose(),
  });
  await settle({ ...base, log, panic, processes, instanceMarker: hands.instanceMarker, resumes: options.resume ?? true });
  mind.models.lookAround(closing.signal);
  begin(base, guard, mind, runtime);
  void secrets.registerStored(secretRefsOf(loaded.config));
  return Object.assign(claw, { syncMeter: () => storage.syncMeter, redact, sync: () => void storage.checkpoint() });
}

function composeControlplane(
  { ids, safety, config }: Base,
  { log, safeArtifacts }: Store,
  { facts }: Guard,
  { turns }: Runtime,
): Controlplane {
  return new Controlplane({
    runtime: turns,
    log,
    ids,
    defaultAgentId: 'main',
    redact: (text) => safety.redact(text).text,
    attachments: { artifacts: safeArtifacts, limits: config.attachments, facts },
  });
}

function usageOf({ clock }: Base, { telemetry, catchUp }: Store, query: Parameters<OpsDeps['usage']['usage']>[0]) {
  catchUp();
  return telemetry.usage({ ...query, nowMs: clock.nowMs() });
}

function usdLimitsOf({ budget }: Config): BudgetScope[] {
  const limits = { turn: budget.perTurnUsd, session: budget.perSessionUsd, day: budget.perDayUsd };
  return (['turn', 'session', 'day'] as const).filter((scope) => limits[scope] !== undefined);
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
