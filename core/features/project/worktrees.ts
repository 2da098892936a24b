// Git worktrees of sessions: begins a session in a new worktree, lists worktrees, removes one. Every change is a call of the worktree tool,
// which passes the gate. This module checks beforehand whether the call can work and what it would lose.

import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { AgentRegistry } from '../../agent/registry/registry.ts';
import { isBelow, isInside } from '../../base/inside-folder.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { AppError } from '../../contracts/errors.ts';
import { type Worktree, worktreeTool } from '../../contracts/features/project.ts';
import type { Caller, OpParsed, OpResult } from '../../contracts/ops.ts';
import type { CallFacts, FactContext, ToolContext, ToolDefinition } from '../../contracts/tools.ts';
import type { Workspaces } from '../../guard/workspace/workspace.ts';
import { defineTool, protectionOf } from '../../hands/tools/tools.ts';
import type { Spine } from '../feature.ts';
import { addWorktree, type GitPlace, isOnNoBranch, listWorktrees, removeWorktree, type RunGit, uncommittedIn, worktreesOf } from './git.ts';

export interface WorktreeDeps extends Pick<Spine, 'log' | 'ids' | 'turns' | 'closing'> {
  readonly run: RunGit;
  readonly workspaces: Pick<Workspaces, 'look' | 'holds'>;
  readonly agents: Pick<AgentRegistry, 'route'>;
}

const NAME_CHARS_MAX = 40;

export class Worktrees {
  readonly #deps: WorktreeDeps;

  constructor(deps: WorktreeDeps) {
    this.#deps = deps;
  }

  async begin({ folder, name = '' }: OpParsed<'worktree.begin'>, { channel }: Caller): Promise<OpResult<'worktree.begin'>> {
    const { ids, turns, log } = this.#deps;
    const repository = this.#trusted(folder);
    if (!isRepository(repository)) {
      throw new AppError('invalid_params', `${repository} is not the top folder of a git repository.`, {
        hint: 'Name the folder that holds .git, or work in the folder itself.',
      });
    }
    const short = `${nameOf(name)}-${randomBytes(3).toString('hex')}`;
    const path = join(worktreesOf(repository), short);
    const branch = `trayclaw/${short}`;
    const sessionId = ids.next('ses');
    const agentId = this.#deps.agents.route({ channel, chatId: null });
    const body = { title: name, agentId, channel, forkedFrom: null, workspace: path };
    const args = JSON.stringify({ action: 'add', repository, path, branch });
    const before = [{ type: 'session.created' as const, body }];
    const begun = turns.runTool({ sessionId, agentId, channel, workspace: repository, tool: worktreeTool, args, before });
    const end = await turns.whenResting(begun.turnId);
    const waiting = end?.finished === undefined;
    if (!waiting && !existsSync(path)) throw this.#failure(log, begun);
    return { sessionId, turnId: begun.turnId, path, branch, waiting };
  }

