// The interface of the skills feature for the store: inspects a package in memory, lists the installed skills, and reloads. Does not know
// where a package comes from.

import { isInside } from '../../base/inside-folder.ts';
import { err, ok } from '../../base/result.ts';
import { convertLayersSkill, hashLayersSkill, isLayersShape } from './layers-shape.ts';
import type { ShelvedSkill } from './loaded-skill.ts';
import type { SkillBook } from './skill-book.ts';
import { findSkills, hashContents, hashTree, listTree } from './skill-folders.ts';
import { readSkillFile } from './skill-file.ts';
import { readHead } from './skill-head.ts';
import { lintSkill } from './skill-lint.ts';

export type SkillShelf = ReturnType<typeof createSkillShelf>;

export function createSkillShelf(book: SkillBook, folder: string, openedIn: (name: string) => readonly string[]) {
  return {
    folder,
    inspect: inspectSkill,
    /**
     * The hashes of a package as published. `layers` is the hash of the layers project, which covers only SKILL.md, skill.py and
     * policy.yaml.
     */
    hashes: (files: ReadonlyMap<string, Uint8Array>) => ({ content: hashContents(files), layers: hashLayersSkill(files) }),
    standing: () => book.all().map((skill) => standingOf(skill, folder)),
    contentOf: (path: string) => {
      const files = listTree(path);
      return files === null || files.length === 0 ? null : hashTree(path, files);
    },
    below: (path: string) => findSkills(path).map((found) => found.folder),
    usersOf: (name: string) => book.composedBy(name),
    openedIn,
    reload: () => void book.reload(),
  };
}

function standingOf({ head, folder }: ShelvedSkill, own: string) {
  const { name, version, requires, deprecation } = head;
  return { name, path: folder, version, requires, deprecation, isOwn: isInside(folder, own) };
}

export type InspectedSkill = Extract<ReturnType<typeof inspectSkill>, { ok: true }>['value'];

/** The skill in a package, with its files as they are installed. */
export function inspectSkill(given: ReadonlyMap<string, Uint8Array>, folderName: string) {
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
