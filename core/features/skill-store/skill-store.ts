// The skill store: search, install and update skills, and tools for people who write them. Only its rows are loaded at start; everything
// else is loaded when an operation needs it.

import * as fs from 'node:fs';
import type { OpHandlers } from '../../contracts/ops.ts';
import { AppError } from '../../contracts/errors.ts';
import { isHere } from '../../contracts/doors.ts';
import type { Caller } from '../../contracts/ops.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import type { AuthoringDeps } from './authoring.ts';
import { skillStoreMigrations, SkillStoreRows } from './rows.ts';
import { recoverInstalls } from './recovery.ts';
import type { Shelf } from './shelf.ts';
import type { DeskDeps, StoreDesk } from './store-desk.ts';

type Taken = Omit<DeskDeps, 'rows' | 'fs'> & {
  readonly shelf: Shelf;
  readonly installs: SkillStoreRows;
  /** Runs the eval cases in a folder with a skill available and trusted. */
  readonly runCases: (...what: [...Parameters<AuthoringDeps['runCases']>, Caller]) => ReturnType<AuthoringDeps['runCases']>;
};

/**
 * The rows of installed skills. They are a separate feature, because the skills feature, whose shelf the store uses, needs them before the
 * store exists.
 */
export const installs = defineBuiltInFeature({
  name: 'skill-installs',
  migrations: skillStoreMigrations,
  rows: ({ db }) => new SkillStoreRows(db),
  create: (_spine: Pick<Spine, 'log'>, rows: SkillStoreRows) => ({
    gives: { installs: rows, unneeded: (there: Parameters<typeof unneededOf>[1]) => unneededOf(rows, there) },
  }),
});

export const skillStore = defineBuiltInFeature({
  name: 'skill-store',
  create: (spine: Taken & Pick<Spine, 'facts'>) => {
    const { shelf, runCases, installs: rows } = spine;
    let opened: Promise<StoreDesk> | null = null;
    const desk = (): Promise<StoreDesk> =>
      (opened ??= import('./store-desk.ts').then(({ StoreDesk: Desk }) => new Desk({ ...spine, rows })));
    const authoring = async (caller: Caller) => {
      assertHere(caller);
      const { Authoring } = await import('./authoring.ts');
      const secretsIn = (text: string) => spine.safety.redact(text).found;
      return new Authoring({ shelf, secretsIn, workspace: spine.facts.workspace, runCases: (...what) => runCases(...what, caller) });
    };
    const handlers = {
      'skill.search': async (params, caller) => (await desk()).search(params, caller),
      'skill.plan': async (params, caller) => {
        assertHere(caller);
        return (await desk()).plan(params, caller);
      },
      'skill.install': async (params, caller) => (await desk()).install(params, caller),
      'skill.outdated': async (_params, caller) => (await desk()).outdated(caller),
      'skill.info': async ({ name }) => (await desk()).info(name),
      'skill.pin': async (params, caller) => (await desk()).pin(params, caller),
      'skill.new': async (params, caller) => (await authoring(caller)).create(params),
      'skill.test': async (params, caller) => (await authoring(caller)).test(params),
      'skill.pack': async (params, caller) => (await authoring(caller)).pack(params),
      'skill.publish': async (params, caller) => (await authoring(caller)).publish(params),
    } satisfies Partial<OpHandlers>;
    return {
      handlers,
      // Runs before the first operation, so that nothing sees a partial installation.
      begin: () => {
        recoverInstalls({ ...spine, rows, shelf, fs });
      },
      dispose: async () => (await opened)?.dispose(),
    };
  },
});

/** Installed skills that no person requested and no skill needs any more. */
function unneededOf(rows: SkillStoreRows, shelf: Pick<Shelf, 'standing' | 'usersOf'>): string[] {
  const there = new Set(shelf.standing().flatMap(({ name, isOwn }) => (isOwn ? [name] : [])));
  const entries = rows.entries().filter(({ name, isWanted }) => !isWanted && there.has(name));
  return entries.map(({ name }) => name).filter((name) => shelf.usersOf(name).length === 0);
}

function assertHere(caller: Caller): void {
  if (!isHere(caller.channel)) throw new AppError('denied', 'Only callers on this computer may name a file.');
}