  async list({ folder }: OpParsed<'worktree.list'>): Promise<Worktree[]> {
    const repository = this.#trusted(folder);
    if (!isRepository(repository)) return [];
    const listed = await listWorktrees(this.#deps.run, this.#place(repository, repository));
    const own = listed.filter(({ path }) => isInside(path, worktreesOf(repository)) && existsSync(path));
    return Promise.all(own.map((one) => this.#describe(one, repository)));
  }

  async remove({ path: given, discard = false }: OpParsed<'worktree.remove'>, { channel }: Caller): Promise<OpResult<'worktree.remove'>> {
    const { log, turns, ids } = this.#deps;
    const path = this.#trusted(given);
    const holder = dirname(path);
    const repository = dirname(dirname(holder));
    if (holder !== worktreesOf(repository) || !isRepository(repository)) {
      throw new AppError('invalid_params', `${path} is not a worktree that TrayClaw added.`, { hint: 'See: trayclaw worktrees list' });
    }
    this.#trusted(repository);
    const busy = log.index.openTurns().find(({ sessionId }) => log.index.session(sessionId)?.workspace === path);
    if (busy !== undefined) {
      throw new AppError('conflict', `The session ${busy.sessionId} is at work in ${path}.`, { hint: 'Stop it first.' });
    }
    if (!discard) await assertNothingLost(this.#deps.run, this.#place(path, repository));
    const agentId = this.#deps.agents.route({ channel, chatId: null });
    const known = this.#sessionIn(path);
    const sessionId = known ?? ids.next('ses');
    const opening = { title: 'Worktrees', agentId, channel, forkedFrom: null, workspace: repository };
    const before = known === null ? [{ type: 'session.created' as const, body: opening }] : [];
    const args = JSON.stringify({ action: 'remove', repository, path, discard });
    const begun = turns.runTool({ sessionId, agentId, channel, workspace: repository, tool: worktreeTool, args, before });
    const end = await turns.whenResting(begun.turnId);
    const waiting = end?.finished === undefined;
    if (!waiting && existsSync(path)) throw this.#failure(log, begun);
    return { path, waiting };
  }

  async #describe({ path, branch }: Pick<Worktree, 'path' | 'branch'>, repository: string): Promise<Worktree> {
    const { run } = this.#deps;
    const place = this.#place(path, repository);
    const [uncommitted, isDetached] = await Promise.all([uncommittedIn(run, place), isOnNoBranch(run, place)]);
    return { path, branch, uncommitted, isDetached, sessionId: this.#sessionIn(path) };
  }

  #sessionIn(path: string): string | null {
    return this.#deps.log.index.sessions({ archived: false, workspace: path, limit: 1 })[0]?.sessionId ?? null;
  }

  /** The real path of the folder. Fails with `denied` if no person trusts it, because git reads the settings of a repository. */
  #trusted(folder: string): string {
    const { path, state, reason } = this.#deps.workspaces.look(folder);
    if (state === 'trusted' || state === 'configured') return path;
    if (state === 'missing') throw new AppError('not_found', reason);
    const hint =
      state === 'new' || state === 'replaced' ? `Trust it with: trayclaw folders trust ${JSON.stringify(path)}` : 'Name another folder.';
    throw new AppError('denied', reason === '' ? `${path} is not trusted.` : reason, { hint });
  }

  /** Confined, because it only reads and no approval covers it. */
  #place(cwd: string, workspace: string): GitPlace {
    return { cwd, workspace, signal: this.#deps.closing, attended: false };
  }

  #failure(log: Spine['log'], { sessionId, turnId }: { readonly sessionId: string; readonly turnId: string }): AppError {
    const firstSeq = log.index.turn(turnId)?.firstSeq ?? 0;
    const result = log.reads.turn(sessionId, turnId, firstSeq).findLast((event) => event.type === 'tool.finished');
    return new AppError('tool_failed', result?.body.forModel ?? 'The call was denied.');
  }
}

/** True only if .git is a folder; in a worktree or a submodule it is a file. */
export function isRepository(folder: string): boolean {
  return lstatSync(join(folder, '.git'), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Reduces a name to characters that every branch, folder and shell accepts. */
function nameOf(given: string): string {
  const name = given
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, NAME_CHARS_MAX);
  return name === '' ? 'session' : name;
}

// The git_worktree tool: adds a worktree for a session, or removes one. Only the program calls it, for a person, and the gate sees every
// path. A removal checks directly before deleting what would be lost.

const input = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('add'), repository: z.string().min(1), path: z.string().min(1), branch: z.string().min(1) }),
  z.strictObject({ action: z.literal('remove'), repository: z.string().min(1), path: z.string().min(1), discard: z.boolean() }),
]);
type Args = z.infer<typeof input>;

/** As for any folder that a person creates. */
const FOLDER_MODE = 0o777;

