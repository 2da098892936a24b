// Finds the files that the lines of a script or a task start or pass to a program, as far as the text shows. Follows scripts into other
// scripts, within bounds. Extra files are harmless: a change to them only leads to another approval. Reads only; runs nothing.

import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { isInterpreter } from './program-names.ts';

const FILES_MAX = 40;
const DEPTH_MAX = 3;
const TEXT_BYTES_MAX = 256_000;
const WORDS_MAX = 4000;
const apart = /[\s;|&()<>"'`={}$,]+/;
const shellName = /\.(?:sh|bash|zsh|ksh)$/i;
const shebang = /^#!.*\b(?:ba|da|z|k)?sh\b/;
/** The forms in which a shell includes another file. */
const sourcing: ReadonlySet<string> = new Set(['source', '.']);
/** The suffixes that Node adds to a name. */
const ends = ['', '.js', '.cjs', '.mjs', '/index.js'];

/** Returns the files that the lines name. For a Makefile, only those its recipes start. */
export function filesNamedBy(text: string, folder: string, kind: 'lines' | 'recipes' = 'lines'): readonly string[] {
  const found = new Set<string>();
  const add = (given: string, base: string, depth: number, as: typeof kind): void => {
    const bases = [base, ...foldersEntered(given, base)];
    for (const path of [...new Set(wordsOf(given, as))].flatMap((word) => existing(word, bases))) {
      if (found.has(path) || found.size >= FILES_MAX) continue;
      found.add(path);
      const inner = depth < DEPTH_MAX ? scriptText(path) : null;
      if (inner !== null) add(inner, base, depth + 1, 'lines');
    }
  };
  add(text, folder, 0, kind);
  return [...found];
}

/** Returns the files that a shell script names. Returns none for any other file. */
export function filesNamedIn(script: string, folder: string): readonly string[] {
  const text = scriptText(script);
  return text === null ? [] : filesNamedBy(text, folder);
}

function wordsOf(text: string, kind: 'lines' | 'recipes'): readonly string[] {
  if (kind === 'lines') return text.split(apart).slice(0, WORDS_MAX);
  const recipes = text.split('\n').filter((line) => line.startsWith('\t'));
  const commands = recipes.flatMap((line) => line.replace(/^[\t@+-]+/, '').split(/[;|&]+/)).slice(0, WORDS_MAX);
  return commands.flatMap((command) => {
    const words = command.split(apart).filter((word) => word !== '');
    const [program = ''] = words;
    return isInterpreter(program) || sourcing.has(program) ? words : program.includes('/') ? [program] : [];
  });
}

function foldersEntered(text: string, base: string): readonly string[] {
  return [...text.matchAll(/\bcd\s+["']?([\w./-]+)/g)].slice(0, 5).map(([, folder = '']) => join(base, folder));
}

function existing(word: string, bases: readonly string[]): readonly string[] {
  if (word === '' || word.startsWith('-')) return [];
  const candidates = isAbsolute(word) ? [word] : bases.flatMap((base) => ends.map((end) => join(base, word + end)));
  const found = candidates.find(isFile);
  return found === undefined ? [] : [found];
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    // Part of the path is a file or cannot be accessed, so the file cannot be started either.
    return false;
  }
}

function scriptText(path: string): string | null {
  try {
    if (statSync(path).size > TEXT_BYTES_MAX) return null;
    const text = readFileSync(path, 'utf8');
    return shellName.test(path) || shebang.test(text) ? text : null;
  } catch {
    // Missing or unreadable.
    return null;
  }
}
