// The interface of the skills for the store: inspects a package in memory, lists the installed skills, reloads. Does not know where a
// package comes from.

import { isInside } from '../../base/inside-folder.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { SkillFinding } from '../../contracts/features/skills.ts';
import { convertLayersSkill, hashLayersSkill, isLayersShape } from './layers-shape.ts';
import type { ShelvedSkill } from './loaded-skill.ts';
import type { SkillBook } from './skill-book.ts';
import { findSkills, hashContents, hashTree, listTree } from './skill-folders.ts';
import { readSkillFile } from './skill-file.ts';
import { readHead, type SkillHead } from './skill-head.ts';
import { lintSkill } from './skill-lint.ts';

export interface InspectedSkill {
  readonly name: string;
  readonly head: SkillHead;
  /** The instructions, without the head. */
  readonly body: string;
  /** As they are installed: of the layers shape the rewritten ones. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly isConverted: boolean;
  /** Of the installed files together; trust is for exactly this content. */
  readonly sha256: string;
  readonly findings: readonly SkillFinding[];
}

export interface StandingSkill {
  readonly name: string;
  readonly path: string;
  readonly version: string | null;
  readonly requires: SkillHead['requires'];
  readonly deprecation: SkillHead['deprecation'];
  /** It is in the workspace's own folder, where the store puts skills. */
  readonly isOwn: boolean;
}

export interface SkillShelf {
  /** Where the store puts skills, one folder each. */
  readonly folder: string;
  inspect(files: ReadonlyMap<string, Uint8Array>, folderName: string): Result<InspectedSkill, { reason: string; hint: string }>;
  /** Of a package as published. `layers`: what that marketplace publishes, which covers SKILL.md, skill.py and policy.yaml alone. */
  hashes(files: ReadonlyMap<string, Uint8Array>): { readonly content: string; readonly layers: string };
  standing(): readonly StandingSkill[];
  /** The hash of a folder's files as they are now; null where there is none. */
  contentOf(path: string): string | null;
  /** Folders with a SKILL.md at or below a path. */
  below(path: string): readonly string[];
  /** Names of the skills that declare this one as a part of their work. */
  usersOf(name: string): readonly string[];
  /** Turns in which it was opened. */
  openedIn(name: string): readonly string[];
  reload(): void;
}

export function createSkillShelf(book: SkillBook, folder: string, openedIn: (name: string) => readonly string[]): SkillShelf {
  return {
    folder,
    inspect: inspectSkill,
    hashes: (files) => ({ content: hashContents(files), layers: hashLayersSkill(files) }),
    standing: () => book.all().map((skill) => standingOf(skill, folder)),
    contentOf: (path) => {
      const files = listTree(path);
      return files === null || files.length === 0 ? null : hashTree(path, files);
    },
    below: (path) => findSkills(path).map((found) => found.folder),
    usersOf: (name) => book.composedBy(name),
    openedIn,
    reload: () => void book.reload(),
  };
}

function standingOf({ head, folder }: ShelvedSkill, own: string): StandingSkill {
  const { name, version, requires, deprecation } = head;
  return { name, path: folder, version, requires, deprecation, isOwn: isInside(folder, own) };
}

function inspectSkill(
  given: ReadonlyMap<string, Uint8Array>,
  folderName: string,
): Result<InspectedSkill, { reason: string; hint: string }> {
  const fileName = given.has('SKILL.md') ? 'SKILL.md' : 'skill.md';
  const source = textOf(given.get(fileName));
  const isConverted = isLayersShape(source) && !source.trimStart().startsWith('---');
  const files = isConverted ? bytesOf(convertLayersSkill(given, folderName).files) : renamed(given, fileName);
  const read = readSkillFile(textOf(files.get('SKILL.md')));
  if (!read.ok) return err(read.error);
  const head = readHead(read.value.head, folderName, read.value.body);
  if (head.name === '' || head.description === '')
    return err({ reason: 'It has no name or says nothing of what it is for.', hint: 'Add both to its head.' });
  const linted = { file: read.value, head, folderName: head.name, fileName, files: [...files.keys()] };
  const sha256 = hashContents(files);
  const body = read.value.body;
  return ok({ name: head.name, head, body, files, isConverted, sha256, findings: lintSkill(linted) });
}

function renamed(files: ReadonlyMap<string, Uint8Array>, fileName: string): ReadonlyMap<string, Uint8Array> {
  if (fileName === 'SKILL.md') return files;
  return new Map([...files].map(([path, content]) => [path === fileName ? 'SKILL.md' : path, content] as const));
}

function bytesOf(files: ReadonlyMap<string, Uint8Array | string>): ReadonlyMap<string, Uint8Array> {
  return new Map([...files].map(([path, content]) => [path, Buffer.from(content as string)] as const));
}

function textOf(content: Uint8Array | undefined): string {
  return Buffer.from(content ?? '').toString('utf8');
}
