// Composes the features in order: a feature is created after the ones it needs, and receives them as arguments. Read compose.ts first.

import { systemLater } from './base/later.ts';
import { AgentRegistry } from './agent/registry/registry.ts';
import type { Spine, Wing } from './features/feature.ts';
import { deadLetters } from './features/dead-letters/dead-letters.ts';
import { delegate } from './features/delegate/delegate.ts';
import { engine } from './features/engine/engine.ts';
import { governor } from './features/governor/governor.ts';
import { helpers } from './features/helpers/helpers.ts';
import { hooks } from './features/hooks/hooks.ts';
import { identity } from './features/identity/identity.ts';
import { memory } from './features/memory/memory.ts';
import { opinions } from './features/opinions/opinions.ts';
import { plugins } from './features/plugins/plugins.ts';
import { schedule } from './features/schedule/schedule.ts';
import { signals } from './features/signals/signals.ts';
import { skills } from './features/skills/skills.ts';
import { telegram } from './features/telegram/telegram.ts';
import { usage } from './features/usage/usage.ts';
import { values } from './features/values/values.ts';
import { verify } from './features/verify/verify.ts';
import type { AskingDeps } from './mind/asking/asking.ts';
import { estimateTokens, type EngineAccess, type ModelRouter } from './mind/llm/llm.ts';
import { runProgram, type ProcessTrees } from './hands/tools/tools.ts';
import { DeferredTurns } from './runtime/turns/turns.ts';
import { readBelow, type Base, type Store } from './compose-base.ts';
import type { Guard } from './compose-guard.ts';

interface Hands extends Pick<Spine, 'tools' | 'outbox' | 'instanceMarker'> {
  readonly trees: ProcessTrees;
  readonly models: ModelRouter;
  readonly engine: EngineAccess;
}

/** Features are disposed in reverse order of creation; those that turns depend on outlive the turns, the others do not. */
export function composeFeatures(base: Base, store: Store, guard: Guard, hands: Hands) {
  const { options, lifetimes, safetyOf } = base;
  const { rows } = store;
  const turns = new DeferredTurns();
  const spine = spineOf(base, store, guard, { ...hands, turns });
  const all: Wing[] = [];
  const add = <W extends Wing>(wing: W): W => {
    all.push(wing);
    lifetimes.defer(() => wing.dispose?.());
    return wing;
  };
  const identities = add(identity.create(spine, rows.identity, options.prompts ?? {}));
  const agents = agentsOf(base, identities.capsules);
  const run = runHook(base, guard, hands);
  const redactDeep = <T>(value: T): T => safetyOf('tool-results').redactDeep(value);
  const hook = add(hooks.create(spine, null, { library: options.hooks ?? [], run, redactDeep }));
  const asking = askingOf(base, guard, hands.models);
  const verifying = add(verify.create(spine, null, { asking, run, redactDeep }));
  const governing = add(governor.create(spine, null));
  add(delegate.create(spine, null));
  const engined = add(engine.create(spine, null, hands.engine)).handlers;
  const remembering = add(memory.create(spine, rows.memory, options, hands.engine));
  lifetimes.defer(() => endTurns(turns, hands.trees));
  const helping = add(helpers.create(spine, rows.helpers, { agents, prompt: identities.prompt }));
  const skilled = add(skills.create(spine, rows.skills, helping.queue));
  const signalled = add(signals.create(spine, rows.signals));
  const scheduled = add(schedule.create(spine, rows.schedule, { prompt: identities.prompt, signals: signalled.hub }));
  const letters = add(deadLetters.create(spine, rows.deadLetters));
  const bot = add(telegram.create(spine, rows.telegram, options.wait));
  const counted = add(usage.create(spine, rows.usage, (line) => safetyOf('app-log').redactJson(line).text));
  const doubting = add(opinions.create(spine, null, { asking, models: hands.models }));
  const plugged = add(plugins.create(spine, rows.plugins, { files: store.pluginFiles, book: store.pluginBook }));
  return {
    spine,
    turns,
    agents,
    all,
    identity: identities,
    hooks: hook,
    verifier: verifying.port,
    governor: governing.port,
    helpers: helping,
    skills: skilled,
    signals: signalled,
    telegram: bot,
    usage: counted,
    tools: all.flatMap((wing) => wing.tools ?? []),
    packSources: all.flatMap((wing) => wing.packSources ?? []),
    checks: all.flatMap((wing) => wing.checks ?? []),
    channels: [...all.flatMap((wing) => wing.channels ?? []), ...(options.channels ?? [])],
    handlers: {
      ...identities.handlers,
      ...remembering.handlers,
      ...helping.handlers,
      ...skilled.handlers,
      ...signalled.handlers,
      ...scheduled.handlers,
      ...letters.handlers,
      ...bot.handlers,
      ...counted.handlers,
      ...plugged.handlers,
      ...governing.handlers,
      ...doubting.handlers,
      ...engined,
      ...add(values.create(spine, null, { asking, redactDeep })).handlers,
    },
  };
}

async function endTurns(turns: DeferredTurns, trees: ProcessTrees): Promise<void> {
  await turns.dispose();
  await trees.killAll();
}

export type Features = ReturnType<typeof composeFeatures>;

function spineOf(base: Base, store: Store, guard: Guard, parts: Pick<Spine, 'tools' | 'turns' | 'outbox' | 'instanceMarker'>): Spine {
  const { home, config, clock, ids, logger, environment, safety, safetyOf, crashPoints, closing } = base;
  const { log, marks, policy, safeArtifacts: artifacts, settings } = store;
  const { facts, panic, secrets, budget, checkpoints } = guard;
  const ground = { home, config, clock, later: systemLater, ids, logger, environment, log, crashPoints, closing: closing.signal };
  const sources: Spine['sources'] = {
    ofSession: (sessionId) => marks.session(sessionId)?.sources ?? [],
    ofFile: (path) => (marks.writerOf(path) === null ? [] : [{ kind: 'file', where: path }]),
  };
  const redactPrompt = (text: string): string => safetyOf('prompt').redact(text).text;
  const guarded = { facts, panic, policy, secrets, budget, checkpoints, safety, sources, redactPrompt };
  return { ...ground, ...guarded, artifacts, settings, ...parts };
}

/** Dependencies for asking a model outside the conversation of a turn. */
function askingOf({ clock, safetyOf }: Base, { budget }: Guard, models: ModelRouter): AskingDeps {
  return { clock, later: systemLater, budget, models, count: estimateTokens, redact: (text) => safetyOf('prompt').redact(text).text };
}

function agentsOf({ config, home }: Base, capsules: ConstructorParameters<typeof AgentRegistry>[0]['capsules']): AgentRegistry {
  return new AgentRegistry({ agents: config.agents, limits: config.helpers, capsules, readText: (path) => readBelow(home, path) });
}

const HOOK_OUTPUT_BYTES_MAX = 64 * 1024;

/** Marked as a call is: a command line started by a hook may not answer for a person either. */
function runHook({ ids, environment }: Base, { facts, sandbox }: Guard, { trees, instanceMarker }: Hands): HookRunner {
  const programs = { trees, sandbox, environment, platform: process.platform };
  return (argv, input, { timeoutMs, signal }) =>
    runProgram(programs, {
      argv,
      input,
      timeoutMs,
      signal,
      cwd: facts.workspace,
      marker: { ...instanceMarker, TRAYCLAW_CALL: ids.next('evt') },
      outputBytesMax: HOOK_OUTPUT_BYTES_MAX,
    });
}
type HookRunner = Parameters<typeof hooks.create>[2]['run'];
