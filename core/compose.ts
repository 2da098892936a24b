// The composition root: one readable list of `new`, floor by floor from the bottom. Nothing in a floor imports it.

import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemClock } from './base/clock.ts';
import type { Redacted } from './base/redacted.ts';
import { systemLater } from './base/later.ts';
import { Lifetimes } from './base/disposable.ts';
import { Emitter } from './base/emitter.ts';
import type { HostedClaw } from './contracts/claw.ts';
import type { DeltaNotice } from './contracts/events.ts';
import { loadConfig } from './store/config/config.ts';
import { mapSqliteError, restoreBackup as restoreFile } from './store/storage/storage.ts';
import { estimateTokens } from './mind/llm/llm.ts';
import {
  BackgroundCommands,
  createBuiltInTools,
  createOpenWorkspace,
  createProcessTable,
  createWebDeps,
  instanceMarkerOf,
  LastOutput,
  ProcessTrees,
  Programs,
  ToolHost,
} from './hands/tools/tools.ts';
import { settle, startNotices, takeUp, TurnRuntime, workHere, type TurnDeps } from './runtime/turns/turns.ts';
import { collectGarbage, Upkeep } from './runtime/upkeep/upkeep.ts';
import { createMessagePort, Outbox } from './runtime/outbox/outbox.ts';
import { Controlplane } from './doors/controlplane/controlplane.ts';
import { LocalClaw } from './doors/ops/ops.ts';
import { composeBase, composeStore, openData, type Base, type Store, type RuntimeOptions } from './compose-base.ts';
import { builtInFeatures, composeFeatures, type Features } from './compose-features.ts';
import { composeGuard, type Guard } from './compose-guard.ts';
import { composeCompaction, composeEngine, composeMind, composeModels, type Mind } from './compose-mind.ts';
import { composeOps } from './compose-ops.ts';

export { firstUses } from './runtime/upkeep/upkeep.ts';
export type { HostedClaw } from './contracts/claw.ts';
export type { StartChild } from './mind/llm/llm.ts';
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
    const store = composeStore(base, await openData(base, builtInFeatures));
    const guard = composeGuard(base, store);
    const hands = composeHands(base, store, guard);
    const engine = composeEngine(base, hands);
    const models = composeModels(base, store, guard, engine);
    const features = composeFeatures(base, store, guard, {
      ...hands,
      engine,
      models: models.models,
      prices: models.prices,
      start: createTrayClaw,
    });
    registerTools(base, store, guard, { ...hands, features });
    const mind = composeMind(base, store, guard, { ...models, prompt: features.identity.prompt, packSources: features.packSources });
    const runtime = composeRuntime(base, store, guard, { ...hands, mind, features });
    return await openDoors(base, store, guard, { ...hands, mind, features, ...runtime });
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

function composeHands(base: Base, store: Store, guard: Guard) {
  const { config, clock, ids, logger, environment, safetyOf, options, lifetimes } = base;
  const { platform } = process;
  const instanceMarker = instanceMarkerOf(guard.facts.home);
  const trees = new ProcessTrees({ clock, logger, table: createProcessTable(platform), environment, instanceMarker });
  const outbox = lifetimes.add(
    new Outbox({
      ...base,
      log: store.log,
      rows: store.outbound,
      chats: store.chats,
      panic: guard.panic,
      after: systemLater,
      redactDeep: (value) => safetyOf('channels').redactDeep(value),
    }),
  );
  const redact = (text: string): Redacted => safetyOf('tool-results').redact(text).text;
  const { outputBytesMax } = config.tools;
  const { sharedTools: shared } = options;
  const sharing = shared === undefined ? {} : { shared };
  const tools = new ToolHost({ tools: [], clock, logger, outputBytesMax, artifacts: store.safeArtifacts, redact, ...sharing });
  const { workspace } = guard.facts;
  const programs = new Programs({ trees, sandbox: guard.sandbox, environment, platform, ids, instanceMarker, workspace });
  const lastOutput = new LastOutput({ folder: join(guard.facts.home, 'running'), redactStream: () => safetyOf('tool-results').stream() });
  return { background: new BackgroundCommands(), lastOutput, instanceMarker, trees, programs, tools, outbox };
}
type Hands = ReturnType<typeof composeHands>;

/** The features' tools, the built-in ones, and last those of the host program, which may replace any. */
function registerTools(
  { options, config, clock, environment, safety }: Base,
  { chats, artifacts }: Store,
  { secrets, sandbox, workspaces }: Guard,
  { background, trees, tools, outbox, features }: Hands & { readonly features: Features },
): void {
  const { outputBytesMax, execTimeoutMs } = config.tools;
  const hasChannel = Object.keys(config.channels).length > 0 || features.services.count > 0 || features.channels.length > 0;
  const builtIn = createBuiltInTools({
    background,
    processTrees: trees,
    sandbox,
    clock,
    environment,
    platform: process.platform,
    userHome: homedir(),
    temporaryFolder: tmpdir(),
    execTimeoutMs,
    outputBytesMax,
    web: createWebDeps(config.web, safety, secrets),
    // Null where there is no channel: then the model is not told of messages at all.
    chats: hasChannel ? createMessagePort(outbox, chats, (idOrAlias) => artifacts.get(idOrAlias)) : null,
    refusesFiles: features.skills.refusesFiles,
    boundsOfFiles: features.skills.boundsOfFiles,
  });
  for (const tool of [...features.tools, ...builtIn, createOpenWorkspace(workspaces), ...(options.tools ?? [])]) tools.register(tool);
}

interface Parts extends Hands {
  readonly mind: Mind;
  readonly features: Features;
}

