// The single-instance lock: one per user data folder, held by a running process. A second process passes its arguments to the first over a
// socket before it continues, as in Electron.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HAND_OVER_WITHIN_MS = 5_000;
/** The system's limit is 108 bytes. */
const SOCKET_CHARS_MAX = 100;

export interface SecondStart {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly data: unknown;
}

/** Runs in a separate process, because the second start waits for it synchronously. */
const handOver = `
  const net = require('node:net'); const [path, message] = process.argv.slice(1); const until = Date.now() + ${HAND_OVER_WITHIN_MS};
  const attempt = () => net.connect(path).once('error', () => Date.now() < until ? setTimeout(attempt, 20) : process.exit(1)).once('connect', function () { this.end(message); this.once('close', () => process.exit(0)); this.resume(); });
  attempt();`;

/** Returns the function that releases the lock, or null if another process has it and was notified of this start. */
export function takeInstanceLock(userData: string, start: SecondStart, onSecond: (start: SecondStart) => void): (() => void) | null {
  mkdirSync(userData, { recursive: true });
  const lock = join(userData, 'standin-lock');
  const socket = socketOf(userData);
  if (!take(lock)) {
    const told = spawnSync(process.execPath, ['-e', handOver, socket, JSON.stringify(start)], { stdio: 'ignore' });
    if (told.status !== 0) throw new Error('the first instance did not answer');
    return null;
  }
  rmSync(socket, { force: true });
  const server = listen(socket, onSecond);
  return () => {
    server.close();
    rmSync(lock, { force: true });
  };
}

/** In the folder itself, which the test removes, unless its path is too long for a socket. */
function socketOf(userData: string): string {
  const own = join(userData, 'standin.sock');
  if (own.length <= SOCKET_CHARS_MAX) return own;
  return join(tmpdir(), `standin-${createHash('sha256').update(userData).digest('hex').slice(0, 16)}.sock`);
}

function listen(path: string, onSecond: (start: SecondStart) => void): Server {
  const server = createServer((connection) => {
    let text = '';
    connection.setEncoding('utf8').on('data', (part: string) => (text += part));
    connection.on('end', () => {
      connection.end();
      onSecond(JSON.parse(text) as SecondStart);
    });
  });
  server.listen(path).unref();
  return server;
}

/** Creates the lock file together with its holder's pid, or not at all. */
function take(lock: string): boolean {
  const own = `${lock}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    for (let attempt = 0; attempt < 2; attempt++) {
      if (tryLink(own, lock)) return true;
      if (isHeld(lock)) return false;
      rmSync(lock, { force: true });
    }
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

function tryLink(own: string, lock: string): boolean {
  try {
    linkSync(own, lock);
    return true;
  } catch {
    // Another process holds the lock, or held it.
    return false;
  }
}

function isHeld(lock: string): boolean {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return true;
  } catch {
    // The process that held the lock is gone.
    return false;
  }
}
