// Operations on skills: the list, their problems, and the decisions that only a person makes. The skill book does the work.

import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { renameOver } from '../../base/rename-over.ts';
import { AppError, noPath } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { SkillOrigin, SkillTrustTarget } from '../../contracts/features/skills.ts';
import type { Caller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import type { FactContext } from '../../contracts/tools.ts';
import type { Checkpoints } from '../../store/checkpoint/checkpoint.ts';
import type { Spine } from '../feature.ts';
import type { ShelvedSkill } from './loaded-skill.ts';
import type { SkillBook } from './skill-book.ts';
import { hashTree, listTree } from './skill-folders.ts';
import type { importSkills, ImportWish } from './skill-import.ts';

interface Handled extends Pick<Spine, 'log' | 'ids' | 'workspaces'> {
  readonly skills: SkillBook;
  readonly facts: FactContext;
  readonly panic: { readonly engaged: boolean };
  readonly checkpoints: Pick<Checkpoints, 'take' | 'after'>;
  readonly tools: { list(): readonly { readonly name: string }[] };
  /** Installed skills that no person requested and no skill needs. */
  unneeded(): string[];
  /** Copies skills into the workspace. */
  importSkills(wish: Omit<ImportWish, 'into'>): ReturnType<typeof importSkills>;
}

export function createSkillOps(deps: Handled) {
  const { skills } = deps;
  return {
    'skill.list': ({ query }) => {
      const found = query === undefined ? null : skills.shortlist(query, new Set(deps.tools.list().map(({ name }) => name)));
      return {
        skills: found === null ? skills.list() : found.map(({ name }) => skills.listed(name)),
        refused: [...skills.refused],
        folders: skills.roots.map((root) => ({ ...root })),
      };
    },
    'skill.get': ({ name }) => skills.get(name),
    'skill.lint': ({ name, path }) => ({
      results: skills.lint(path === undefined ? skills.skill(name ?? '').folder : realFolder(path, deps)),
    }),
    'skill.import': ({ path, sha256, replace }, caller) => {
      const from = realFolder(path, deps);
      const done = deps.importSkills({ from, sha256: sha256 ?? null, replace: replace ?? false });
      for (const one of done.imported) {
        const about = { name: one.name, from, path: one.path, sha256: one.sha256, by: caller.actor };
        deps.log.append(systemSessionId, [{ type: 'skill.imported', body: about }], true);
      }
      skills.reload();
      return { imported: done.imported.map((one) => ({ ...one, findings: [...one.findings] })), skipped: done.skipped };
    },
    'skill.remove': ({ name }, caller) => removeSkill(deps, name, caller),
    'skill.trust': (params, caller) => {
      const { target, name } = targetOf(params, deps);
      const trusted = params.trusted ?? true;
      deps.log.append(systemSessionId, [{ type: 'skill.trusted', body: { name, target, trusted, by: caller.actor } }], true);
      skills.reload();
      return { skills: skills.list().filter(({ path }) => isInside(path, target.path)) };
    },
    'skill.configure': ({ name, enabled }, caller) => {
      skills.skill(name);
      deps.log.append(systemSessionId, [{ type: 'skill.configured', body: { name, enabled, by: caller.actor } }], true);
      return skills.listed(name);
    },
    'skill.reload': () => skills.reload(),
  } satisfies Partial<OpHandlers>;
}

/** Takes a checkpoint first, as before a call that writes, so that undo can restore the skill. */
async function removeSkill(deps: Handled, name: string, caller: Caller): Promise<OpResult<'skill.remove'>> {
  if (deps.panic.engaged) throw new AppError('panic_engaged', 'Nothing can be removed while everything is stopped.');
  const { checkpoints, skills, log } = deps;
  skills.reload();
  const path = removableFolder(skills, name);
  const sha256 = contentOf(path);
  const taken = await checkpoints.take([path]);
  const unkept = taken.flatMap(({ before }) => (before.kind === 'unknown' ? [before.reason] : []))[0];
  if (unkept !== undefined || sha256 === '')
    throw new AppError('conflict', `No copy of ${path} can be kept, because ${unkept ?? 'it has more than 500 files or 50 MB'}.`, {
      hint: 'Nothing was removed. Delete the folder yourself if you do not need it.',
    });
  const callId = deps.ids.next('call');
  log.append(systemSessionId, [{ type: 'checkpoint.taken', body: { callId, files: taken } }], true);
  try {
    removeFolder(path, sha256);
    log.append(systemSessionId, [{ type: 'skill.removed', body: { name, path, sha256, callId, by: caller.actor } }]);
  } finally {
    log.append(systemSessionId, [{ type: 'checkpoint.closed', body: { callId, files: await checkpoints.after(taken) } }], true);
    skills.reload();
  }
  return { name, path, callId, unneeded: deps.unneeded() };
}

interface Target {
  readonly target: SkillTrustTarget;
  readonly name: string | null;
}

function targetOf({ name, folder, sha256, trusted }: OpParsed<'skill.trust'>, deps: Handled): Target {
  if (folder !== undefined) return { target: { kind: 'folder', path: trustedFolder(folder, trusted ?? true, deps) }, name: null };
  const view = deps.skills.get(name ?? '');
  if (view.trust === 'bundled') {
    throw new AppError('invalid_params', `${view.name} comes with the program and is always trusted.`, {
      hint: `Switch it off with: trayclaw skills disable ${view.name}`,
    });
  }
  if (sha256 !== undefined && sha256 !== view.sha256) {
    throw new AppError('conflict', `The files of ${view.name} are no longer those you were shown.`, {
      hint: 'Review it again, then trust it.',
    });
  }
  return { target: { kind: 'content', path: view.path, sha256: view.sha256 }, name: view.name };
}

/** A folder that the agent may write to is never trusted as a whole. Only reviewed content in it can be trusted. */
function trustedFolder(folder: string, trusted: boolean, deps: Handled): string {
  const real = realFolder(folder, deps);
  const written = deps.workspaces.openedAround(real);
  if (!trusted || written === null) return real;
  throw new AppError('invalid_params', `The agent itself can write in ${written}, so this folder cannot be trusted as a whole.`, {
    hint: 'Trust its skills one by one: trayclaw skills trust NAME',
  });
}

function realFolder(path: string, { facts }: Handled): string {
  const full = resolve(facts.workspace, path);
  if (!existsSync(full)) throw noPath('folder', full);
  return realpathSync(full);
}

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
function removableFolder(shelf: SkillShelf, name: string): string {
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
function removeFolder(folder: string, sha256: string): void {
  const leaving = join(dirname(folder), `.leaving-${randomBytes(6).toString('hex')}`);
  renameOver({ renameSync }, folder, leaving);
  if (contentOf(leaving) !== sha256) {
    renameOver({ renameSync }, leaving, folder);
    throw new AppError('conflict', `The files in ${folder} were changed just now; nothing was removed.`, { hint: 'Try again.' });
  }
  rmSync(leaving, { recursive: true, force: true });
}

/** The hash of all files, as used for trust. Empty if the folder exceeds the size limits of a skill. */
function contentOf(folder: string): string {
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
