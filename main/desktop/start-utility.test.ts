// The engine's child as a utility process of Electron: its messages, its output, its end, and a failure of V8 in it.

import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { lifecycle } from '../../tests/electron/stand-in/lifecycle.ts';
import { utilityProcess } from '../../tests/electron/stand-in/utility-process.ts';
import { needs } from '../../tests/needs.ts';
import { startUtility } from './start-utility.ts';

const script = `
process.parentPort.on('message', ({ data }) => {
  if (data.kind === 'load') process.parentPort.postMessage({ got: data, env: process.env.ONLY, channel: typeof process.send });
  else if (data.kind === 'embed') process.abort();
});
console.error('said on the error output');`;

function started() {
  const folder = mkdtempSync(join(tmpdir(), 'tcu-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'child.mjs');
  writeFileSync(file, script);
  lifecycle.isReady = true;
  const start = startUtility(utilityProcess);
  const child = start(pathToFileURL(file), { ONLY: 'this' });
  const messages: unknown[] = [];
  const ended = Promise.withResolvers<void>();
  const spawned = Promise.withResolvers<void>();
  let errors = '';
  child.onMessage((message) => messages.push(message));
  child.onExit(() => ended.resolve());
  child.onSpawn(() => spawned.resolve());
  child.onError((text) => (errors += text));
  onTestFinished(() => child.kill());
  return { child, messages, ended: ended.promise, spawned: spawned.promise, errors: () => errors };
}

const load = { kind: 'load', library: '/', file: '/model.gguf', contextTokens: 8, threads: 1 } as const;

test('messages and output pass, and the child ends at once when it is killed', needs('a Unix system'), async () => {
  const { child, messages, ended, spawned, errors } = started();
  expect(child.pid).toBeUndefined();
  child.send(load);
  await spawned;
  expect(child.pid).toBeGreaterThan(0);
  await expect.poll(() => messages).toEqual([{ got: load, env: 'this', channel: 'undefined' }]);
  await expect.poll(errors).toContain('said on the error output');
  child.kill();
  await ended;
  expect(child.pid).toBeUndefined();
});

test('an engine that runs out of memory ends alone', needs('a Unix system'), async () => {
  const { child, ended, errors } = started();
  child.send({ kind: 'embed', id: 1, texts: [] });
  await ended;
  expect(errors()).toContain('FatalError in v8::internal::V8::FatalProcessOutOfMemory');
});

test('a child that ended before its exit is reported can be killed', () => {
  const beyondAllPids = 2 ** 30;
  const calls = { pid: beyondAllPids, stdout: null, stderr: null, postMessage: () => undefined, kill: () => false };
  const child = startUtility({ fork: () => Object.assign(new EventEmitter(), calls) })(pathToFileURL('/child.mjs'), {});
  expect(() => process.kill(beyondAllPids, 0)).toThrow('ESRCH');
  expect(() => child.kill()).not.toThrow();
});
