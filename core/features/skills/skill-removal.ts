// Removes a skill's folder from the workspace: first checks whether it may be removed, then removes it with one rename. Keeps no copy; the
// caller has taken one.

import { randomBytes } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { renameOver } from '../../base/rename-over.ts';
import { AppError } from '../../contracts/errors.ts';
import type { SkillOrigin } from '../../contracts/features/skills.ts';
import type { ShelvedSkill } from './loaded-skill.ts';
import { hashTree, listTree } from './skill-folders.ts';

interface SkillShelf {
  readonly roots: readonly { readonly path: string; readonly origin: SkillOrigin }[];
  /** Fails with not_found. */
  skill(name: string): ShelvedSkill;
  /** The names of the skills that declare this one as a requirement. */
  composedBy(name: string): readonly string[];
}

/**
 * The folder to remove. Fails with not_found, with invalid_params for a skill outside the workspace, and with conflict for a skill that
 * other skills need.
 */
export function removableFolder(shelf: SkillShelf, name: string): string {
  const skill = shelf.skill(name);
  const all = [skill.folder, ...skill.shadowed];
  const own = shelf.roots.filter(({ origin }) => origin === 'workspace');
  const folder = all.find((one) => own.some(({ path }) => isInside(one, path)));
  if (folder === undefined) throw notOurs(skill, name);
  const users = all.length > 1 ? [] : shelf.composedBy(name);
  if (users.length === 0) return folder;
  throw new AppError('conflict', `${name} is part of ${users.join(', ')}, which would no longer work without it.`, {
    hint: `Nothing was removed. Remove ${users.join(' and ')} first, or switch ${name} off with: trayclaw skills disable ${name}`,
  });
}

/** Fails with conflict if the files differ from the kept copy. Nothing is removed then. */
export function removeFolder(folder: string, sha256: string): void {
  const leaving = join(dirname(folder), `.leaving-${randomBytes(6).toString('hex')}`);
  renameOver({ renameSync }, folder, leaving);
  if (contentOf(leaving) !== sha256) {
    renameOver({ renameSync }, leaving, folder);
    throw new AppError('conflict', `The files in ${folder} were changed just now; nothing was removed.`, { hint: 'Try again.' });
  }
  rmSync(leaving, { recursive: true, force: true });
}

/** The hash of all files, as used for trust. Empty if the folder exceeds the size limits of a skill. */
export function contentOf(folder: string): string {
  const files = listTree(folder);
  return files === null ? '' : hashTree(folder, files);
}

function notOurs({ origin, folder }: ShelvedSkill, name: string): AppError {
  const off = `Switch it off with: trayclaw skills disable ${name}`;
  if (origin === 'bundled') return new AppError('invalid_params', `${name} comes with the program and cannot be removed.`, { hint: off });
  return new AppError('invalid_params', `${name} is in ${folder}, outside the workspace, where TrayClaw only reads.`, {
    hint: `Delete that folder yourself. ${off}`,
  });
}
