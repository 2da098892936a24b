// Runs the few git commands for worktrees, with arguments made here, and parses their output. Hooks and file monitors of the repository
// never run.

import { devNull } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../contracts/errors.ts';
import { findProgram, type ProgramEnd } from '../../hands/tools/tools.ts';

export interface GitRun {
  readonly argv: readonly string[];
  /** Real path. */
  readonly cwd: string;
  /** Real path of the repository, where a worktree keeps its history. */
  readonly workspace: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whether the gate decided on this run as a call. Otherwise the run is confined like every command. */
  readonly attended: boolean;
  /** The process marker of the call, if the run belongs to a call. */
  readonly marker?: Readonly<Record<string, string>>;
}

export type RunGit = (run: GitRun) => Promise<ProgramEnd>;

export type GitPlace = Omit<GitRun, 'argv' | 'timeoutMs'>;

const TIMEOUT_MS = 60_000;
const LISTED_MAX = 200;
const FOLDER = join('.trayclaw', 'worktrees');

/** Where the worktrees of a repository are: inside it, so that they are trusted together with it. */
export function worktreesOf(repository: string): string {
  return join(repository, FOLDER);
}

/** Fails with `tool_failed`, which contains the output of git. */
async function git(run: RunGit, place: GitPlace, args: readonly string[]): Promise<string> {
  const program = findProgram('git');
  if (program === null) throw new AppError('tool_failed', 'There is no git on this computer.', { hint: 'Install git.' });
  const safe = ['--no-optional-locks', '-c', `core.hooksPath=${devNull}`, '-c', 'core.fsmonitor=false'];
  const ended = await run({ ...place, argv: [program, ...safe, ...args], timeoutMs: TIMEOUT_MS });
  if (ended.ending === 'exited' && ended.exitCode === 0) return ended.output;
  const said = ended.output.trim().slice(0, 600);
  const why = ended.ending === 'exited' ? said || `it ended with code ${ended.exitCode ?? '?'}` : `it ended by ${ended.ending}`;
  throw new AppError('tool_failed', `git ${args[0] ?? ''} ${args[1] ?? ''} did not work: ${why}`);
}

export async function addWorktree(run: RunGit, place: GitPlace, { path, branch }: { readonly path: string; readonly branch: string }) {
  await git(run, place, ['worktree', 'add', '-b', branch, '--', path, 'HEAD']);
}

export async function removeWorktree(
  run: RunGit,
  place: GitPlace,
  { path, discard }: { readonly path: string; readonly discard: boolean },
) {
  await git(run, place, ['worktree', 'remove', ...(discard ? ['--force'] : []), '--', path]);
}

export interface ListedWorktree {
  readonly path: string;
  readonly branch: string | null;
}

/** The worktrees of the repository, without its main worktree. */
export async function listWorktrees(run: RunGit, place: GitPlace): Promise<ListedWorktree[]> {
  const output = await git(run, place, ['worktree', 'list', '--porcelain', '-z']);
  return output
    .split('\0\0')
    .map((entry) => entry.split('\0'))
    .flatMap((lines) => {
      const valueOf = (name: string): string | null => lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? null;
      const path = valueOf('worktree');
      return path === null ? [] : [{ path, branch: valueOf('branch')?.replace(/^refs\/heads\//, '') ?? null }];
    })
    .slice(1);
}

/** The files that a removal would delete: changed, new and ignored ones. */
export async function uncommittedIn(run: RunGit, place: GitPlace): Promise<string[]> {
  const output = await git(run, place, ['status', '--porcelain=v1', '-z', '--ignored', '--untracked-files=normal', '--no-renames']);
  const entries = output.split('\0').filter((entry) => entry.length > 3);
  return entries.slice(0, LISTED_MAX).map((entry) => entry.slice(3));
}

/** Whether the commits of the worktree would be on no branch once it is removed. */
export async function isOnNoBranch(run: RunGit, place: GitPlace): Promise<boolean> {
  return (await git(run, place, ['for-each-ref', '--contains', 'HEAD', '--count=1', '--format=%(refname)'])).trim() === '';
}
