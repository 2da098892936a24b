// The server of a GGUF file belongs to the program: the panic stop kills it too, with everything it started.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { TestHome } from '../faults/test-home.ts';
import { needs } from '../needs.ts';
import { createSharedClock } from '../own-clock.ts';

const program = `#!${process.execPath}
const { createServer } = require('node:http');
const { spawn } = require('node:child_process');
const { writeFileSync } = require('node:fs');
const port = Number(process.argv[process.argv.indexOf('--port') + 1]);
const child = spawn('sleep', ['600'], { stdio: 'ignore', detached: true });
createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    if (request.url === '/health') return response.end();
    response.end(JSON.stringify({ data: JSON.parse(body).input.map((text, index) => ({ index, embedding: Array(16).fill(text.length) })) }));
  });
}).listen(port, '127.0.0.1', () => writeFileSync(__filename + '.pids', process.pid + ' ' + child.pid));
`;

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('the panic stop kills the model server and its children', { ...needs('a Unix system'), timeout: 60_000 }, async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  const file = join(dirname(home.path), 'llama-server.cjs');
  writeFileSync(file, program, { mode: 0o755 });
  home.configure({ models: { default: 'demo/offline' }, embeddings: { kind: 'gguf', program: file, file: 'model.gguf' } });
  const claw = await home.open();
  await claw.op('memory.add', { text: 'The garage is painted green.' });
  await vi.waitFor(() => expect(existsSync(`${file}.pids`)).toBe(true), { timeout: 20_000 });
  const pids = readFileSync(`${file}.pids`, 'utf8').split(' ').map(Number);
  onTestFinished(() => {
    for (const pid of pids) if (isThere(pid)) process.kill(pid, 'SIGKILL');
  });
  expect(pids.map(isThere)).toEqual([true, true]);
  const nowMs = createSharedClock();
  const startMs = nowMs();
  await claw.op('panic.engage', { reason: 'test' });
  await expect.poll(() => pids.map(isThere)).toEqual([false, false]);
  expect(nowMs() - startMs).toBeLessThan(5_000);
});
