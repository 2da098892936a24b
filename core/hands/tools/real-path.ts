// Follows a path the way the kernel does: link by link, `..` after links, even if the last parts do not exist yet. Pure over the file
// system port; opens nothing.

import { dirname, isAbsolute, join, parse, sep } from 'node:path';
import { err, ok, type Result } from '../../base/result.ts';
import type { PathFileSystem } from './file-system-port.ts';

/** Why a path has no real path. */
export type PathProblem = 'nul-byte' | 'half-character' | 'too-long' | 'link-circle' | 'unreadable' | 'empty';

export interface RealPath {
  /** Absolute, without links, without `.` and `..`, without a trailing separator. */
  readonly real: string;
  /** The number of hard links of the file; 0 if nothing exists or if it is not a plain file. */
  readonly fileLinks: number;
}

const LINKS_MAX = 40;
const PATH_BYTES_MAX = 4096;
const NAME_BYTES_MAX = 255;

/**
 * Returns the real path of `given`, resolved against `base` if relative; `~` is the person's own folder. After a part that does not exist,
 * the remaining parts are taken literally. A name that exists only in another Unicode form is that name: archives made on macOS have `é` as
 * two characters, while people and models write one.
 */
export function resolveRealPath(given: string, base: string, userHome: string, files: PathFileSystem): Result<RealPath, PathProblem> {
  if (given === '') return err('empty');
  if (given.includes('\0')) return err('nul-byte');
  if (!given.isWellFormed()) return err('half-character');
  if (Buffer.byteLength(given) > PATH_BYTES_MAX) return err('too-long');
  return walk(absolute(expandHome(given, userHome), base), files);
}

export function expandHome(given: string, userHome: string): string {
  if (given === '~') return userHome;
  if (given.startsWith('~/') || given.startsWith(`~${sep}`)) return join(userHome, given.slice(2));
  return given;
}

// Not path.resolve: that would resolve `link/..` textually, where the kernel uses the parent of the link's target.
function absolute(given: string, base: string): string {
  return isAbsolute(given) ? given : `${base}${sep}${given}`;
}

interface Walk {
  root: string;
  /** The remaining parts, last first. */
  todo: string[];
  done: string[];
  linksLeft: number;
  /** False after a missing part: the remaining parts are not looked up. */
  exists: boolean;
  fileLinks: number;
}

function walk(path: string, files: PathFileSystem): Result<RealPath, PathProblem> {
  const { root, parts } = split(path);
  const state: Walk = { root, todo: parts, done: [], linksLeft: LINKS_MAX, exists: true, fileLinks: 0 };
  for (let part = state.todo.pop(); part !== undefined; part = state.todo.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      // The parent of a missing part is looked up again.
      state.done.pop();
      state.exists = true;
      state.fileLinks = 0;
      continue;
    }
    const problem = enter(part, state, files);
    if (problem !== null) return err(problem);
  }
  return ok({ real: state.root + state.done.join(sep), fileLinks: state.fileLinks });
}

/** Enters one part; a link is replaced by the parts of its target. */
function enter(part: string, state: Walk, files: PathFileSystem): PathProblem | null {
  if (Buffer.byteLength(part) > NAME_BYTES_MAX) return 'too-long';
  state.done.push(part);
  state.fileLinks = 0;
  if (!state.exists) return null;
  const here = state.root + state.done.join(sep);
  const found = files.lookUp(here);
  if (found === 'too-long' || found === 'unreadable') return found;
  if (found === 'absent') {
    const same = /[^\0-\x7f]/.test(part) ? files.sameName(dirname(here), part) : null;
    if (same !== null && same !== part) {
      state.done.pop();
      return enter(same, state, files);
    }
    state.exists = false;
    return null;
  }
  if (found.kind === 'link') return follow(files.readLink(here), state);
  if (found.kind === 'file') state.fileLinks = found.links;
  return null;
}

function follow(target: string | null, state: Walk): PathProblem | null {
  if (target === null) return 'unreadable';
  if (state.linksLeft === 0) return 'link-circle';
  state.linksLeft -= 1;
  const { root, parts } = split(target);
  state.done.pop();
  if (isAbsolute(target)) {
    state.root = root;
    state.done = [];
  }
  state.todo = [...state.todo, ...parts];
  return null;
}

/** The parts are in reverse order, so that the next one is popped. */
function split(path: string): { root: string; parts: string[] } {
  const { root } = parse(path);
  const rest = path.slice(root.length);
  return { root, parts: (sep === '\\' ? rest.split(/[\\/]/) : rest.split('/')).reverse() };
}
