// The git_worktree tool: adds a worktree for a session, or removes one. Only the program calls it, for a person, and the gate sees every
// path. A removal checks directly before deleting what would be lost.

import { mkdirSync, statSync } from 'node:fs';
import { realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { isBelow, isInside } from '../../base/inside-folder.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { AppError } from '../../contracts/errors.ts';
import { worktreeTool } from '../../contracts/features/project.ts';
import type { CallFacts, FactContext, ToolContext, ToolDefinition } from '../../contracts/tools.ts';
import { defineTool, protectionOf } from '../../hands/tools/tools.ts';
import { addWorktree, isOnNoBranch, removeWorktree, uncommittedIn, worktreesOf, type GitPlace, type RunGit } from './git.ts';

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
export async function assertNothingLost(run: RunGit, place: GitPlace): Promise<void> {
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
