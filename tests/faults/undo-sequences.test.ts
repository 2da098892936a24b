// Random changes of a tree, undone: turn by turn, the tree is restored byte for byte, including modes and folders; call by call in any
// order, a refused undo changes nothing, and in the end everything is restored.

import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UndoRig, type RigCall } from '../doubles/undo-rig.ts';
import { isSoak, soak } from '../soak.ts';

const names = ['a.txt', 'b.bin', 'ünï/日本語 ☃.md', 'deep/er/c', 'deep/d', '.hidden', 'deep/er/still/e'];
const folders = ['deep', 'deep/er', 'ünï', 'new'];
const modes = [0o644, 0o600, 0o755, 0o444];

const anyOperation = fc.record({
  kind: fc.constantFrom(
    'write',
    'edit',
    'append',
    'write',
    'edit',
    'empty',
    'binary',
    'mode',
    'large',
    'remove',
    'move',
    'make',
    'clear',
    'nothing',
  ),
  name: fc.constantFrom(...names),
  other: fc.constantFrom(...names),
  folder: fc.constantFrom(...folders),
  mode: fc.constantFrom(...modes),
});
type Operation = typeof anyOperation extends fc.Arbitrary<infer T> ? T : never;

interface Planned {
  readonly targets: readonly string[];
  run(): void;
}

/** The targets and the effect of an operation on the current tree; null if it is impossible there. */
function plan(rig: UndoRig, operation: Operation, nth: number): Planned | null {
  return operation.kind in contents ? planContent(rig, operation, nth) : planPlace(rig, operation);
}

const contents: Partial<Record<Operation['kind'], (nth: number) => string | Uint8Array>> = {
  write: (nth) => `text ${nth}\nline\n`,
  empty: () => '',
  binary: (nth) => Uint8Array.from([0, 255, nth, 10, 13, 0, nth]),
  large: (nth) => Buffer.alloc(150_000, nth),
};

function planContent(rig: UndoRig, { kind, name }: Operation, nth: number): Planned {
  const path = rig.path(name);
  return {
    targets: [name],
    run: () => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, contents[kind]?.(nth) ?? '');
    },
  };
}

function planPlace(rig: UndoRig, { kind, name, other, folder, mode }: Operation): Planned | null {
  const [path, place, aim] = [rig.path(name), rig.path(folder), rig.path(other)];
  const one = (run: () => void): Planned | null => (existsSync(path) ? { targets: [name], run } : null);
  switch (kind) {
    case 'edit':
      return one(() => writeFileSync(path, readFileSync(path, 'latin1').replace('line', 'edited\nline') + '!', 'latin1'));
    case 'append':
      return one(() => appendFileSync(path, 'more\n'));
    case 'mode':
      return one(() => chmodSync(path, mode));
    case 'remove':
      return one(() => rmSync(path));
    case 'move':
      if (!existsSync(path) || name === other || !existsSync(dirname(aim))) return null;
      return { targets: [name, other], run: () => renameSync(path, aim) };
    case 'make':
      if (existsSync(place) || !existsSync(dirname(place))) return null;
      return { targets: [folder], run: () => mkdirSync(place, { mode: 0o750 }) };
    case 'clear':
      return existsSync(place) ? { targets: [folder], run: () => rmSync(place, { recursive: true }) } : null;
    default:
      return { targets: [name], run: () => undefined };
  }
}

const story = fc.record({
  start: fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...modes)), { maxLength: 4 }),
  turns: fc.array(fc.array(anyOperation, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }),
  order: fc.array(fc.nat({ max: 1000 }), { minLength: 15, maxLength: 15 }),
});

function begin(rig: UndoRig, start: readonly (readonly [string, number])[]): void {
  rmSync(rig.tree, { recursive: true, force: true });
  mkdirSync(rig.tree);
  for (const [name, mode] of start) {
    mkdirSync(dirname(rig.path(name)), { recursive: true });
    writeFileSync(rig.path(name), `start of ${name}\nline\n`);
    chmodSync(rig.path(name), mode);
  }
}

