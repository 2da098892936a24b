// Composes the features in order: a feature is created after the ones it needs, and receives them as arguments. Read compose.ts first.

import { tmpdir } from 'node:os';
import { systemLater } from './base/later.ts';
import type { Redacted } from './base/redacted.ts';
import { AgentRegistry } from './agent/registry/registry.ts';
import { handlersOf, type AnyFeature, type Feature, type Spine, type Wing } from './features/feature.ts';
import { a2a, peerAgents, remoteCalls } from './features/a2a/a2a.ts';
import { browser } from './features/browser/browser.ts';
import { deadLetters } from './features/dead-letters/dead-letters.ts';
import { channels } from './features/channels/channels.ts';
import { delegate } from './features/delegate/delegate.ts';
import { discord } from './features/discord/discord.ts';
import { doors } from './features/doors/doors.ts';
import { email } from './features/email/email.ts';
import { engine } from './features/engine/engine.ts';
import { evals } from './features/evals/evals.ts';
import { governor } from './features/governor/governor.ts';
import { helpers } from './features/helpers/helpers.ts';
import { hooks } from './features/hooks/hooks.ts';
import { identity } from './features/identity/identity.ts';
import { machine } from './features/machine/machine.ts';
import { mcp } from './features/mcp/mcp.ts';
import { mcpDoor } from './features/mcp-door/mcp-door.ts';
import { memory } from './features/memory/memory.ts';
import { openai } from './features/openai/openai.ts';
import { opinions } from './features/opinions/opinions.ts';
import { pipelines } from './features/pipelines/pipelines.ts';
import { plan } from './features/plan/plan.ts';
import { plugins } from './features/plugins/plugins.ts';
import { prices } from './features/prices/prices.ts';
import { project } from './features/project/project.ts';
import { saved } from './features/saved/saved.ts';
import { schedule } from './features/schedule/schedule.ts';
import { signals } from './features/signals/signals.ts';
import { report } from './features/report/report.ts';
import { skillStore, unneededOf } from './features/skill-store/skill-store.ts';
import { skills } from './features/skills/skills.ts';
import { ssh } from './features/ssh/ssh.ts';
import { telegram } from './features/telegram/telegram.ts';
import { telemetry } from './features/telemetry/telemetry.ts';
import { usage } from './features/usage/usage.ts';
import { values } from './features/values/values.ts';
import { verify } from './features/verify/verify.ts';
import { work } from './features/work/work.ts';
import { estimateTokens, type EngineAccess, type PriceBook } from './mind/llm/llm.ts';
import type { ProcessTrees } from './hands/tools/tools.ts';
import { DeferredTurns } from './runtime/turns/turns.ts';
import { readBelow } from './store/home/home.ts';
import type { Base, Store } from './compose-base.ts';
import type { Guard } from './compose-guard.ts';

/** Every feature that comes with the program; health is created last, with the operations. */
export const builtInFeatures: readonly AnyFeature[] = [
  identity,
  hooks,
  verify,
  governor,
  delegate,
  engine,
  memory,
  helpers,
  skills,
  signals,
  schedule,
  deadLetters,
  telegram,
  usage,
  doors,
  openai,
  a2a,
  mcpDoor,
  mcp,
  telemetry,
  machine,
  ssh,
  browser,
  plugins,
  discord,
  email,
  channels,
  opinions,
  prices,
  values,
  evals,
  skillStore,
  report,
  pipelines,
  work,
  plan,
  project,
  saved,
];

interface Hands extends Pick<Spine, 'background' | 'tools' | 'outbox' | 'instanceMarker' | 'programs' | 'models'> {
  readonly trees: ProcessTrees;
  readonly engine: EngineAccess;
  readonly prices: PriceBook;
  /** Starts the program on another data folder. */
  readonly start: Parameters<typeof evals.create>[2]['start'];
}

