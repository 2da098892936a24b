// Allows one build at a time: commands started together after a change of the sources wait for the one that builds.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;
const WAIT_MS_MAX = 120_000;

export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  const deadlineMs = performance.now() + WAIT_MS_MAX;
  while (!tryLock(file)) {
    if (performance.now() > deadlineMs) throw new Error(`another build holds ${file} for two minutes; end it or delete the file`);
    await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function tryLock(file: string) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    if (ownerIsGone(file)) rmSync(file, { force: true });
    return false;
  }
}

function ownerIsGone(file: string) {
  let pid;
  try {
    pid = Number(readFileSync(file, 'utf8'));
  } catch {
    return false; // The lock was released at this very moment.
  }
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