function composeRuntime(base: Base, store: Store, guard: Guard, { mind, features, tools, lastOutput, instanceMarker }: Parts) {
  const { logger, config, safety } = base;
  const { log, safeArtifacts, policy, continuity } = store;
  const deltas = new Emitter<DeltaNotice>((cause) => {
    logger.log('error', 'a listener of deltas failed', { cause: String(cause) });
  });
  const { port: hooks } = features.hooks;
  const { port: governor } = features.governor;
  const { port: verifier } = features.verify;
  const parts: TurnDeps = {
    ...base,
    ...guard,
    log,
    policy,
    continuity,
    ...(hooks === null ? {} : { hooks }),
    ...(governor === null ? {} : { governor }),
    ...(verifier === null ? {} : { verifier }),
    notes: features.signals.notes,
    models: features.a2a.runsAsModels(features.skills.runsAsModels(mind.models)),
    routes: mind.models.routes,
    packer: mind.packer,
    packSources: mind.packSources,
    learning: mind.learning,
    agents: features.agents,
    later: systemLater,
    artifacts: safeArtifacts,
    tools,
    lastOutput,
    instanceMarker,
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
  features.turns.resolve(turns);
  const compaction = composeCompaction(base, store, guard, { mind, agents: features.agents, turns });
  composeUpkeep(base, store, guard, { mind, turns, features });
  return { deltas, turns, compaction };
}
export type Runtime = ReturnType<typeof composeRuntime>;

type KeptUp = Pick<Parts, 'mind' | 'features'> & Pick<Runtime, 'turns'>;

function composeUpkeep(base: Base, store: Store, guard: Guard, { mind, turns, features }: KeptUp): void {
  const { clock, config, logger, lifetimes } = base;
  const { artifacts, log, storage } = store;
  lifetimes.add(
    new Upkeep({
      clock,
      logger,
      onCommitted: (listener) => log.onCommitted(listener),
      afterCommits: [
        () => log.search.catchUp(),
        () => log.activity.catchUp(),
        ...features.all.flatMap((wing) => (wing.catchUp === undefined ? [] : [() => wing.catchUp?.() === true])),
        () => {
          mind.models.save();
          return mind.learning.save();
        },
        () => {
          store.head.secure();
          return false;
        },
      ],
      betweenTurns: () => store.head.secure(),
      isBusy: () => turns.runningTurns > 0,
      daily: () => {
        void store.backups.run();
        collectGarbage({ clock, retention: config.retention, db: storage.db, artifacts, checkpoints: guard.checkpoints });
        for (const wing of features.all) wing.daily?.();
      },
    }),
  );
}

export type Built = Parts & Runtime;

async function openDoors(base: Base, store: Store, guard: Guard, built: Built): Promise<HostedClaw> {
  const { lifetimes, options, closing } = base;
  const { log, head } = store;
  const { panic, secrets } = guard;
  const { features, turns, trees, outbox, mind } = built;
  lifetimes.defer(() => {
    closing.abort();
  });
  const processes = {
    killAll: () => trees.killAll(),
    reap: async (...left: Parameters<typeof trees.reap>) => (await trees.reap(...left)).killed,
  };
  const controlplane = composeControlplane(base, store, guard, built);
  const claw = new LocalClaw({
    ops: composeOps(base, store, guard, { ...built, controlplane, processes }),
    log,
    deltas: built.deltas,
    closing: closing.signal,
    redactDeep: (value) => base.safetyOf('doors').redactDeep(value),
    close: () => lifetimes.dispose(),
  });
  await secrets.whenKnown(SECRETS_MAX_MS);
  const { resume: resumes = true, version = 'library' } = options;
  const { instanceMarker, lastOutput } = built;
  await settle({ ...base, log, head, panic, processes, lastOutput, instanceMarker, resumes, version });
  mind.models.lookAround(closing.signal);
  const rest = (): void => {
    for (const wing of features.all) wing.takeUp?.();
    built.compaction.begin();
  };
  const taking = takeUp(turns, { logger: base.logger, resumes, stopped: panic.engaged, ready: () => mind.models.ready(), rest });
  const work = workHere(turns, log.index.openTurns().some((row) => row.status !== 'waiting') ? taking : null);
  if (resumes) for (const wing of features.all) wing.begin?.();
  const channels = [features.telegram.channel(claw), ...features.services.join(claw), ...features.channels];
  // Channels come last and leave first: what they bring in and send needs all the rest.
  if (resumes) {
    outbox.start(features.hooks.port);
    for (const channel of channels) lifetimes.add(channel.join(controlplane.link(channel)));
  }
  return Object.assign(claw, work, hostedParts(base, store, guard), {
    routes: features.all.flatMap((wing) => wing.route?.(claw) ?? []),
  });
}

function composeControlplane(
  { ids, config }: Base,
  { log, safeArtifacts, chats, outbound }: Store,
  { facts, workspaces }: Guard,
  { turns, outbox, features }: Built,
): Controlplane {
  return new Controlplane({
    runtime: turns,
    log,
    ids,
    agents: features.agents,
    outbox,
    workspaces,
    chats: {
      chat: (chat) => chats.chat(chat),
      sessionOfMessage: (chat, messageId) => outbound.sessionOfMessage(chat, messageId),
    },
    attachments: { artifacts: safeArtifacts, limits: config.attachments, facts, contextOf: (workspace) => workspaces.contextOf(workspace) },
  });
}

function hostedParts({ safety }: Base, { storage, head, log }: Store, guard: Guard) {
  const redact = (text: string): string => safety.redact(text).text;
  return { syncMeter: () => storage.syncMeter, redact, sync: () => head.secure(), notices: startNotices(log, guard.secrets) };
}
