// Finds the files that the files of build tools include, as far as the text shows: `include rules.mk`, `add_subdirectory(lib)`,
// `import 'x.just'`. Names made of variables are not followed. Reads only.

import { basename, dirname, join, resolve } from 'node:path';
import { nameMatcher } from '../../base/wildcard.ts';
import { namesIn } from '../../store/home/home.ts';
import { filesNamedBy } from './named-scripts.ts';
import { look, readSmall } from './project-files.ts';

const FILES_MAX = 60;
const TEXT_BYTES_MAX = 1_000_000;
const WORDS_MAX = 500;
const including = /^.*\b(?:s?include\w*|import|apply|load|mod|source|subdir|subninja|add_subdirectory|taskfile)\b(.*)$/gim;
const apart = /[\s;:()[\]{}<>"'`,=]+/;
const isDefinition = /^\.{1,2}\/|\.(?:ma?k|just|cmake|ninja|rake|gradle|kts|ya?ml)$/i;

export interface StartingPoint {
  readonly files: readonly string[];
  /** Names are relative to these besides the folder of their file. */
  readonly folders: readonly string[];
  /** The files that the tool looks for in a folder. */
  readonly names: readonly string[];
  /** A word of a Makefile outside of an include is most often a target or a source. */
  readonly isMake: boolean;
}

export function includedBy({ files, folders, names, isMake }: StartingPoint): readonly string[] {
  const found = new Set(files);
  for (const file of found) {
    const text = readSmall(file, TEXT_BYTES_MAX);
    if (typeof text !== 'string' || found.size >= FILES_MAX) continue;
    const bases = [...new Set([dirname(file), ...folders])];
    const lines = [...text.matchAll(including)].flatMap(([, rest = '']) => rest.split(apart));
    const words = isMake ? lines : [...lines, ...text.split(apart).filter((word) => isDefinition.test(word))];
    const paths = words.slice(0, WORDS_MAX).flatMap((word) => bases.flatMap((base) => filesAt(base, word, names)));
    const started = isMake ? bases.flatMap((base) => filesNamedBy(text, base, 'recipes')) : [];
    for (const path of [...paths, ...started].slice(0, FILES_MAX)) found.add(path);
  }
  return [...found];
}

function filesAt(base: string, word: string, names: readonly string[]): readonly string[] {
  if (word === '' || word.includes('$')) return [];
  const path = resolve(base, word);
  return word.includes('*') ? filesLike(path) : [path, ...names.map((name) => join(path, name))].filter(isFile);
}

function filesLike(path: string): readonly string[] {
  const like = nameMatcher(basename(path));
  return namesIn(dirname(path))
    .filter(like)
    .map((name) => join(dirname(path), name))
    .filter(isFile);
}

function isFile(path: string): boolean {
  return look(path)?.isDirectory() === false;
}
