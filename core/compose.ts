// The composition root: one readable list of `new`, floor by floor from the bottom. Nothing in a floor imports it.

import { homedir, tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { systemClock } from './base/clock.ts';
import { systemLater } from './base/later.ts';
import { Lifetimes } from './base/disposable.ts';
import { Emitter } from './base/emitter.ts';
import type { HostedClaw } from './contracts/claw.ts';
import type { Config } from './contracts/config.ts';
import type { DeltaNotice } from './contracts/events.ts';
import { loadConfig } from './store/config/config.ts';
import { mapSqliteError, restoreBackup as restoreFile } from './store/storage/storage.ts';
import { estimateTokens } from './mind/llm/llm.ts';
import {
  createAgendaTools,
  createBuiltInTools,
  createOpenWorkspace,
  createProcessTable,
  ProcessTrees,
  ToolHost,
} from './hands/tools/tools.ts';
import { TurnRuntime, type TurnDeps } from './runtime/turns/turns.ts';
import { Upkeep } from './runtime/upkeep/upkeep.ts';
import type { Telegram } from './doors/telegram/telegram.ts';
import { createOps, LocalClaw, type OpsDeps } from './doors/ops/ops.ts';
import { composeChats, composeControlplane, composeOutbox, joinChannels } from './compose-channels.ts';
import { composeBase, composeStore, instanceMarkerOf, type Base, type Store, type RuntimeOptions } from './compose-base.ts';
import { composeDeadLetters, composeDoctor, composeHooks, composeRecovery } from './compose-care.ts';
import { composeHelpers } from './compose-helpers.ts';
import { composeGuard, type Guard } from './compose-guard.ts';
import { composeCompaction, composeMind, type Mind } from './compose-mind.ts';
import { composeRemembering } from './compose-remembering.ts';
import { composeSkills, withSkillRuns, type Skills } from './compose-skills.ts';
import { composeNotes, composeSchedules, composeSignals } from './compose-signals.ts';
import { collectGarbage, settle, startNotices, workHere } from './compose-start.ts';
import { composeTelegram } from './compose-telegram.ts';
import { composeWeb } from './compose-web.ts';

export { firstUses } from './compose-ahead.ts';
export type { HostedClaw } from './contracts/claw.ts';
export type { FaultHooks, HealthCheck, RedactedSink, RuntimeOptions } from './compose-base.ts';

/** A keychain may be waiting for a person who is not there. */
const SECRETS_MAX_MS = 8_000;

/**
 * Starts the runtime on a data folder. Fails with invalid_config or a store_* error (store_locked while another process owns it).
 * Whatever an earlier run left open is settled before it returns.
 */
export async function createTrayClaw(options: RuntimeOptions): Promise<HostedClaw> {
  const home = resolve(options.home);
  const loaded = await loadConfig(home, options.config);
  const lifetimes = new Lifetimes();
  try {
    const base = composeBase({ ...options, home }, loaded, lifetimes);
    const store = composeStore(base);
    const guard = composeGuard(base, store);
    const skills = composeSkills(base, store, guard.facts);
    const remembering = composeRemembering(base, store, guard);
    const model = composeMind(base, store, guard, [...remembering.sources, ...skills.sources]);
    const mind: KnowingMind = { ...model, remembering, skills };
    const hands = composeHands(base, store, guard, mind);
    const runtime = composeRuntime(base, store, guard, mind, hands);
    return await openDoors(base, store, guard, mind, hands, runtime);
  } catch (cause) {
    await lifetimes.dispose();
    // A damaged page may be met by any part that reads at its start.
    throw mapSqliteError(cause);
  }
}

/** Offline: refuses with store_locked while an instance owns the folder. */
export function restoreBackup(options: { readonly home: string; readonly file: string }): { restored: string; kept: string | null } {
  return restoreFile(resolve(options.home), options.file, systemClock.nowMs());
}

type Remembering = ReturnType<typeof composeRemembering>;
type KnowingMind = Mind & { readonly remembering: Remembering; readonly skills: Skills };

function composeHands(base: Base, store: Store, guard: Guard, { remembering, skills, identity }: KnowingMind) {
  const { options, config, clock, logger, environment, safety, safetyOf } = base;
  const { safeArtifacts } = store;
  const { facts, secrets, sandbox } = guard;
  const planned = { ...composeSchedules(base, store), prompts: identity.prompts };
  const instanceMarker = instanceMarkerOf(facts.home);
  const trees = new ProcessTrees({ clock, logger, table: createProcessTable(process.platform), environment, instanceMarker });
  const hooks = composeHooks(base, store, guard, { trees, instanceMarker });
  const outbox = composeOutbox(base, store, guard);
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
    chats: composeChats(base, store, outbox),
    refusesFiles: skills.refusesFiles,
  });
  const redact = (text: string) => safetyOf('tool-results').redact(text).text;
  const tools = new ToolHost({
    tools: [
      ...builtIn,
      createOpenWorkspace(guard.workspaces),
      skills.tool,
      ...createAgendaTools(planned.agenda),
      ...remembering.tools,
      ...(options.tools ?? []),
    ],
    clock,
    logger,
    outputBytesMax,
    artifacts: safeArtifacts,
    redact,
  });
  skills.meetTools(tools);
  remembering.meetTools(tools);
  return { hooks, instanceMarker, trees, tools, outbox, planned };
}