/** Features are disposed in reverse order of creation; those that turns depend on outlive the turns, the others do not. */
export function composeFeatures(base: Base, store: Store, guard: Guard, hands: Hands) {
  const { options, lifetimes, safetyOf } = base;
  const turns = new DeferredTurns();
  const spine = spineOf(base, store, guard, { ...hands, turns });
  const { all, make } = makerOf(spine, store, base);

  const identities = make(identity, options.prompts ?? {});
  const { prompt, capsules } = identities;
  const agents = agentsOf(base, capsules);
  const before = {
    identity: identities,
    hooks: make(hooks, options.hooks ?? []),
    verify: make(verify),
    governor: make(governor),
    delegate: make(delegate),
    engine: make(engine, hands.engine),
    memory: make(memory, options, hands.engine),
  };
  lifetimes.defer(() => endTurns(turns, hands.trees, store));
  const helping = make(helpers, { agents, prompt, remote: remoteCalls(base.config.a2a) });
  const skilled = make(skills, helping.queue, (shelf) => unneededOf(store.rows.of(skillStore), shelf));
  const signalled = make(signals);
  const opened = make(doors);
  const servers = make(mcp, guard.secrets);
  const graded = make(evals, { prompt, start: hands.start });
  const working = make(work, () => all.flatMap((wing) => wing.strategies ?? []));
  const made = {
    ...before,
    helpers: helping,
    skills: skilled,
    signals: signalled,
    doors: opened,
    work: working,
    schedule: make(schedule, { prompt, signals: signalled.hub, work: working.port }),
    deadLetters: make(deadLetters),
    telegram: make(telegram, servers.questions, options.wait),
    usage: make(usage, (line) => safetyOf('app-log').redactJson(line).text),
    openai: make(openai, { tokens: opened.tokens, agents, embeddings: before.memory.embeddings }),
    a2a: make(a2a, { tokens: opened.tokens, agents }),
    mcpDoor: make(mcpDoor, { tokens: opened.tokens, agents }),
    mcp: servers,
    telemetry: make(telemetry),
    machine: make(machine),
    ssh: make(ssh),
    browser: make(browser, options.browser ?? {}),
    plugins: make(plugins, { files: store.pluginFiles, book: store.pluginBook }),
    discord: make(discord),
    email: make(email),
    services: make(channels, { ...chatParts(all), servers: servers.questions, secrets: guard.secrets, wait: options.wait }),
    opinions: make(opinions),
    prices: make(prices, { book: hands.prices, url: options.priceListUrl }),
    values: make(values),
    evals: graded,
    skillStore: make(skillStore, { shelf: skilled.shelf, runCases: graded.runFor }),
    pipelines: make(pipelines),
    plan: make(plan),
    project: make(project, agents),
    saved: make(saved),
  };
  return {
    ...made,
    spine,
    turns,
    agents,
    all,
    ...gathered(all, options),
    handlers: handlersOf(made),
  };
}

/** Of the chat services that earlier features make. */
function chatParts(all: readonly Wing[]) {
  return { services: all.flatMap((wing) => wing.services ?? []), trials: all.flatMap((wing) => wing.trials ?? []) };
}

/** Parts of the features, and of the host program. */
function gathered(all: readonly Wing[], { channels: given = [] }: Base['options']) {
  return {
    tools: all.flatMap((wing) => wing.tools ?? []),
    packSources: all.flatMap((wing) => wing.packSources ?? []),
    checks: all.flatMap((wing) => wing.checks ?? []),
    channels: [...all.flatMap((wing) => wing.channels ?? []), ...given],
  };
}

function makerOf(spine: Spine, { rows }: Store, { lifetimes }: Base) {
  const all: Wing[] = [];
  const make = <Rows, Others extends readonly unknown[], Made extends Wing>(
    feature: Feature<Spine, Rows, Others, Made>,
    ...others: Others
  ): Made => {
    const wing = feature.create(spine, rows.of(feature), ...others);
    all.push(wing);
    lifetimes.defer(() => wing.dispose?.());
    return wing;
  };
  return { all, make };
}

async function endTurns(turns: DeferredTurns, trees: ProcessTrees, { storage, log }: Store): Promise<void> {
  await turns.dispose();
  // A look at every process of the machine is most of what ending costs; a throwaway folder without a call left none.
  if (!storage.isThrowaway || trees.hasStarted || log.index.hasCalls()) await trees.killAll();
}

export type Features = ReturnType<typeof composeFeatures>;

function spineOf(base: Base, store: Store, guard: Guard, parts: Omit<Hands, 'trees'> & Pick<Spine, 'turns'>): Spine {
  const { home, config, clock, ids, logger, environment, safety, safetyOf, crashPoints, closing, options } = base;
  const { log, marks, policy, safeArtifacts: artifacts, settings } = store;
  const { facts, panic, gate, secrets, budget, checkpoints, workspaces } = guard;
  const later = systemLater;
  const sources: Spine['sources'] = {
    ofSession: (sessionId) => marks.session(sessionId)?.sources ?? [],
    ofFile: (path) => (marks.writerOf(path) === null ? [] : [{ kind: 'file', where: path }]),
  };
  const redactPrompt = (text: string): Redacted => safetyOf('prompt').redact(text).text;
  const redactDeep = <T>(value: T): T => safetyOf('tool-results').redactDeep(value);
  const asking = { clock, later, budget, models: parts.models, count: estimateTokens, redact: redactPrompt };
  const ground = { home, config, clock, later, ids, logger, environment, log, crashPoints, closing: closing.signal };
  const outside = { fetch: globalThis.fetch, version: options.version ?? '0', temporaryFolder: tmpdir() };
  const guarded = { facts, panic, policy, gate, workspaces, secrets, budget, checkpoints, safety, sources, redactPrompt, redactDeep };
  return { ...ground, ...outside, ...guarded, ...parts, artifacts, settings, asking };
}

function agentsOf({ config, home }: Base, capsules: ConstructorParameters<typeof AgentRegistry>[0]['capsules']): AgentRegistry {
  const all = { ...config.agents, ...peerAgents(config.a2a.peers) };
  return new AgentRegistry({ agents: all, limits: config.helpers, capsules, readText: (path) => readBelow(home, path) });
}