export function createWorktreeTool(run: RunGit): ToolDefinition {
  return defineTool({
    name: worktreeTool,
    description: 'Adds a git worktree for a session, or removes one.',
    input,
    class: 'write',
    shows: { verb: 'git_worktree', target: ['path'] },
    isInternal: true,
    idempotency: () => 'unsafe',
    timeoutMs: 120_000,
    facts: factsOf,
    summarize: (args) =>
      args.action === 'add' ? `add the git worktree ${args.path} on the branch ${args.branch}` : `remove the git worktree ${args.path}`,
    run: (args, context) => (args.action === 'add' ? add(run, args, context) : remove(run, args, context)),
  });
}

/** States the path as read, not written: a checkpoint cannot restore a worktree, so undo must not be offered. */
function factsOf(args: Args, context: FactContext): CallFacts {
  const insideWorkspace = isInside(args.path, context.workspace);
  const protectedBy = protectionOf(args.path, context);
  const fact = { given: args.path, real: args.path, access: 'read' as const, insideWorkspace, protectedBy };
  const known = { paths: [fact], command: null, hosts: [] };
  if (args.action === 'add')
    return { ...known, class: 'write', risks: [`It copies the files of the last commit there, on a new branch ${args.branch}.`] };
  if (!args.discard) return { ...known, class: 'write', risks: ['It deletes that folder. Its branch stays.'] };
  const does = `Deletes ${args.path} with every uncommitted file in it`;
  return { ...known, class: 'destructive', does, risks: ['Files that are in no commit are lost. The branch stays.'] };
}

async function add(run: RunGit, { repository, path, branch }: Extract<Args, { action: 'add' }>, context: ToolContext) {
  const holder = worktreesOf(repository);
  if (!isBelow(path, holder)) throw new AppError('tool_failed', `${path} is not below ${holder}.`);
  makeFolders({ mkdirSync, statSync }, holder, FOLDER_MODE);
  // A link in its place would lead the checkout elsewhere.
  if ((await realpath(holder)) !== holder) throw new AppError('tool_failed', `${holder} leads to another folder.`);
  // Keeps the worktrees from appearing as new files in the repository.
  await writeFile(join(repository, '.trayclaw', '.gitignore'), '*\n');
  await addWorktree(run, placeOf(context, repository, repository), { path, branch });
  return { forModel: `Added the worktree ${path} on the branch ${branch}.` };
}

async function remove(run: RunGit, { repository, path, discard }: Extract<Args, { action: 'remove' }>, context: ToolContext) {
  if (!isBelow(path, worktreesOf(repository))) throw new AppError('tool_failed', `${path} is not a worktree of TrayClaw.`);
  if (!discard) await assertNothingLost(run, placeOf(context, path, repository));
  await removeWorktree(run, placeOf(context, repository, repository), { path, discard });
  const isLeft = await stat(path).then(
    () => true,
    () => false,
  );
  if (isLeft) throw new AppError('tool_failed', `${path} is still there.`);
  return { forModel: `Removed the worktree ${path}; its branch stays.` };
}

/** Fails with `conflict`, which names what a removal would lose. */
async function assertNothingLost(run: RunGit, place: GitPlace): Promise<void> {
  const files = await uncommittedIn(run, place);
  if (files.length > 0) {
    const more = files.length > 3 ? ` and ${files.length - 3} more` : '';
    throw new AppError('conflict', `${place.cwd} holds files that are in no commit: ${files.slice(0, 3).join(', ')}${more}.`, {
      hint: 'Nothing was removed. Commit them, or remove the worktree with all of them: --discard.',
    });
  }
  if (await isOnNoBranch(run, place)) {
    throw new AppError('conflict', `The commits in ${place.cwd} are on no branch.`, {
      hint: 'Nothing was removed. Make a branch of them, or remove the worktree with them: --discard.',
    });
  }
}

/** Not confined, because the gate decided on exactly this call, and the sandbox holds open the git folders that a removal deletes. */
function placeOf({ signal, processMarker }: ToolContext, cwd: string, workspace: string): GitPlace {
  return { cwd, workspace, signal, attended: true, marker: processMarker };
}
