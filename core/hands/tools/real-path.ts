// Follows a path the way the kernel does: link by link, `..` after links, also where the last parts do not exist yet.
// Pure over the file system port; opens nothing.

import { isAbsolute, join, parse, sep } from 'node:path';
import { err, ok, type Result } from '../../base/result.ts';
import type { PathFileSystem } from './file-system-port.ts';

/** Why a path has no real path. */
export type PathProblem = 'nul-byte' | 'too-long' | 'link-circle' | 'unreadable' | 'empty';

export interface RealPath {
  /** Absolute, without links, without `.` and `..`, without a trailing separator. */
  readonly real: string;
  /** Hard links of the file that is there; 0 when nothing is, or when it is no plain file. */
  readonly fileLinks: number;
}

const LINKS_MAX = 40;
const PATH_BYTES_MAX = 4096;
const NAME_BYTES_MAX = 255;

/**
 * The real path of `given`, taken from `base` when relative; `~` is the person's own folder.
 * A part that does not exist ends the looking: what follows it is taken by its letters.
 */
export function resolveRealPath(given: string, base: string, userHome: string, files: PathFileSystem): Result<RealPath, PathProblem> {
  if (given === '') return err('empty');
  if (given.includes('\0')) return err('nul-byte');
  if (Buffer.byteLength(given) > PATH_BYTES_MAX) return err('too-long');
  return walk(absolute(expandHome(given, userHome), base), files);
}

export function expandHome(given: string, userHome: string): string {
  if (given === '~') return userHome;
  if (given.startsWith('~/') || given.startsWith(`~${sep}`)) return join(userHome, given.slice(2));
  return given;
}

// Not path.resolve: that would take `link/..` by its letters, where the kernel goes to the parent of the link's target.
function absolute(given: string, base: string): string {
  return isAbsolute(given) ? given : `${base}${sep}${given}`;
}

function walk(path: string, files: PathFileSystem): Result<RealPath, PathProblem> {
  let { root, parts: todo } = split(path);
  let done: string[] = [];
  let linksLeft = LINKS_MAX;
  let fileLinks = 0;
  let exists = true;
  while (todo.length > 0) {
    const part = todo.pop();
    if (part === undefined || part === '' || part === '.') continue;
    if (part === '..') {
      // Above a part that is missing, nothing is known to exist again until it is looked at.
      done.pop();
      exists = true;
      continue;
    }
    if (Buffer.byteLength(part) > NAME_BYTES_MAX) return err('too-long');
    done.push(part);
    fileLinks = 0;
    if (!exists) continue;
    const here = root + done.join(sep);
    const found = files.lookUp(here);
    if (found === 'too-long' || found === 'unreadable') return err(found);
    if (found === 'absent') {
      exists = false;
    } else if (found.kind === 'file') {
      fileLinks = found.links;
    } else if (found.kind === 'link') {
      if (linksLeft-- === 0) return err('link-circle');
      const target = files.readLink(here);
      if (target === null) return err('unreadable');
      done.pop();
      const next = split(target);
      if (isAbsolute(target)) {
        root = next.root;
        done = [];
      }
      todo = [...todo, ...next.parts];
    }
  }
  return ok({ real: root + done.join(sep), fileLinks });
}

/** The parts come last first, so that the next one is popped. */
function split(path: string): { root: string; parts: string[] } {
  const { root } = parse(path);
  const rest = path.slice(root.length);
  return { root, parts: (sep === '\\' ? rest.split(/[\\/]/) : rest.split('/')).reverse() };
}
