// The skills feature: instructions for kinds of work. Skills are found in folders, read, linted, trusted by a person, shortlisted for a
// task and opened within bounds. The steps of composed skills are calls of a subagent.

import { closeSync, existsSync, mkdirSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { coversHost, hostsInText } from '../../base/hosts-in-text.ts';
import { isInside } from '../../base/inside-folder.ts';
import { makeFolders } from '../../base/make-folders.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import type { FactContext, ScriptBounds } from '../../contracts/tools.ts';
import { outsideArchive } from '../../guard/sandbox/sandbox.ts';
import { realOf } from '../../guard/workspace/workspace.ts';
import { type ModelPort, withOwnModels } from '../../runtime/turns/turns.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { createSkillOps } from './ops.ts';
import { skillMigrations, SkillRows } from './rows.ts';
import { SkillBook, type SkillRoot } from './skill-book.ts';
import { importSkills } from './skill-import.ts';
import { ProgramFinder } from './skill-needs.ts';
import { SkillReader } from './skill-reader.ts';
import { isSkillModel, type RunHelpers, SkillRuns } from './skill-runs.ts';
import { createSkillShelf, type SkillShelf } from './skill-shelf.ts';
import { createSkillSources } from './skill-sources.ts';
import { SkillWatch } from './skill-watch.ts';
import { createSkillTool } from './tool.ts';

export { isSkillModel } from './skill-runs.ts';

type Taken = Pick<
  Spine,
  | 'config'
  | 'clock'
  | 'later'
  | 'ids'
  | 'logger'
  | 'log'
  | 'environment'
  | 'facts'
  | 'panic'
  | 'checkpoints'
  | 'tools'
  | 'sources'
  | 'workspaces'
> & {
  readonly helpers: Omit<RunHelpers, 'sourcesOf'>;
  /** The skills that were installed only for others that are gone, according to the store's rows. */
  readonly unneeded: (shelf: Pick<SkillShelf, 'standing' | 'usersOf'>) => string[];
};

/** Extra time beyond a subagent's limit, so that its end can be reported. */
const RUN_GRACE_MS = 60_000;

export const skills = defineBuiltInFeature({
  name: 'skills',
  migrations: skillMigrations,
  rows: ({ db }) => new SkillRows(db),
  create: (spine: Taken, rows: SkillRows) => {
    const { config, clock, later, ids, logger, log, environment, facts, tools, helpers } = spine;
    const record = (sessionId: string, drafts: readonly AnyDraft[]): void => void log.append(sessionId, drafts);
    const finder = new ProgramFinder(environment, process.platform);
    const own = join(facts.workspace, 'skills');
    const roots = skillRoots(config.skills.folders, facts, own);
    const book = new SkillBook({
      roots,
      rows,
      clock,
      logger,
      record,
      config: config.skills,
      openedAround: (folder) => spine.workspaces.openedAround(folder),
      around: { platform: process.platform, environment, config, hasProgram: (name) => finder.has(name) },
      tools: namesOf(() => tools.schemas()),
    });
    const reader = new SkillReader({
      skills: book,
      record,
      config: config.skills,
      today: () => new Date(clock.nowMs()).toISOString().slice(0, 10),
      disabled: () => rows.disabled,
      openedIn: (turnId) => rows.openedIn(turnId),
    });
    const runs = new SkillRuns({
      skills: book,
      assertUsable: (name) => reader.assertUsable(name),
      depthMax: config.skills.depth,
      helpers: runHelpers(helpers, spine.sources),
      nextCallId: () => ids.next('call'),
    });
    const shelf = createSkillShelf(book, own, (name) => rows.turnsWith(name));
    const reload = () => {
      finder.forget();
      return book.reload();
    };
    const watch = new SkillWatch({ roots, logger, later, reload, folders: () => book.folders });
    const runMs = Math.round(config.helpers.minutes * 60_000) + RUN_GRACE_MS;
    return {
      handlers: createSkillOps({ ...spine, skills: book, importSkills: importInto(own), unneeded: () => spine.unneeded(shelf) }),
      tools: [createSkillTool({ find: (query) => find(book, query), reader, runs }, runMs)],
      packSources: createSkillSources({ skills: book, reader }),
      gives: {
        shelf,
        skills: book,
        refusesFiles: (paths: readonly string[]) => book.refusalOf(paths),
        boundsOfFiles: (paths: readonly string[]) => scriptBounds(book, paths, facts.workspace),
      },
      runsAsModels: (models: ModelPort) =>
        // The steps of a composed skill answer its runs. Rejects if they fail, as a model call does.
        withOwnModels(models, isSkillModel, async (ref, { messages }) => ({ ...runs.reply(ref, messages), firstTokenMs: null })),
      begin: () => {
        watch.start();
      },
      dispose: () => {
        watch.dispose();
        // Saved here, not during a turn. After a kill, the next start reads the files again.
        book.save();
      },
    };
  },
});

/** Returns the same set while the list stays the same. */
function namesOf(list: () => readonly { readonly name: string }[]): () => ReadonlySet<string> {
  let last: { readonly of: readonly { readonly name: string }[]; readonly names: ReadonlySet<string> } | null = null;
  return () => {
    const now = list();
    if (last?.of !== now) last = { of: now, names: new Set(now.map(({ name }) => name)) };
    return last.names;
  };
}

function runHelpers(queue: Omit<RunHelpers, 'sourcesOf'>, sources: Spine['sources']): RunHelpers {
  return {
    call: (from, wanted) => queue.call(from, wanted),
    whenFinished: (jobId, signal) => queue.whenFinished(jobId, signal),
    modelsAbove: (turnId) => queue.modelsAbove(turnId),
    sourcesOf: (sessionId) => sources.ofSession(sessionId),
  };
}

function importInto(own: string): (wish: Omit<Parameters<typeof importSkills>[0], 'into'>) => ReturnType<typeof importSkills> {
  return (wish) => {
    makeFolders({ mkdirSync, statSync }, own);
    return importSkills({ ...wish, into: own });
  };
}

function find(skillBook: SkillBook, query: string | null): ReturnType<SkillBook['list']> {
  const all = skillBook.list().filter(({ isOffered }) => isOffered);
  if (query === null) return all;
  const known = new Set(all.flatMap(({ tools }) => tools));
  return skillBook.shortlist(query, known, 10).map(({ name }) => skillBook.listed(name));
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

/** The folder in the checkout, next to dist/, or in the package. Null if the bundled skills are not included. */
export function bundledSkills(): string | null {
  const here = import.meta.url;
  const up = here.endsWith('.ts') ? '../../../skills' : here.includes('/chunks/') ? '../../skills' : '../skills';
  const folder = outsideArchive(fileURLToPath(new URL(up, here)));
  return existsSync(folder) ? realpathSync(folder) : null;
}

// Computes the bounds of a skill's script: the declarations in the front matter, and the hosts that the script's text names. Reads files;
// decides nothing.

const SCRIPT_BYTES_MAX = 1_000_000;

/** The bounds of the first skill that owns one of the paths, or null if none does. */
function scriptBounds(book: Pick<SkillBook, 'owning'>, paths: readonly string[], workspace: string): ScriptBounds | null {
  for (const path of paths) {
    const skill = book.owning(path);
    if (skill === null) continue;
    const { head, folder } = skill;
    const { name, hosts, folders, tools } = head;
    const commands = [...head.needs.bins, ...head.needs.anyBins];
    const named = paths.filter((one) => isInside(one, folder)).flatMap((one) => [...hostsInText(textOf(one))]);
    return {
      skill: name,
      hosts,
      folders: folders.map((one) => realOf(placeOf(one, workspace))),
      commands,
      runsCommands: tools.length === 0 || tools.includes('exec'),
      ownFolder: folder,
      undeclaredHosts: [...new Set(named)].filter((host) => !coversHost(hosts, host)).sort(),
      isDeclared: [hosts, folders, commands, tools].some((declared) => declared.length > 0),
    };
  }
  return null;
}

function placeOf(folder: string, workspace: string): string {
  if (folder === '~' || /^(?:~|\$HOME)\//.test(folder)) return join(homedir(), folder.replace(/^(?:~|\$HOME)\/?/, ''));
  return resolve(workspace, folder);
}

/** The beginning of the file. Empty if the file cannot be read; it cannot be run then either. */
function textOf(path: string): string {
  try {
    const handle = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(SCRIPT_BYTES_MAX);
      return bytes.toString('utf8', 0, readSync(handle, bytes, 0, SCRIPT_BYTES_MAX, 0));
    } finally {
      closeSync(handle);
    }
  } catch {
    return '';
  }
}
