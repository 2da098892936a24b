// The part of the composition about what the agent knows how to do and who it is: skills, identities, prompt files. Read compose.ts first.

import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolders } from './base/make-folders.ts';
import { systemLater } from './base/later.ts';
import { AppError } from './contracts/errors.ts';
import type { AnyDraft } from './contracts/events.ts';
import type { FactContext } from './contracts/tools.ts';
import { GuardedFetch } from './guard/egress/egress.ts';
import { outsideArchive } from './guard/sandbox/sandbox.ts';
import { createSkillTool, type SkillPort, type ToolHost } from './hands/tools/tools.ts';
import { IdentityBook, PromptBook } from './mind/identity/identity.ts';
import {
  createSkillSources,
  importSkills,
  isSkillModel,
  ProgramFinder,
  SkillBook,
  SkillReader,
  SkillRuns,
  SkillWatch,
  type RunHelpers,
  type SkillRoot,
} from './mind/skill/skill.ts';
import type { ModelPort } from './runtime/turns/turns.ts';
import type { ModelReply } from './contracts/llm.ts';
import { realOf, type Base, type Store } from './compose-base.ts';

const PROMPT_BYTES_MAX = 200_000;
/** Beyond the time of a helper, for its end to be told. */
const RUN_GRACE_MS = 60_000;

/** They lie beside the program: in the checkout, beside dist/, or in the package. Null where somebody left them out. */
export function bundledSkills(): string | null {
  const here = import.meta.url;
  const folder = outsideArchive(fileURLToPath(new URL(here.includes('/chunks/') ? '../../skills' : '../skills', here)));
  return existsSync(folder) ? realpathSync(folder) : null;
}

/** Tools know the skills and skills know the tools: the host is handed in when it is there. */
export function composeSkills(base: Base, store: Store, facts: FactContext) {
  const { clock, ids, logger, environment, config, lifetimes } = base;
  const { log, skillRows: rows } = store;
  let host: Pick<ToolHost, 'schemas'> | null = null;
  const record = (sessionId: string, drafts: readonly AnyDraft[]): void => void log.append(sessionId, drafts);
  const finder = new ProgramFinder(environment, process.platform);
  const own = join(facts.workspace, 'skills');
  const roots = skillRoots(config.skills.folders, facts, own);
  const skills = new SkillBook({
    roots,
    rows,
    clock,
    logger,
    record,
    config: config.skills,
    around: { platform: process.platform, environment, config, hasProgram: (name) => finder.has(name) },
    tools: () => new Set(host?.schemas().map(({ name }) => name) ?? []),
  });
  const reader = new SkillReader({
    skills,
    record,
    config: config.skills,
    today: () => new Date(clock.nowMs()).toISOString().slice(0, 10),
    disabled: () => rows.disabled,
    openedIn: (turnId) => rows.openedIn(turnId),
  });
  let helpers: RunHelpers | null = null;
  const runs = new SkillRuns({
    skills,
    assertUsable: (name) => reader.assertUsable(name),
    depthMax: config.skills.depth,
    helpers: () => {
      if (helpers === null) throw new AppError('shutting_down', 'Skills cannot be run yet.');
      return helpers;
    },
    nextCallId: () => ids.next('call'),
  });
  const watch = lifetimes.add(
    new SkillWatch({
      roots,
      logger,
      later: systemLater,
      reload: () => {
        finder.forget();
        return skills.reload();
      },
    }),
  );
  return {
    skills,
    runs,
    tool: createSkillTool(toolPort(skills, reader, runs), Math.round(config.helpers.minutes * 60_000) + RUN_GRACE_MS),
    meetHelpers: (queue: RunHelpers) => {
      helpers = queue;
    },
    sources: createSkillSources({ skills, reader, record }),
    refusesFiles: (paths: readonly string[]) => skills.refusalOf(paths),
    importSkills: (wish: Omit<Parameters<typeof importSkills>[0], 'into'>) => {
      makeFolders({ mkdirSync, statSync }, own);
      return importSkills({ ...wish, into: own });
    },
    meetTools: (tools: Pick<ToolHost, 'schemas'>) => {
      host = tools;
    },
    /** From here on changes are noticed; not for a look at the data. */
    begin: (resumes = true) => {
      if (resumes) watch.start();
    },
  };
}
export type Skills = ReturnType<typeof composeSkills>;

