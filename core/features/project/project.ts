// Treats the folder a session works in as a project: its instructions in the context pack, its files for mentions, and a git worktree for a
// session. Turns in the configured workspace pay nothing for this feature.

import { closeSync, constants, lstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyEvent } from '../../contracts/events.ts';
import type { Project } from '../../contracts/features/project.ts';
import type { AgentRegistry } from '../../agent/registry/registry.ts';
import type { Caller, OpHandlers, OpParsed } from '../../contracts/ops.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { makeExample } from './example-folder.ts';
import { findFiles } from './find-files.ts';
import type { RunGit } from './git.ts';
import { Instructions, type ProjectFiles } from './instructions.ts';
import { createWorktreeTool, isRepository, Worktrees } from './worktrees.ts';
import type { PermittingRows } from '../../store/session/session.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

/** The project files whose text a person accepted as instructions, as rows derived from the log. Decides nothing. */
const projectMigrations: readonly Migration[] = sqlMigrations({
  'project-001-accepted': 'CREATE TABLE IF NOT EXISTS project_accepted (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL) STRICT, WITHOUT ROWID',
});

const statements = {
  put: 'INSERT OR REPLACE INTO project_accepted (path, sha256) VALUES (?, ?)',
};

class ProjectRows {
  readonly #sql: Statements;

  readonly permits = {
    what: 'The acceptance of the instructions in',
    rows: 'project_accepted',
    key: 'path',
    value: 'sha256',
    events: ['project.accepted', 'project.withdrawn'],
    keyInBody: "json_extract(body, '$.path')",
    valueInBody: "json_extract(body, '$.sha256')",
    undo: 'trayclaw folders withdraw KEY',
  } satisfies PermittingRows;

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  /** Called for every event, inside its transaction. */
  apply(event: AnyEvent): void {
    if (event.type === 'project.accepted') this.#sql.run(statements.put, event.body.path, event.body.sha256);
    if (event.type === 'project.withdrawn') this.#sql.run('DELETE FROM project_accepted WHERE path = ?', event.body.path);
  }

  accepted(path: string): string | null {
    return this.#sql.value<string>('SELECT sha256 FROM project_accepted WHERE path = ?', path) ?? null;
  }
}

type Taken = Pick<Spine, 'config' | 'log' | 'ids' | 'panic' | 'turns' | 'closing' | 'redactPrompt' | 'workspaces' | 'programs'> & {
  readonly agents: Pick<AgentRegistry, 'route'>;
};

const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

export const project = defineBuiltInFeature({
  name: 'project',
  migrations: projectMigrations,
  rows: ({ db }) => new ProjectRows(db),
  create: (spine: Taken, rows: ProjectRows) => {
    const { workspaces, programs, agents } = spine;
    const run: RunGit = (git) => programs.run({ ...git, input: '', outputBytesMax: OUTPUT_BYTES_MAX, withErrors: true });
    const instructions = instructionsOf(spine, rows);
    const worktrees = new Worktrees({ ...spine, run, agents });
    const desk = { ...spine, instructions };
    const handlers = {
      'project.get': ({ folder }) => describe(desk, folder),
      'project.accept': (params, caller) => accept(desk, params, caller),
      'project.withdraw': (params, caller) => withdraw(desk, params, caller),
      'project.files': ({ sessionId, query }, { gone }) => {
        const workspace = sessionId === undefined ? null : (spine.log.index.session(sessionId)?.workspace ?? null);
        return findFiles(workspaces.contextOf(workspace), query, gone);
      },
      'project.example': () => {
        if (spine.panic.engaged) throw new AppError('panic_engaged', 'Nothing is written while everything is stopped.');
        return makeExample(workspaces.configured);
      },
      'worktree.list': async (params) => ({ worktrees: await worktrees.list(params) }),
      'worktree.begin': (params, caller) => worktrees.begin(params, caller),
      'worktree.remove': (params, caller) => worktrees.remove(params, caller),
    } satisfies Partial<OpHandlers>;
    const packSources = spine.config.context.projectFile ? [instructions.accepted, instructions.material] : [];
    return { handlers, packSources, tools: [createWorktreeTool(run)] };
  },
});

interface Desk extends Taken {
  readonly instructions: Instructions;
}

/**
 * Reads instructions only in folders a person opened for a session. In the configured workspace, the agent itself may have written such a
 * file.
 */
function instructionsOf({ log, redactPrompt, workspaces }: Taken, rows: ProjectRows): Instructions {
  return new Instructions({
    files: projectFiles,
    folderOf: (sessionId) => {
      const workspace = log.index.session(sessionId)?.workspace ?? null;
      return workspace !== null && workspaces.holds(workspace) ? workspace : null;
    },
    join,
    redact: redactPrompt,
    accepted: (path) => rows.accepted(path),
  });
}

function describe({ workspaces, instructions }: Desk, given: string): Project {
  const { path, state } = workspaces.look(given);
  const isLooked = state === 'trusted' || state === 'new' || state === 'replaced';
  return {
    folder: path,
    ...(isLooked ? instructions.stateOf(path) : { state: 'none', file: null }),
    isRepository: isLooked && isRepository(path),
  };
}

/** Fails with `denied` if the folder is not trusted, `not_found` if there is no file, and `conflict` if its text has changed since. */
function accept(desk: Desk, { folder, sha256 }: OpParsed<'project.accept'>, { actor }: Caller): Project {
  const found = describe(desk, folder);
  if (!desk.workspaces.holds(found.folder))
    throw new AppError('denied', `${found.folder} is not trusted.`, { hint: `Trust it with: trayclaw folders trust "${found.folder}"` });
  if (found.file === null) throw new AppError('not_found', `There are no instructions in ${found.folder}.`);
  if (found.file.sha256 !== sha256) {
    throw new AppError('conflict', `${found.file.name} changed since you read it.`, { hint: 'Read it again, then accept it.' });
  }
  record(desk, { type: 'project.accepted', body: { path: found.file.path, sha256, by: actor } });
  return describe(desk, folder);
}

function withdraw(desk: Desk, { folder }: OpParsed<'project.withdraw'>, { actor }: Caller): Project {
  const { file } = describe(desk, folder);
  if (file === null) throw new AppError('not_found', `There are no instructions in ${folder}.`);
  record(desk, { type: 'project.withdrawn', body: { path: file.path, by: actor } });
  return describe(desk, folder);
}

function record({ log }: Desk, draft: Parameters<Spine['log']['append']>[1][number]): void {
  log.append(systemSessionId, [draft], true);
}

/** Reads plain files only, because a link could lead out of the folder. */
const projectFiles: ProjectFiles = {
  stamp: (path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true ? `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}` : null;
  },
  read: (path, bytesMax) => {
    try {
      return readBeginning(path, bytesMax);
    } catch {
      // A file that has disappeared or cannot be read is treated as missing.
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
