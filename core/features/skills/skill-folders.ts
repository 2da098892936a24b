// Finds skills on disk and reads their files: SKILL.md, the names and sizes of the other files, and one hash of all files. Follows no
// links, limits everything, writes nothing.

import { createHash, hash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, type Dirent } from 'node:fs';
import { basename, join } from 'node:path';
import { err, ok, type Result } from '../../base/result.ts';
import { readSkillFile, SKILL_BYTES_MAX, type FileRefusal, type SkillFile } from './skill-file.ts';

const DEPTH_MAX = 6;
const FOLDERS_MAX = 20_000;
/** The maximum number of skills in one folder, and of all offered skills. */
export const SKILLS_MAX = 10_000;
const FILES_MAX = 500;
export const TREE_BYTES_MAX = 50_000_000;
const passedOver: ReadonlySet<string> = new Set(['.git', 'node_modules', '__pycache__', '.venv', '.DS_Store']);
const fileNames = ['SKILL.md', 'skill.md'];

export interface FoundSkill {
  readonly folder: string;
  readonly fileName: string;
  /** The entries of the folder, if they were just listed. */
  readonly entries?: readonly Dirent[];
}

/** The folders with a SKILL.md at or below `root`, sorted by name. Folders below a skill are not searched. */
export function findSkills(root: string): FoundSkill[] {
  const found: FoundSkill[] = [];
  let looked = 0;
  const walk = (folder: string, depth: number): void => {
    looked += 1;
    if (looked > FOLDERS_MAX || found.length >= SKILLS_MAX) return;
    const entries = entriesOf(folder);
    const fileName = fileNames.find((name) => entries.some((entry) => entry.isFile() && entry.name === name));
    if (fileName !== undefined) {
      found.push({ folder, fileName, entries });
      return;
    }
    if (depth >= DEPTH_MAX) return;
    for (const entry of entries) if (entry.isDirectory() && !isPassedOver(entry.name)) walk(join(folder, entry.name), depth + 1);
  };
  walk(root, 0);
  return found;
}

/** Skips staging folders of an import, installation or removal in progress. */
function isPassedOver(name: string): boolean {
  return passedOver.has(name) || /^\.(?:coming|leaving)-/.test(name);
}

export interface TreeFile {
  /** Relative to the skill's folder, with forward slashes. */
  readonly path: string;
  readonly sizeBytes: number;
}

export interface SkillTree {
  /** All files including SKILL.md, sorted. */
  readonly files: readonly TreeFile[];
  /** Whether the folder contains links. Trust does not cover their targets, which are not part of the skill. */
  readonly hasLinks: boolean;
  /** Changes with the names, sizes and times of the files. If it is unchanged and the last change is some time ago, so are the files. */
  readonly seen: string;
  readonly changedAtMs: number;
}

/** Lists the files without reading them. Null if they are more numerous or larger than a skill may have. */
export function seeTree(folder: string, top = entriesOf(folder)): SkillTree | null {
  const files: TreeFile[] = [];
  const about: string[] = [];
  let [bytes, changedAtMs, hasLinks] = [0, 0, false];
  const walk = (at: string, below: string, depth: number): boolean => {
    if (depth > DEPTH_MAX) return false;
    for (const entry of depth === 0 ? top : entriesOf(at)) {
      if (entry.isSymbolicLink()) hasLinks = true;
      if (passedOver.has(entry.name)) continue;
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!walk(join(at, entry.name), path, depth + 1)) return false;
      } else if (entry.isFile()) {
        const { size: sizeBytes, mtimeMs, ctimeMs, ino } = lstatSync(join(at, entry.name));
        bytes += sizeBytes;
        changedAtMs = Math.max(changedAtMs, mtimeMs, ctimeMs);
        files.push({ path, sizeBytes });
        about.push(`${path}\0${sizeBytes} ${mtimeMs} ${ctimeMs} ${ino}`);
        if (files.length > FILES_MAX || bytes > TREE_BYTES_MAX) return false;
      }
    }
    return true;
  };
  if (!walk(folder, '', 0)) return null;
  const seen = hash('sha256', `${hasLinks ? 'links' : ''}\0${about.join('\0')}`, 'hex');
  return { files: files.sort((a, b) => (a.path < b.path ? -1 : 1)), hasLinks, seen, changedAtMs };
}

/** All files including SKILL.md, sorted. Null if they are more numerous or larger than a skill may have. */
export function listTree(folder: string): readonly TreeFile[] | null {
  return seeTree(folder)?.files ?? null;
}

/** Hashes names, lengths and contents of all files in an unambiguous form. Throws if a file cannot be read. */
export function hashTree(folder: string, files: readonly TreeFile[]): string {
  return hashFiles(
    files.map(({ path }) => path),
    (path) => readFileSync(join(folder, path)),
  );
}

/** The same hash for files in memory. */
export function hashContents(files: ReadonlyMap<string, Uint8Array>): string {
  return hashFiles(
    [...files.keys()].sort((a, b) => (a < b ? -1 : 1)),
    (path) => files.get(path) ?? new Uint8Array(),
  );
}

function hashFiles(sorted: readonly string[], read: (path: string) => Uint8Array): string {
  const digest = createHash('sha256');
  for (const path of sorted) {
    const content = read(path);
    digest.update(`${path}\0${content.length}\0`).update(content).update('\0');
  }
  return digest.digest('hex');
}

export interface ReadSkill {
  readonly file: SkillFile;
  readonly source: string;
  readonly tree: SkillTree;
}

export function readSkill({ folder, fileName }: FoundSkill, tree: SkillTree | null = seeTree(folder)): Result<ReadSkill, FileRefusal> {
  const path = join(folder, fileName);
  if (tree === null) return err({ reason: 'It has more than 500 files or 50 MB.', hint: 'Remove what does not belong to the skill.' });
  try {
    if (sizeOf(path) > SKILL_BYTES_MAX)
      return err({ reason: 'Its SKILL.md is larger than 1 MB.', hint: 'Move most of it to separate files.' });
    const source = readFileSync(path, 'utf8');
    const file = readSkillFile(source);
    return file.ok ? ok({ file: file.value, source, tree }) : file;
  } catch (cause) {
    return err({
      reason: `It cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`,
      hint: 'Make it readable for this user.',
    });
  }
}

export function folderNameOf(folder: string): string {
  return basename(folder);
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // A missing or unreadable folder counts as empty.
    return [];
  }
}

function sizeOf(path: string): number {
  return lstatSync(path).size;
}
