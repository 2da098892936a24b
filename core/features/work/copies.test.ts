import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { changesOf, deleteCopies, makeCopy, readTree } from './copies.ts';

let folder: string;
let workspace: string;
const place = () => ({ temporaryFolder: folder, taskId: 'wrk_1' });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trayclaw-copies-'));
  workspace = join(folder, 'workspace');
  mkdirSync(join(workspace, 'below'), { recursive: true });
  writeFileSync(join(workspace, 'below', 'a.txt'), 'a');
  writeFileSync(join(workspace, 'b.txt'), 'b');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a copy equals the workspace, and its changes are those needed to make them equal', () => {
  const copy = makeCopy(place(), workspace, 1);
  expect(readTree(copy)).toEqual(readTree(workspace));
  expect(changesOf(place(), copy, workspace)).toEqual([]);
  writeFileSync(join(copy, 'new.txt'), 'new');
  writeFileSync(join(copy, 'below', 'a.txt'), 'A');
  rmSync(join(copy, 'b.txt'));
  expect(changesOf(place(), copy, workspace)).toEqual([
    { path: 'b.txt', kind: 'delete' },
    { path: 'below/a.txt', kind: 'write' },
    { path: 'new.txt', kind: 'write' },
  ]);
});

test('files the person changed in the meantime are never overwritten, others stay', () => {
  const copy = makeCopy(place(), workspace, 1);
  writeFileSync(join(copy, 'b.txt'), 'B');
  writeFileSync(join(workspace, 'mine.txt'), 'mine');
  expect(changesOf(place(), copy, workspace)).toEqual([{ path: 'b.txt', kind: 'write' }]);
  writeFileSync(join(workspace, 'b.txt'), 'mine too');
  expect(() => changesOf(place(), copy, workspace)).toThrow(expect.objectContaining({ code: 'conflict' }));
  expect(readFileSync(join(workspace, 'b.txt'), 'utf8')).toBe('mine too');
});

test('copies are deleted together with their base file', () => {
  const copies = [makeCopy(place(), workspace, 1), makeCopy(place(), workspace, 2)];
  deleteCopies(place(), copies);
  expect([copies.filter((copy) => existsSync(copy)), existsSync(workspace)]).toEqual([[], true]);
});
