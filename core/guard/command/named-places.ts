// Finds what a command may use without saying how: as text of a shell, by a pipe, a redirect, a pattern or a search path. Reads only; runs
// nothing.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CommandFact } from '../../contracts/tools.ts';
import { realOrGiven } from './content-hash.ts';
import { filesNamedBy } from './named-scripts.ts';
import { expandPatterns } from './pattern-words.ts';
import { isInterpreter } from './program-names.ts';
import { foldersBelow } from './project-files.ts';

const WORDS_MAX = 4000;
/** Words before a program that gets the files of a search. */
const passing = /^(?:-exec|-execdir|-ok|-okdir|xargs|parallel)$/;
/** A list of folders, such as a search path, has colons between them. */
const apart = /[\s;|&()<>"'`={}$,:]+/;

/**
 * Returns the real paths of everything that a command names which may run it in a way that its words do not show: folders, files, and the
 * files that its scripts name. Returns none for a program of known use.
 */
export function placesNamedBy({ line, cwd, plain, joined }: CommandFact): readonly string[] {
  const isKnown = joined !== undefined || plain?.argv.some(isInterpreter) === false;
  if (isKnown) return [];
  const expanded = expandPatterns(line, cwd) ?? line;
  const words = expanded.split(apart).slice(0, WORDS_MAX);
  const places = words.map((word) => resolve(cwd, word)).filter((path) => existsSync(path));
  // Code that is not a file finds others in the folder it runs in, and a search passes on what is below the folders that are named.
  const own = words.some(isInterpreter) ? [cwd] : [];
  const isPassedOn = words.some((word, at) => passing.test(word) && words.slice(at + 1, at + 5).some(isInterpreter));
  const searched = isPassedOn ? places.flatMap(foldersBelow) : [];
  return [...new Set([...filesNamedBy(expanded, cwd), ...places, ...searched, ...own].map(realOrGiven))];
}
