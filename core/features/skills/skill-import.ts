// Copies skills from a folder into the workspace: checks each skill completely before writing anything, compares it with a published hash
// if there is one, and installs it with one rename. Trusts nothing and runs nothing.

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from '../../base/make-folders.ts';
import { renameOver } from '../../base/rename-over.ts';
import { AppError } from '../../contracts/errors.ts';
import type { RefusedSkill } from '../../contracts/features/skills.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { hashLayersSkill } from './layers-shape.ts';
import { findSkills, folderNameOf, hashTree, seeTree, type FoundSkill } from './skill-folders.ts';
import { inspectSkill, type InspectedSkill } from './skill-shelf.ts';

export interface ImportWish {
  readonly from: string;
  /** The destination; each skill gets its own subfolder. */
  readonly into: string;
  readonly sha256: string | null;
  readonly replace: boolean;
}

type ImportedSkill = OpResult<'skill.import'>['imported'][number];

type Planned = Pick<InspectedSkill, 'name' | 'files' | 'sha256' | 'isConverted' | 'findings'>;

/** Fails with not_found, or with conflict for an existing name or a wrong hash. Nothing is written then. */
export function importSkills(wish: ImportWish): { imported: ImportedSkill[]; skipped: RefusedSkill[] } {
  const found = findSkills(wish.from);
  if (found.length === 0) {
    throw new AppError('not_found', `There is no SKILL.md in ${wish.from} or below it.`, {
      hint: 'Name the folder that holds the SKILL.md, or one around several.',
    });
  }
  if (wish.sha256 !== null && found.length > 1) {
    throw new AppError('invalid_params', 'A hash belongs to one skill, and there are several in this folder.', {
      hint: 'Name the folder of the one.',
    });
  }
  const plans: Planned[] = [];
  const skipped: RefusedSkill[] = [];
  for (const one of found) {
    const plan = planOne(one, wish.sha256);
    if ('reason' in plan) skipped.push({ path: one.folder, ...plan });
    else plans.push(plan);
  }
  assertFree(plans, wish);
  return { imported: plans.map((plan) => put(plan, wish.into)), skipped };
}

function planOne({ folder, fileName }: FoundSkill, sha256: string | null): Planned | { reason: string; hint: string } {
  const tree = seeTree(folder);
  if (tree === null) return { reason: 'It has more than 500 files or 50 MB.', hint: 'Remove what does not belong to the skill.' };
  const { files } = tree;
  if (tree.hasLinks) return { reason: 'It holds links to other places.', hint: 'Put the files themselves in their place.' };
  const contents = new Map(files.map(({ path }) => [path === fileName ? 'SKILL.md' : path, readFileSync(join(folder, path))]));
  const inspected = inspectSkill(contents, folderNameOf(folder));
  const isOfLayers = inspected.ok && inspected.value.isConverted;
  assertHash(isOfLayers ? hashLayersSkill(contents) : hashTree(folder, files), sha256);
  return inspected.ok ? inspected.value : inspected.error;
}

function assertHash(actual: string, wanted: string | null): void {
  if (wanted === null || wanted === actual) return;
  throw new AppError('conflict', `The content is not what was published: its hash is ${actual}.`, {
    hint: 'Nothing was copied. Get the skill again from where the hash comes from.',
  });
}

function assertFree(plans: readonly Planned[], { into, replace }: ImportWish): void {
  const names = plans.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new AppError('conflict', `Two of these skills are called ${twice}.`, { hint: 'Import them one by one.' });
  const taken = replace ? undefined : names.find((name) => existsSync(join(into, name)));
  if (taken === undefined) return;
  throw new AppError('conflict', `There is already a skill ${taken} in ${into}.`, {
    hint: 'Nothing was copied. Use --replace to put this one in its place.',
  });
}

function put({ name, files, sha256, isConverted, findings }: Planned, into: string): ImportedSkill {
  const place = join(into, name);
  const coming = join(into, `.coming-${randomBytes(6).toString('hex')}`);
  const leaving = join(into, `.leaving-${randomBytes(6).toString('hex')}`);
  try {
    for (const [path, content] of files) {
      const target = join(coming, path);
      makeFolders({ mkdirSync, statSync }, dirname(target));
      writeFileSync(target, content, { mode: 0o600, flag: 'wx' });
    }
    if (existsSync(place)) renameOver({ renameSync }, place, leaving);
    renameOver({ renameSync }, coming, place);
  } finally {
    rmSync(coming, { recursive: true, force: true });
    rmSync(leaving, { recursive: true, force: true });
  }
  return { name, path: place, sha256, converted: isConverted, findings };
}
