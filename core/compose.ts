// The composition root: builds the spine, the features on top of it, the turns on top of both, and the doors. No layer imports this module.

import { resolve } from 'node:path';
import { Lifetimes } from './base/disposable.ts';
import { Emitter } from './base/emitter.ts';
import type { HostedClaw } from './contracts/claw.ts';
import type { DeltaNotice } from './contracts/events.ts';
import type { OpHandlers } from './contracts/ops.ts';
import { loadConfig } from './store/config/config.ts';
import { mapSqliteError } from './store/storage/storage.ts';
import { ContextPacker, createSystemPrompt } from './mind/context/context.ts';
import { estimateTokens } from './mind/llm/llm.ts';
import { createBuiltInTools, createOpenWorkspace, createWebDeps } from './hands/tools/tools.ts';
import { createCompaction } from './runtime/compaction/compaction.ts';
import { createMessagePort } from './runtime/outbox/outbox.ts';
import { settle, startNotices, takeUp, TurnRuntime, workHere, type ModelPort, type TurnDeps } from './runtime/turns/turns.ts';
import { createUpkeep } from './runtime/upkeep/upkeep.ts';
import { Controlplane } from './doors/controlplane/controlplane.ts';
import { createCommandOps, createSpineOps, LocalClaw } from './doors/ops/ops.ts';
import { builtInFeatures, type Features } from './compose-features.ts';
import { composeBase, composeGuard, composeHands, composeStore } from './compose-spine.ts';
import type { RuntimeOptions } from './runtime-options.ts';

export type { FaultHooks, RedactedSink, RuntimeOptions } from './runtime-options.ts';

/** Upper bound of the wait for the keychain, which may show a prompt to an absent person. */
const SECRETS_MAX_MS = 8_000;

/**
 * Starts the runtime on a data folder. Before it returns, it settles the work that an earlier run left open. Fails with invalid_config or a
 * store_* error (store_locked while another process owns the folder).
 */
export async function createTrayClaw(options: RuntimeOptions): Promise<HostedClaw> {
  const home = resolve(options.home);
  const loaded = await loadConfig(home, options.config);
  const lifetimes = new Lifetimes();
  try {
    const base = composeBase({ ...options, home }, loaded, lifetimes);
    const spine = composeHands(composeGuard(await composeStore(base, builtInFeatures.all)));
    // Features call this only once the runtime is running, after `serving` is assigned.
    const ops = (): SpineOps => serving;
    const features = builtInFeatures.make({ ...spine, start: createTrayClaw, ops }, spine.rows, lifetimes);
    registerTools(features);
    const running = composeRuntime(features);
    const parts = { ...running, controlplane: new Controlplane(running) };
    const serving = createSpineOps(parts);
    return await openDoors(parts, features, serving);
  } catch (cause) {
    await lifetimes.dispose();
    // Any part that reads the database during startup may run into a damaged page.
    throw mapSqliteError(cause);
  }
}

/** Registers the features' tools, then the built-in ones, and last those of the host program, which may replace any of them. */
function registerTools({ parts, contributions }: Features): void {
  const { options, config, safety, secrets, outbox, chats, artifactStore, tools, workspaces } = parts;
  const services = contributions.flatMap((one) => one.services ?? []).filter(({ isOff }) => isOff !== true);
  const joining = [...services, ...contributions.flatMap((one) => one.channels ?? []), ...(options.channels ?? [])];
  const hasChannel = Object.keys(config.channels).length > 0 || joining.length > 0;
  const builtIn = createBuiltInTools({
    ...parts,
    ...config.tools,
    processTrees: parts.processes,
    web: createWebDeps(config.web, safety, secrets),
    // Null if there is no channel; the model is then not offered any messaging tools.
    chats: hasChannel ? createMessagePort(outbox, chats, (idOrAlias) => artifactStore.get(idOrAlias)) : null,
  });
  const own = [...builtIn, createOpenWorkspace(workspaces), ...(options.tools ?? [])];
  for (const tool of [...contributions.flatMap((one) => one.tools ?? []), ...own]) tools.register(tool);
}

