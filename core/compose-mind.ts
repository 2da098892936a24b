// Composes the model layer: known models, context packs, and summaries of older messages. Read compose.ts first.

import { closeSync, constants, lstatSync, openSync, readSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Redacted } from './base/redacted.ts';
import { systemLater } from './base/later.ts';
import type { PromptText } from './contracts/own-prompts.ts';
import type { AgentRegistry } from './agent/registry/registry.ts';
import { Summarizer } from './mind/compress/compress.ts';
import { ContextPacker, createSystemPrompt, ProjectSource, type PackSource, type ProjectFiles } from './mind/context/context.ts';
import { EngineAccess, estimateTokens, ExactCounters, installedEngine, keptHealth, ModelLearning, ModelRouter } from './mind/llm/llm.ts';
import { isSkillModel } from './features/skills/skills.ts';
import { childEnvironment, type EnvironmentMarker, type ProcessTrees } from './hands/tools/tools.ts';
import { Compaction, createAskSummary } from './runtime/compaction/compaction.ts';
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
  const { config, lifetimes, clock, logger, environment } = base;
  const learning = new ModelLearning({ db: storage.db, clock, counters: new ExactCounters(logger) });
  lifetimes.defer(() => void learning.save());
  const models = new ModelRouter({
    config,
    secrets,
    clock,
    logger,
    learned: learning,
    refusedWords: learning.refusedWords,
    health: keptHealth(storage.db),
    environment,
    engine,
    formerModel: () => newestModel(log),
  });
  lifetimes.defer(() => {
    models.save();
    return models.close();
  });
  settings.useAtOnce(['models', 'providers'], (now) => {
    models.configure(now);
  });
  return { models, learning };
}

interface Shown extends ReturnType<typeof composeModels> {
  /** Instructions of the program's own, as the person left them. */
  readonly prompt: PromptText;
  /** The features' sections of a pack. */
  readonly packSources: readonly PackSource[];
}

export function composeMind(base: Base, store: Store, guard: Guard, { models, learning, prompt, packSources }: Shown) {
  const { config, clock, safetyOf } = base;
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
  const sources = config.context.projectFile ? [composeProject(base, store, guard), ...packSources] : packSources;
  return { models, packer, learning, packSources: sources, prompt };
}

/** Of folders a person let a session work in. In the configured workspace the agent itself may have written such a file. */
function composeProject({ safetyOf }: Base, { log }: Store, { workspaces }: Guard): PackSource {
  return new ProjectSource({
    files: projectFiles,
    folderOf: (sessionId) => {
      const workspace = log.index.session(sessionId)?.workspace ?? null;
      return workspace !== null && workspaces.holds(workspace) ? workspace : null;
    },
    join,
    redact: (whole) => safetyOf('prompt').redact(whole).text,
  });
}

/** Plain files alone: a link could lead out of the folder. */
const projectFiles: ProjectFiles = {
  stamp: (path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true ? `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}` : null;
  },
  read: (path, bytesMax) => {
    try {
      return readBeginning(path, bytesMax);
    } catch {
      // Gone, or not to be read: as if it were not there.
      return null;
    }
  },
};

function readBeginning(path: string, bytesMax: number): string {
  const handle = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const bytes = Buffer.alloc(bytesMax);
    return bytes.subarray(0, readSync(handle, bytes, 0, bytesMax, 0)).toString('utf8');
  } finally {
    closeSync(handle);
  }
}

/** The model of the newest turn with one; null before the first. Reads a few sessions, only if no model is known. */
function newestModel({ index, reads }: Store['log']): string | null {
  const sessions = index.sessions({ archived: false, limit: SESSIONS_LOOKED_AT }).toSorted((a, b) => b.updatedAtMs - a.updatedAtMs);
  for (const { sessionId } of sessions) {
    const turns = reads.slice(sessionId, { types: ['turn.started'], limit: TURNS_LOOKED_AT, newest: true });
    for (const turn of turns.toReversed())
      if (turn.type === 'turn.started' && turn.body.model !== null && !isSkillModel(turn.body.model)) return turn.body.model;
  }
  return null;
}

const SESSIONS_LOOKED_AT = 50;
const TURNS_LOOKED_AT = 5;

export type Mind = ReturnType<typeof composeMind>;

// eslint-disable-next-line max-params -- one parameter a floor
export function composeCompaction(
  base: Base,
  { log, continuity }: Store,
  { panic, budget }: Guard,
  mind: Mind & { readonly agents: AgentRegistry },
  turns: TurnRuntime,
): Compaction {
  const { config, clock, ids, logger, lifetimes, safety, safetyOf } = base;
  const { agents, models, prompt } = mind;
  const { summaries } = config.context;
  const count = estimateTokens;
  const compaction = new Compaction({
    clock,
    ids,
    later: systemLater,
    logger,
    config: summaries,
    panic,
    onCommitted: (listener) => log.onCommitted(listener),
    openJobs: () => continuity.openJobs(),
    unsummed: (sessionId) => turns.conversations.unsummed(sessionId),
    conversation: (sessionId) => turns.conversations.whole(sessionId),
    model: (sessionId) => {
      const session = log.index.session(sessionId);
      const reader = session === null ? null : (session.model ?? agents.modelOf(session.agentId) ?? models.defaultRef());
      const ref = summaries.model ?? reader;
      if (ref === null || reader === null) return null;
      return { ref, contextTokens: Math.min(models.info(ref).contextTokens, models.info(reader).contextTokens) };
    },
    record: (sessionId, drafts) => void turns.record(sessionId, drafts),
    write: (job, place, { signal, onSpent }) => {
      const redact = (said: string): Redacted => safetyOf('prompt').redact(said).text;
      const asking = createAskSummary({ clock, later: systemLater, budget, models, count, redact }, place);
      const ask = summaries.mode === 'model' ? asking : () => Promise.resolve({ refused: 'the settings want no model for it' });
      return new Summarizer({ count, ask, prompt, onSpent }).write(job, signal);
    },
    redact: (text) => safety.redact(text).text,
  });
  return lifetimes.add(compaction);
}
