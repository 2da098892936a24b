// Kills during the restore of a backup over a database that crashed, by a process that kills itself at each write: the database is the old
// one with all its events or the restored one, the start raises no alarm, and the next restore works. A few kills in every run, one at each
// write in the long one.

import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import { restoreBackup } from '../../core/store/storage/storage.ts';
import { isSoak, soak } from '../soak.ts';
import { TestHome } from './test-home.ts';

const childFile = fileURLToPath(new URL('restore-crash-child.ts', import.meta.url));
const KILLS = soak(3, 1_000);
const config = { models: { default: 'demo/offline' } };

async function titles(claw: TrayClaw): Promise<string[]> {
  return (await claw.op('session.list', {})).sessions.map(({ title }) => title).sort();
}

function restoreAndDie(home: string, file: string, nth: number, side: string): { readonly killed: boolean; readonly writes: number } {
  const { signal, status, stdout, stderr } = spawnSync(process.execPath, [childFile, home, file, String(nth), side], { encoding: 'utf8' });
  if (signal === null && status !== 0) throw new Error(stderr);
  return { killed: signal === 'SIGKILL', writes: Number(stdout) };
}

test('kills during a restore lose neither database', { timeout: isSoak ? 1_800_000 : 240_000 }, async () => {
  await using home = new TestHome();
  const claw = await home.open({ config });
  await claw.op('session.create', { title: 'early' });
  const { file } = await claw.op('backup.create', {});
  await claw.op('session.create', { title: 'late' });
  // As a kill leaves it: the newest events are only in the write-ahead log.
  const crashed = `${home.path}-crashed`;
  cpSync(home.path, crashed, { recursive: true });
  await home.close(claw);
  const reset = (): void => {
    rmSync(home.path, { recursive: true, force: true });
    cpSync(crashed, home.path, { recursive: true });
  };
  reset();
  const { writes } = restoreAndDie(home.path, file, 0, 'before');
  expect(writes).toBeGreaterThan(5);
  const stride = Math.max(1, Math.floor((2 * writes) / KILLS));
  const states = new Set<string>();
  for (let at = isSoak ? 0 : Math.floor(stride / 2); at < 2 * writes; at += stride) {
    reset();
    const [nth, side] = [Math.floor(at / 2) + 1, at % 2 === 0 ? 'before' : 'after'];
    expect(restoreAndDie(home.path, file, nth, side).killed).toBe(true);
    const where = `killed ${side} write ${nth} of ${writes}`;
    const opened = await home.open({ config });
    const found = (await titles(opened)).join(' ');
    states.add(found);
    expect([where, (await opened.op('audit.verify', {})).ok, (await opened.op('panic.status', {})).engaged]).toEqual([where, true, false]);
    await home.close(opened);
    const kept = readdirSync(home.path).filter((name) => /^trayclaw\.db\.replaced-[0-9TZ.-]+$/.test(name));
    if (found === 'early') restoreBackup(home.path, kept[0] ?? '', Date.now());
    else expect([where, found]).toEqual([where, 'early late']);
    const again = await home.open({ config });
    expect([where, await titles(again)]).toEqual([where, ['early', 'late']]);
    await home.close(again);
    restoreBackup(home.path, file, Date.now());
    expect(readdirSync(home.path).filter((name) => name.includes('restoring'))).toEqual([]);
  }
  if (isSoak) expect([...states].sort()).toEqual(['early', 'early late']);
});