let storyCount = 0;

async function act(
  rig: UndoRig,
  turns: readonly (readonly Operation[])[],
): Promise<{ turnIds: string[]; calls: RigCall[]; trees: Record<string, string>[] }> {
  storyCount += 1;
  const calls: RigCall[] = [];
  const trees = [rig.snapshot()];
  const turnIds: string[] = [];
  let nth = 0;
  for (const [index, turn] of turns.entries()) {
    const turnId = `trn_${storyCount}_${index}`;
    const before = calls.length;
    for (const one of turn) {
      const planned = plan(rig, one, ++nth);
      if (planned !== null) calls.push(await rig.call(turnId, planned.targets, () => planned.run()));
    }
    if (calls.length === before) continue;
    turnIds.push(turnId);
    trees.push(rig.snapshot());
  }
  return { turnIds, calls, trees };
}

/** Removes empty folders: a folder that was only created as a parent and is empty is not recreated. */
function withoutEmptyFolders(tree: Record<string, string>): Record<string, string> {
  const paths = Object.keys(tree);
  const holds = (folder: string): boolean => paths.some((path) => path.startsWith(folder) && !path.endsWith('/'));
  return Object.fromEntries(Object.entries(tree).filter(([path]) => !path.endsWith('/') || holds(path)));
}

const runs = soak(150, 5_000);
const timeoutMs = isSoak ? 3_600_000 : 120_000;

/** Creates a new rig every hundred stories, because data that earlier ones left in the database slows later ones. */
class Rigs {
  #rig = new UndoRig();
  #stories = 0;

  next(): UndoRig {
    if (++this.#stories % 100 > 0) return this.#rig;
    this.#rig.dispose();
    return (this.#rig = new UndoRig());
  }

  [Symbol.dispose](): void {
    this.#rig.dispose();
  }
}

test('turns undone from the last one on restore the tree, and each can be redone', { timeout: timeoutMs }, async () => {
  using rigs = new Rigs();
  await fc.assert(
    fc.asyncProperty(story, async ({ start, turns }) => {
      const rig = rigs.next();
      begin(rig, start);
      const { turnIds, trees } = await act(rig, turns);
      for (const [index, turnId] of [...turnIds.entries()].reverse()) {
        const undone = await rig.undo({ turnId });
        expect(undone.refused).toEqual([]);
        expect(rig.snapshot()).toEqual(trees[index]);
        if (undone.restoreId === null) continue;
        expect((await rig.undo({ callId: undone.restoreId })).refused).toEqual([]);
        expect(withoutEmptyFolders(rig.snapshot())).toEqual(withoutEmptyFolders(trees[index + 1] ?? {}));
        expect((await rig.undo({ turnId })).refused).toEqual([]);
        expect(rig.snapshot()).toEqual(trees[index]);
      }
    }),
    { numRuns: runs, seed: 7 },
  );
});

test('calls undone in any order: a refusal changes nothing, in the end all is restored', { timeout: timeoutMs }, async () => {
  using rigs = new Rigs();
  let refusals = 0;
  await fc.assert(
    fc.asyncProperty(story, async ({ start, turns, order }) => {
      const rig = rigs.next();
      begin(rig, start);
      const { calls, trees } = await act(rig, turns);
      const left = [...calls];
      for (let tries = 0; tries < calls.length && left.length > 0; tries++) {
        const at = (order[tries] ?? 0) % left.length;
        const before = rig.snapshot();
        const { refused } = await rig.undo({ callId: left[at]?.callId ?? '' });
        if (refused.length === 0) left.splice(at, 1);
        else {
          refusals += 1;
          expect(rig.snapshot()).toEqual(before);
        }
      }
      for (const { callId } of calls.toReversed()) await rig.undo({ callId });
      expect(rig.snapshot()).toEqual(trees[0]);
    }),
    { numRuns: runs, seed: 11 },
  );
  expect(refusals).toBeGreaterThan(runs / 10);
});