/** Builds the turns, the upkeep between turns, and the work that waits until the runtime is idle. */
function composeRuntime({ parts, contributions }: Features) {
  const { logger, config, safety, safetyOf, clock, artifacts, models, prompt, lifetimes, learning, facts } = parts;
  const deltas = new Emitter<DeltaNotice>((cause) => logger.log('error', 'a listener of deltas failed', { cause: String(cause) }));
  const packer = new ContextPacker({
    estimate: estimateTokens,
    meter: learning,
    system: createSystemPrompt({
      ...facts,
      platform: parts.platform,
      nowMs: () => clock.nowMs(),
      template: () => prompt('trayclaw-system'),
    }),
    redact: parts.redactPrompt,
    secretsVersion: () => safetyOf('prompt').version,
    readAttachment: (sha256, lengthMax) => artifacts.read(sha256, { offset: 0, length: lengthMax }),
  });
  const turnDeps: TurnDeps = {
    ...parts,
    deltas,
    packer,
    limits: config.limits,
    routes: models.routes,
    estimate: estimateTokens,
    models: contributions.reduce<ModelPort>((seen, one) => one.runsAsModels?.(seen) ?? seen, models),
    packSources: contributions.flatMap((one) => one.packSources ?? []),
    redactJson: (text) => safety.redactJson(text),
    redactStream: () => safety.stream(),
    unfinishedAt: (text) => safety.unfinishedAt(text),
  };
  const turns = new TurnRuntime(parts.options.faults?.replaceParts?.(turnDeps) ?? turnDeps);
  parts.turns.resolve(turns);
  const compaction = lifetimes.add(createCompaction({ ...parts, turns }));
  lifetimes.add(createUpkeep({ ...parts, turns, contributions }));
  return { ...parts, deltas, packer, packSources: turnDeps.packSources ?? [], turns, compaction };
}
type Parts = ReturnType<typeof composeRuntime> & { readonly controlplane: Controlplane };
type SpineOps = ReturnType<typeof createSpineOps>;

async function openDoors(parts: Parts, { contributions, handlers }: Features, spineOps: SpineOps): Promise<HostedClaw> {
  const { lifetimes, options, closer, log, head, panic, secrets, safety, safetyOf, turns, outbox, models } = parts;
  const { resume: resumes = true, version = 'library' } = options;
  lifetimes.defer(() => closer.abort());
  const others = { ...handlers, ...spineOps };
  const ops: OpHandlers = { ...others, ...createCommandOps(parts, others) };
  const redactDeep = <T>(value: T): T => safetyOf('doors').redactDeep(value);
  const claw = new LocalClaw({ ...parts, ops, redactDeep, close: () => lifetimes.dispose() });
  await secrets.whenKnown(SECRETS_MAX_MS);
  await settle({ ...parts, resumes, version });
  models.lookAround(parts.closing);
  const rest = (): void => {
    for (const one of contributions) one.takeUp?.();
    parts.compaction.begin();
  };
  const taking = takeUp(turns, { logger: parts.logger, resumes, stopped: panic.engaged, ready: () => models.ready(), rest });
  const work = workHere(turns, log.index.openTurns().some((row) => row.status !== 'waiting') ? taking : null);
  if (resumes) for (const one of contributions) one.begin?.();
  const channels = [...contributions.flatMap((one) => [...(one.join?.(claw) ?? []), ...(one.channels ?? [])]), ...(options.channels ?? [])];
  // Channels start last and stop first: receiving and sending messages needs every other part.
  if (resumes) {
    outbox.start(parts.hooks);
    for (const channel of channels) lifetimes.add(channel.join(parts.controlplane.link(channel)));
  }
  return Object.assign(claw, work, {
    syncMeter: () => parts.storage.syncMeter,
    redact: (text: string): string => safety.redact(text).text,
    sync: () => head.secure(),
    notices: startNotices(log, secrets),
    routes: contributions.flatMap((one) => one.doors ?? []).map(({ open, ...door }) => ({ ...door, answer: open(claw) })),
  });
}