/** The models as turns see them: a run of a skill is answered by its steps, everything else by the models. */
export function withSkillRuns(models: ModelPort, runs: SkillRuns): ModelPort {
  return {
    defaultRef: () => models.defaultRef(),
    defaultChoice: () => models.defaultChoice(),
    info: (ref) => (isSkillModel(ref) ? runs.info(ref) : models.info(ref)),
    askWindow: (ref, signal) => (isSkillModel(ref) ? null : (models.askWindow?.(ref, signal) ?? null)),
    cost: (ref, usage) => (isSkillModel(ref) ? 0 : models.cost(ref, usage)),
    stream: (ref, request, sink, options) =>
      isSkillModel(ref) ? streamSteps(() => runs.reply(ref, request.messages)) : models.stream(ref, request, sink, options),
  };
}

/** Rejects where the steps fail, as a model does. */
async function streamSteps(reply: () => ModelReply) {
  return Promise.resolve({ ...reply(), firstTokenMs: null });
}

function toolPort(skills: SkillBook, reader: SkillReader, runs: SkillRuns): SkillPort {
  return {
    find: (query) => {
      const all = skills.list().filter(({ isOffered }) => isOffered);
      if (query === null) return all;
      const known = new Set(all.flatMap(({ tools }) => tools));
      return skills.shortlist(query, known, 10).map(({ name }) => skills.listed(name));
    },
    open: (name, place) => reader.open(name, place),
    read: (name, file, offset, place) => reader.read(name, file, offset, place),
    run: (name, input, place) => runs.run(name, input, place),
  };
}

function skillRoots(folders: readonly string[], { workspace }: FactContext, own: string): SkillRoot[] {
  const bundled = bundledSkills();
  return [
    { path: own, origin: 'workspace' },
    { path: join(workspace, '.agents', 'skills'), origin: 'workspace' },
    { path: join(homedir(), '.agents', 'skills'), origin: 'person' },
    ...folders.map((folder): SkillRoot => ({ path: realOf(resolve(workspace, folder)), origin: 'folder' })),
    ...(bundled === null ? [] : [{ path: bundled, origin: 'bundled' } as const]),
  ];
}

export function composeIdentity(base: Base, store: Store) {
  const { clock, home, config, agents, safety, options } = base;
  const { timeoutMs } = config.web;
  const quick = Math.min(timeoutMs, 10_000);
  const limits = { connectMs: quick, headersMs: quick, idleMs: quick, totalMs: timeoutMs, bytesMax: PROMPT_BYTES_MAX };
  const http = new GuardedFetch({ judge: safety, limits });
  const record = (sessionId: string, drafts: readonly AnyDraft[]): void => void store.log.append(sessionId, drafts, true);
  const prompts = new PromptBook({
    own: options.prompts ?? {},
    folder: join(home, 'prompts'),
    sources: config.prompts,
    record,
    fetchText: async (url, signal) => {
      const answer = await http.fetch({ url, headers: { accept: 'text/markdown, text/plain;q=0.9' } }, signal);
      if (answer.status === 200 && !answer.isCut && answer.redirectTo === null) return answer.body.toString('utf8');
      const what = answer.isCut ? 'gave too much' : answer.redirectTo === null ? `answered ${answer.status}` : 'leads to another host';
      throw new AppError('fetch_failed', `The source of the prompt ${what}.`);
    },
  });
  const identity = new IdentityBook({
    rows: store.identityRows,
    clock,
    prompts,
    record,
    assertAgent: (agentId) => {
      agents.assertKnown(agentId);
    },
  });
  agents.describeBy(identity);
  return { identity, prompts };
}