type Hands = ReturnType<typeof composeHands>;

// eslint-disable-next-line max-params -- one parameter a floor
function composeRuntime(base: Base, store: Store, guard: Guard, mind: KnowingMind, hands: Hands) {
  const { clock, ids, logger, config, lifetimes, safety } = base;
  const { log, safeArtifacts, policy } = store;
  const deltas = new Emitter<DeltaNotice>((cause) => {
    logger.log('error', 'a listener of deltas failed', { cause: String(cause) });
  });
  const parts: TurnDeps = {
    ...(hands.hooks === null ? {} : { hooks: hands.hooks }),
    crashPoints: base.crashPoints,
    notes: composeNotes(base, store),
    ...guard,
    models: withSkillRuns(mind.models, mind.skills.runs),
    packer: mind.packer,
    packSources: mind.packSources,
    learning: mind.learning,
    agents: base.agents,
    continuity: store.continuity,
    log,
    clock,
    ids,
    later: systemLater,
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
  const compaction = composeCompaction(base, store, guard, mind, turns);
  const deadLetters = composeDeadLetters(base, store, guard, turns);
  const { helpers, tools } = composeHelpers(base, store, guard, { turns, prompts: mind.identity.prompts, skills: mind.skills });
  for (const tool of tools) hands.tools.register(tool);
  composeUpkeep(base, store, guard, { mind, turns, deadLetters });
  return { deltas, turns, deadLetters, helpers, compaction };
}
type Runtime = ReturnType<typeof composeRuntime>;

interface KeptUp {
  readonly mind: KnowingMind;
  readonly turns: TurnRuntime;
  readonly deadLetters: ReturnType<typeof composeDeadLetters>;
}

function composeUpkeep(base: Base, store: Store, guard: Guard, { mind, turns, deadLetters }: KeptUp): void {
  const { clock, logger, lifetimes } = base;
  const { log } = store;
  lifetimes.add(
    new Upkeep({
      clock,
      logger,
      onCommitted: (listener) => log.onCommitted(listener),
      afterCommits: [
        () => log.search.catchUp(),
        () => log.activity.catchUp(),
        () => store.catchUp(500),
        () => mind.remembering.catchUp(),
        () => deadLetters.catchUp(),
        () => mind.learning.save(),
        () => {
          store.head.secure();
          return false;
        },
      ],
      betweenTurns: () => store.head.secure(),
      isBusy: () => turns.runningTurns > 0,
      daily: () => {
        void store.backups.run();
        collectGarbage(base, store, guard);
        mind.remembering.daily();
      },
    }),
  );
}

interface Floors {
  readonly base: Base;
  readonly store: Store;
  readonly guard: Guard;
  readonly mind: KnowingMind;
  readonly runtime: Runtime;
}

/** What looks after the program: the doctor and recovery, which use the doors they are behind. */
function careParts({ base, store, guard, mind, runtime }: Floors, hands: Hands, telegram: Telegram, claw: () => LocalClaw) {
  const { deadLetters } = runtime;
  return {
    doctor: composeDoctor(base, store, guard, {
      mind,
      deadLetters,
      schedules: hands.planned.schedules,
      telegram,
      tools: hands.tools,
      tryModel: (model) => claw().op('model.test', { model }),
    }),
    recovery: composeRecovery(base, store, guard, {
      runtime: runtime.turns,
      undo: async (callId, by) =>
        (await claw().op('checkpoint.restore', { callId, keepGoing: true }, { channel: 'library', actor: by })).restored.length,
    }),
  };
}

// eslint-disable-next-line max-params -- one parameter a floor
async function openDoors(base: Base, store: Store, guard: Guard, mind: KnowingMind, hands: Hands, runtime: Runtime): Promise<HostedClaw> {
  const { clock, ids, logger, lifetimes, options, safety } = base;
  const { log, head, policy, artifacts } = store;
  const { panic, facts, workspaces, secrets, sandbox } = guard;
  const closing = new AbortController();
  lifetimes.defer(() => {
    closing.abort();
  });
  const signals = composeSignals({ base, store, guard, ...hands.planned, turns: runtime.turns, outbox: hands.outbox });
  const processes = processesOf(hands);
  const controlplane = composeControlplane(base, store, guard, runtime.turns, hands.outbox);
  const telegram: Telegram = composeTelegram(base, store, guard, hands.outbox, () => claw);
  const deps: OpsDeps = {
    log,
    head,
    controlplane,
    outbox: hands.outbox,
    chats: store.chats,
    clock,
    ids,
    logger,
    policy,
    panic,
    facts,
    workspaces,
    secrets,
    sandbox,
    artifacts,
    checkpoints: guard.checkpoints,
    schedules: hands.planned.schedules,
    ...mind.remembering.ops,
    signals,
    deadLetters: runtime.deadLetters,
    processes,
    ...agentParts(base, runtime, mind),
    gate: guard.gate,
    budget: guard.budget,
    ...contextParts(store, mind, runtime),
    models: mind.models,
    tools: hands.tools,
    runtime: runtime.turns,
    ...liveConfig(base, mind),
    closing: closing.signal,
    telegram: telegram.ops,
    usage: { usage: (query) => usageOf(base, store, query) },
    safety: { checkUrl: (url) => safety.url(url), redact: (text) => safety.redact(text) },
    ...careParts({ base, store, guard, mind, runtime }, hands, telegram, () => claw),
  };
  const claw: LocalClaw = new LocalClaw({
    ops: createOps(deps),
    log,
    deltas: runtime.deltas,
    closing: closing.signal,
    redactDeep: (value) => base.safetyOf('doors').redactDeep(value),
    close: () => lifetimes.dispose(),
  });
  await secrets.whenKnown(SECRETS_MAX_MS);
  await settle({ ...base, log, head, panic, processes, instanceMarker: hands.instanceMarker, resumes: options.resume ?? true });
  mind.models.lookAround(closing.signal);
  const taking = begin(base, guard, mind, runtime);
  const work = workHere(runtime.turns, log.index.openTurns().some((row) => row.status !== 'waiting') ? taking : null);
  signals.begin(options.resume);
  joinChannels(base, [telegram, ...(options.channels ?? [])], { controlplane, outbox: hands.outbox, hooks: hands.hooks });
  return Object.assign(claw, work, hostedParts(base, store, guard));
}

function hostedParts({ safety }: Base, { storage, head, log }: Store, guard: Guard) {
  const redact = (text: string): string => safety.redact(text).text;
  return { syncMeter: () => storage.syncMeter, redact, sync: () => head.secure(), notices: startNotices({ log }, guard) };
}

function processesOf({ trees }: Hands): OpsDeps['processes'] {
  return { killAll: () => trees.killAll(), reap: async (...left) => (await trees.reap(...left)).killed };
}

function agentParts(
  { agents }: Base,
  { helpers }: Runtime,
  { skills: { skills, importSkills }, identity }: KnowingMind,
): Pick<OpsDeps, 'agents' | 'helpers' | 'skills' | 'importSkills' | 'identity' | 'prompts'> {
  return { agents, helpers, skills, importSkills, ...identity };
}

/** Models, providers and sources of knowledge are taken while the program runs, everything else is read at start. */
function liveConfig({ loaded, options }: Base, { models: registry, remembering }: KnowingMind): Pick<OpsDeps, 'config' | 'takeSettings'> {
  const held = { ...loaded };
  const takeSettings = (key: string, { models, providers, knowledge: { sources } }: Config): boolean => {
    const isOf = (...sections: string[]): boolean => sections.some((section) => key === section || key.startsWith(`${section}.`));
    // A configuration that was handed in is not that of the file.
    if (options.config !== undefined) return false;
    if (isOf('models', 'providers')) {
      held.config = { ...held.config, models, providers };
      registry.configure({ models, providers });
      return true;
    }
    if (!isOf('knowledge.sources')) return false;
    held.config = { ...held.config, knowledge: { ...held.config.knowledge, sources } };
    remembering.takeSources(sources);
    return true;
  };
  return { config: held, takeSettings };
}

type ContextParts = Pick<OpsDeps, 'packer' | 'continuity' | 'compaction' | 'packs'>;

function contextParts({ continuity, telemetry, catchUp }: Store, { packer }: Mind, { compaction }: Runtime): ContextParts {
  const list: OpsDeps['packs']['list'] = (query) => {
    catchUp();
    return telemetry.packs(query);
  };
  return { packer, continuity, compaction, packs: { list } };
}

function usageOf({ clock }: Base, { telemetry, catchUp }: Store, query: Parameters<OpsDeps['usage']['usage']>[0]) {
  catchUp();
  return telemetry.usage({ ...query, nowMs: clock.nowMs() });
}

/** Goes on with what was under way, once a model is known (then the promise resolves; null at once); under a panic stop nothing moves. */
function begin(
  { options, logger }: Base,
  { panic }: Guard,
  { models, skills, remembering }: KnowingMind,
  { turns, deadLetters, helpers, compaction }: Runtime,
): Promise<void> | null {
  skills.begin(options.resume);
  if (options.resume !== false) remembering.begin();
  if (options.resume === false || panic.engaged) {
    turns.holdWaiting();
    // What the stop cut off before the last run ended is written down as stopped, not left as running.
    if (panic.engaged) turns.stopAll('The panic stop was pressed.');
    if (options.resume === false) return null;
    turns.watchQuestions();
    deadLetters.begin();
    helpers.begin();
    compaction.begin();
    return null;
  }
  const looking = models.ready();
  const goOn = (): void => {
    turns.resume();
    deadLetters.begin();
    helpers.begin();
    compaction.begin();
  };
  if (looking === null) {
    goOn();
    return null;
  }
  return looking.then(goOn).catch((cause: unknown) => {
    logger.log('error', 'unfinished turns could not be taken up', { cause: String(cause) });
  });
}
