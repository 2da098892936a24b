// Unusable data folders: each is reported in one sentence at once.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAppError } from '../../core/contracts/errors.ts';
import { createTrayClaw } from '../../core/index.ts';
import { needs } from '../needs.ts';
import { cliFile } from '../program-file.ts';
import { ownNow } from '../own-clock.ts';

const onUnix = needs('a Unix system');

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'trayclaw-odd-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function open(home: string): Promise<string> {
  const startedMs = ownNow();
  try {
    const claw = await createTrayClaw({ home, environment: {} });
    await claw.close();
    return 'opened';
  } catch (cause) {
    if (!isAppError(cause)) throw cause;
    expect(ownNow() - startedMs).toBeLessThan(5_000);
    expect(cause.hint).toBeDefined();
    return `${cause.code}: ${cause.message.replaceAll(root, '')}`;
  }
}

test('reports places where no folder can exist', async () => {
  writeFileSync(join(root, 'file'), '');
  symlinkSync('loop', join(root, 'loop'));
  const said = async (path: string): Promise<string> => (await open(path)).replace(/ n{9,} /, ' ');
  expect(await said(join(root, 'file'))).toContain('something else that is not a folder');
  expect(await said(join(root, 'file', 'below'))).toContain('not a folder');
  expect(await said(join(root, 'loop'))).toContain('form a loop');
  expect(await said(join(root, 'n'.repeat(300)))).toContain('too long');
  for (const path of ['/proc/trayclaw', '/proc/sys/trayclaw'])
    if (existsSync('/proc/self')) expect(await said(path)).toMatch(/^store_readonly/);
});

test('a device is not changed', onUnix, async () => {
  const { mode } = statSync('/dev/null');
  expect(await open('/dev/null')).toMatch(/^store_readonly/);
  expect(statSync('/dev/null').mode).toBe(mode);
});

test('a pipe or a device in place of a file is not read', onUnix, async () => {
  for (const name of ['fifo', 'zero', 'instance']) mkdirSync(join(root, name));
  execFileSync('mkfifo', [join(root, 'fifo', 'config.yaml')]);
  symlinkSync('/dev/zero', join(root, 'zero', 'config.yaml'));
  for (const name of ['fifo', 'zero'])
    expect(await open(join(root, name))).toBe(`invalid_config: /${name}/config.yaml is not a plain file.`);
});

test('a workspace whose disk is not there is named, with what to do', onUnix, async () => {
  const workspace = join(root, 'home', 'workspace');
  mkdirSync(join(root, 'home'));
  symlinkSync('/nowhere/disk', workspace);
  expect(await open(join(root, 'home'))).toBe(
    'store_readonly: The workspace /home/workspace cannot be used: it is a link to /nowhere/disk, where there is nothing.',
  );
  rmSync(workspace);
  writeFileSync(workspace, '');
  expect(await open(join(root, 'home'))).toContain('something else that is not a folder');
});

test('a folder in place of a file of the store is named, with what to do', async () => {
  for (const name of ['trayclaw.head', 'trayclaw.db', 'trayclaw.db-wal', 'trayclaw.db-shm', 'owner.lock']) {
    const home = join(root, name);
    mkdirSync(join(home, name), { recursive: true });
    expect(await open(home)).toBe(`store_readonly: /${name}/${name} could not be used: this is a folder, not a file.`);
  }
});

test('a file in place of the folder of the local socket is named, and does not hinder the end', onUnix, () => {
  mkdirSync(join(root, 'home'), { mode: 0o700 });
  writeFileSync(join(root, 'home', 'run'), '');
  const args = [cliFile, '--home', join(root, 'home'), 'sessions', 'list'];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { PATH: process.env['PATH'] ?? '' } });
  expect([status, stderr.trim().split('\n')]).toEqual([0, [expect.stringContaining('run is not a folder. Remove ') as string]]);
});

test('a limit on open files is said to be one, not a matter of permissions', needs('Linux'), () => {
  const run = (limit: number) => {
    const command = `ulimit -n ${limit}; exec "${process.execPath}" "${cliFile}" --home "${join(root, 'home')}" sessions list`;
    return spawnSync('bash', ['--norc', '-c', command], { encoding: 'utf8', env: { PATH: process.env['PATH'] ?? '' } });
  };
  expect(run(1_000)).toMatchObject({ status: 0 });
  for (const limit of [22, 26]) {
    const { status, stderr } = run(limit);
    expect([status, stderr]).toEqual([1, expect.stringContaining('too many files are open') as string]);
    expect(stderr).toContain('ulimit -n');
  }
});

test('a lock file with garbage in it is used again, and its lock still holds', onUnix, async () => {
  mkdirSync(join(root, 'home'), { mode: 0o700 });
  writeFileSync(join(root, 'home', 'owner.lock'), 'garbage '.repeat(500));
  const claw = await createTrayClaw({ home: join(root, 'home'), environment: {} });
  try {
    expect(await open(join(root, 'home'))).toMatch(/^store_locked/);
  } finally {
    await claw.close();
  }
  expect(await open(join(root, 'home'))).toBe('opened');
});
