// Reads the arguments of programs that only make, fill, copy or move plain files: which files each changes and reads. Returns null for anything
// with another effect, such as a copy of a folder, whose content could lead elsewhere. Changes nothing.

import type { Stats } from 'node:fs';
import { basename, resolve } from 'node:path';
import { flagTables, readArguments } from './argument-reader.ts';
import { isFolder } from './entered-folder.ts';
import { look } from './project-files.ts';

/** A command that changes the files in `changed` and does nothing else. Paths are relative to the folder it runs in, or absolute. */
export interface Writing {
  /** For example "makes folders". Shown to the person. */
  readonly writes: string;
  readonly changed: readonly string[];
  readonly read: readonly string[];
}

/** Possible changes by earlier commands of the same line. Paths are absolute. */
export interface Earlier {
  /** Returns whether the path may be another file then, or none. */
  readonly changes: (path: string) => boolean;
  /** Returns whether a folder may be made there. */
  readonly makes: (path: string) => boolean;
}

const nothingEarlier: Earlier = { changes: () => false, makes: () => false };

type Meaning = (operands: readonly string[], cwd: string, earlier: Earlier) => Pick<Writing, 'changed' | 'read'> | null;

interface Writer {
  readonly writes: string;
  readonly flags: string;
  readonly meaning: Meaning;
}

/** Flags follow the manuals of GNU coreutils 9. Flags that follow or make links, keep rights or make backups are left out. */
const writers: Readonly<Record<string, Writer>> = {
  mkdir: { writes: 'makes folders', flags: '-p, --parents, -v, --verbose', meaning: allChanged },
  touch: { writes: 'makes files, or sets their times', flags: '-a, -m, -c, --no-create', meaning: allChanged },
  tee: {
    writes: 'writes its input to files',
    flags: '-a, --append',
    meaning: (operands, cwd) => (operands.some((file) => isAnythingElse(resolve(cwd, file))) ? null : allChanged(operands)),
  },
  cp: {
    writes: 'copies files',
    flags: '-f, --force, -n, --no-clobber, -v, --verbose',
    meaning: (...given) => moved(given, false),
  },
  mv: {
    writes: 'moves files',
    flags: '-f, --force, -n, --no-clobber, -v, --verbose',
    meaning: (...given) => moved(given, true),
  },
};

const flagsOf = flagTables(writers);

export const isWriter = (program: string): boolean => Object.hasOwn(writers, program);

export function readWriter(program: string, args: readonly string[], cwd: string, earlier = nothingEarlier): Writing | null {
  const writer = isWriter(program) ? writers[program] : undefined;
  const table = flagsOf.get(program);
  const given = writer === undefined || table === undefined ? null : readArguments(args, table);
  if (writer === undefined || given === null || given.operands.some(isOdd)) return null;
  const meant = writer.meaning(given.operands, cwd, earlier);
  return meant === null || meant.changed.length === 0 ? null : { writes: writer.writes, ...meant };
}

/** `touch -` sets the times of the output, and `link/..` is not the folder that the words suggest. */
function isOdd(operand: string): boolean {
  return operand === '' || operand === '-' || /(?:^|\/)\.\.(?:\/|$)/.test(operand.replace(/^(?:\.{1,2}\/+)+/, ''));
}

function allChanged(operands: readonly string[]): ReturnType<Meaning> {
  return { changed: operands, read: [] };
}

/** Each source is a plain file now. Into a folder, it keeps its name. */
function moved([operands, cwd, earlier]: Parameters<Meaning>, leaves: boolean): ReturnType<Meaning> {
  const sources = operands.slice(0, -1);
  const target = operands.at(-1) ?? '';
  if (sources.length === 0 || !sources.every((source) => look(resolve(cwd, source))?.isFile() === true)) return null;
  const isMade = earlier.makes(resolve(cwd, target));
  if (isMade && isAnythingElse(resolve(cwd, target), (found) => found.isDirectory())) return null;
  const isInto = isMade || isFolder(resolve(cwd, target));
  if (!isInto && (sources.length > 1 || target.endsWith('/'))) return null;
  const targets = isInto ? sources.map((source) => `${target}/${basename(source)}`) : [target];
  if ([...sources, ...targets].some((path) => earlier.changes(resolve(cwd, path)))) return null;
  if (targets.some((path) => isAnythingElse(resolve(cwd, path)))) return null;
  // If the folder could not be made, the target itself is written.
  const changed = isMade ? [...targets, target] : targets;
  return leaves ? { changed: [...sources, ...changed], read: [] } : { changed, read: sources };
}

/** Returns whether something other than a plain file is there. A link would be replaced by one program and followed by another. */
export function isAnythingElse(path: string, isFine = (found: Stats): boolean => found.isFile()): boolean {
  const found = look(path);
  return found !== null && !isFine(found);
}
