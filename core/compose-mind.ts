// Composes the model layer: known models, context packs, and summaries of older messages. Read compose.ts first.

import { homedir } from 'node:os';
import { systemLater } from './base/later.ts';
import type { PromptText } from './contracts/own-prompts.ts';
import type { AgentRegistry } from './agent/registry/registry.ts';
import { ContextPacker, createSystemPrompt, type PackSource } from './mind/context/context.ts';
import {
  EngineAccess,
  estimateTokens,
  ExactCounters,
  installedEngine,
  keptHealth,
  ModelLearning,
  ModelRouter,
  newestModel,
  PriceBook,
} from './mind/llm/llm.ts';
import { isSkillModel } from './features/skills/skills.ts';
import { childEnvironment, type EnvironmentMarker, type ProcessTrees } from './hands/tools/tools.ts';
import { createCompaction, type Compaction } from './runtime/compaction/compaction.ts';
import type { TurnRuntime } from './runtime/turns/turns.ts';
import type { Base, Store } from './compose-base.ts';
import type { Guard } from './compose-guard.ts';

/** The engine for GGUF files: its children end with the panic stop like every other, and get no key of the person's. */
export function composeEngine({ home, clock, logger, environment, options, lifetimes }: Base, { trees, instanceMarker }: EngineHands) {
  return lifetimes.add(
    new EngineAccess({
      home,
      userHome: homedir(),
      library: () => installedEngine(home),
      start: options.startChild,
      environment: () => childEnvironment(environment, instanceMarker, process.platform),
      track: (pid) => trees.track({ ...trees.recordOf(pid), marker: instanceMarker }),
      clock,
      later: systemLater,
      logger,
    }),
  );
}

interface EngineHands {
  readonly trees: ProcessTrees;
  readonly instanceMarker: EnvironmentMarker;
}

/** Before the turns, which end first: a model that is cut off by the end of the program is no failure of its turn. */
export function composeModels(base: Base, { storage, log, settings }: Store, { secrets }: Guard, engine: EngineAccess) {
  const { home, lifetimes, clock, logger } = base;
  const learning = new ModelLearning({ db: storage.db, clock, counters: new ExactCounters(logger) });
  lifetimes.defer(() => void learning.save());
  const prices = new PriceBook(home);
  const models = new ModelRouter({
    ...base,
    secrets,
    learned: learning,
    refusedWords: learning.refusedWords,
    health: keptHealth(storage.db),
    engine,
    prices,
    formerModel: () => newestModel(log, (model) => !isSkillModel(model)),
  });
  lifetimes.defer(() => {
    models.save();
    return models.close();
  });
  settings.useAtOnce(['models', 'providers'], (now) => {
    models.configure(now);
  });
  return { models, learning, prices };
}

interface Shown extends ReturnType<typeof composeModels> {
  /** Instructions of the program's own, as the person left them. */
  readonly prompt: PromptText;
  /** The features' sections of a pack. */
  readonly packSources: readonly PackSource[];
}

export function composeMind(base: Base, store: Store, guard: Guard, { models, learning, prompt, packSources }: Shown) {
  const { clock, safetyOf } = base;
  const { safeArtifacts } = store;
  const { workspace } = guard.facts;
  const system = createSystemPrompt({
    workspace,
    platform: process.platform,
    nowMs: () => clock.nowMs(),
    template: () => prompt('trayclaw-system'),
  });
  const packer = new ContextPacker({
    estimate: estimateTokens,
    meter: learning,
    system,
    redact: (text) => safetyOf('prompt').redact(text).text,
    secretsVersion: () => safetyOf('prompt').version,
    readAttachment: (sha256, lengthMax) => safeArtifacts.read(sha256, { offset: 0, length: lengthMax }),
  });
  return { models, packer, learning, packSources, prompt };
}

export type Mind = ReturnType<typeof composeMind>;

export function composeCompaction(base: Base, store: Store, guard: Guard, { mind, agents, turns }: Compacted): Compaction {
  const { config, safety, safetyOf } = base;
  const { models, prompt } = mind;
  return base.lifetimes.add(
    createCompaction({
      ...base,
      ...store,
      ...guard,
      config: config.context.summaries,
      later: systemLater,
      count: estimateTokens,
      agents,
      models,
      prompt,
      unsummed: (sessionId) => turns.conversations.unsummed(sessionId),
      conversation: (sessionId) => turns.conversations.whole(sessionId),
      record: (sessionId, drafts) => void turns.record(sessionId, drafts),
      redact: (text) => safety.redact(text).text,
      redactPrompt: (said) => safetyOf('prompt').redact(said).text,
    }),
  );
}

interface Compacted {
  readonly mind: Mind;
  readonly agents: AgentRegistry;
  readonly turns: TurnRuntime;
}
