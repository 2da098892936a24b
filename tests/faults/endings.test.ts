// Every command ends with its exit code: after a process was killed in the middle of a turn, and during the indexing of documents. The long
// run kills many times, runs each command after each kill, and runs each command of the tree several times in a separate process. It prints
// its counts.

import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sleep } from '../../core/base/waits.ts';
import { runCli } from '../../core/doors/cli/cli.ts';
import { createTrayClaw } from '../../core/compose.ts';
import { FakeTerminal, fakeParts } from '../doubles/fake-terminal.ts';
import { FakeClaw } from '../doubles/fake-claw.ts';
import type { ScriptedModel } from '../doubles/scripted-model.ts';
import { commandPaths, samples, type Sample, type SamplePlace } from './command-samples.ts';
import { eachTest } from './home-and-model.ts';
import type { TestHome } from './test-home.ts';
import { compileCache } from '../compile-cache.ts';
import { soak } from '../soak.ts';
import { cliFile } from '../program-file.ts';

const kills = soak(1, 150);
const rounds = soak(0, 10);
const HANGS_AFTER_MS = 20_000;
const ownCodes = new Set([0, 1, 2, 3, 4, 5]);

let home: TestHome;
let model: ScriptedModel;

eachTest((made) => ({ home, model } = made));

interface End {
  readonly code: number | null;
  readonly err: string;
}

/** Runs the command in a separate process; the exit code is null if it did not end and had to be killed. */
async function runAlone(path: string, { line, stdin, stays, env: more }: Sample, place: SamplePlace): Promise<End> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home.path,
    TRAYCLAW_HOME: home.path,
    TRAYCLAW_VAULT_PASSPHRASE: 'a passphrase',
    ...compileCache,
    ...more,
  };
  const child = spawn(process.execPath, [cliFile, ...path.split(' '), ...line(place), '--json'], { cwd: place.folder, env });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  child.stdout.on('data', () => {
    if (stays === true) child.kill('SIGTERM');
  });
  child.stdin.on('error', () => undefined).end(stdin ?? '');
  const guard = setTimeout(() => child.kill('SIGKILL'), HANGS_AFTER_MS);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(guard);
  return { code, err };
}

/** Runs the command in this process, on a real runtime that it hosts. */
async function runHere(path: string, { line, stdin }: Sample, place: SamplePlace): Promise<End> {
  const terminal = new FakeTerminal({ stdin: stdin ?? '', env: { TRAYCLAW_HOME: home.path } });
  const parts = fakeParts(new FakeClaw(), {
    hostClaw: ({ home: folder, resume }) => createTrayClaw({ home: folder, resume, environment: {} }),
  });
  const late = new AbortController();
  const running = runCli([...path.split(' '), ...line(place), '--json'], terminal.io, parts);
  const code = await Promise.race([running, sleep(HANGS_AFTER_MS, late.signal).then(() => null)]);
  late.abort();
  if (code === null) {
    terminal.interrupt();
    await running;
  }
  return { code, err: terminal.err };
}

/** Kills a process while its model is about to answer and one call waits for approval. */
async function killInTurn(): Promise<SamplePlace> {
  home.configure(model.config('openai'));
  // Turns that an earlier kill interrupted finish first: left waiting, they would use up the places for running turns.
  model.script([{ answer: { text: 'Hello.' } }]);
  const claw = await home.open();
  const { sessionId, turnId, callId, pending } = await claw.op('tool.run', { tool: 'exec', args: { command: 'touch made' }, wait: false });
  await expect
    .poll(async () => (await claw.op('session.list', { limit: 200 })).sessions.filter(({ status }) => status === 'running'))
    .toEqual([]);
  await home.close(claw);
  model.script([{ answer: { silent: true } }]);
  const asked = model.requests.length;
  const child = spawn(process.execPath, [cliFile, 'ask', 'hello'], {
    stdio: 'ignore',
    env: { PATH: process.env['PATH'] ?? '', HOME: home.path, TRAYCLAW_HOME: home.path, ...compileCache },
  });
  const gone = new Promise((resolve) => child.once('close', resolve));
  while (model.requests.length === asked && child.exitCode === null) await sleep(5);
  child.kill('SIGKILL');
  await gone;
  return placeOf({ session: sessionId, turn: turnId, call: callId, approval: pending?.[0]?.approvalId ?? 'apr_none' });
}

function placeOf(ids: Omit<SamplePlace, 'folder' | 'file'>): SamplePlace {
  const folder = join(home.path, '..', 'documents');
  mkdirSync(folder, { recursive: true });
  for (let at = 0; at < 30; at++) writeFileSync(join(folder, `note-${at}.md`), `# Note ${at}\n\nCats and trains, part ${at}.\n`);
  return { ...ids, folder, file: join(folder, 'note-1.md') };
}

test('the samples cover exactly the commands of the tree', async () => {
  expect(Object.keys(samples).sort()).toEqual((await commandPaths()).sort());
});

test('after a kill during a turn every command that only reads ends', { timeout: 120_000 + kills * 60_000 }, async () => {
  const looking = Object.entries(samples).filter(([, sample]) => sample.looks);
  const hung: string[] = [];
  const wrong: string[] = [];
  let looks = 0;
  for (let kill = 0; kill < kills; kill++) {
    const place = await killInTurn();
    const { sessions } = await lookAt();
    expect(sessions).toContain('running');
    for (const [path, sample] of looking) {
      const { code, err } = await runHere(path, sample, place);
      looks += 1;
      if (code === null || err.includes('Waiting for work')) hung.push(path);
      else if (!ownCodes.has(code)) wrong.push(`${path}: ${code}`);
    }
    const one = looking[kill % looking.length];
    if (one !== undefined && (await runAlone(one[0], one[1], place)).code === null) hung.push(one[0]);
  }
  expect({ hung, wrong }).toEqual({ hung: [], wrong: [] });
  if (kills > 1) process.stderr.write(`${kills} kills, ${looks} looks, ${hung.length} that did not end\n`);
});

async function lookAt(): Promise<{ sessions: (string | null)[] }> {
  const claw = await home.open({ resume: false });
  const { sessions } = await claw.op('session.list', { limit: 100 });
  await claw.close();
  return { sessions: sessions.map(({ status }) => status) };
}

test('with a source of documents every command ends with its exit code', { timeout: 120_000 + rounds * 600_000 }, async () => {
  home.configure({ models: { default: 'demo/offline' } });
  const claw = await home.open();
  const { sessionId, turnId } = await claw.ask('Calculate 1 + 1');
  const { callId, pending } = await claw.op('tool.run', { tool: 'exec', args: { command: 'touch made' }, sessionId, wait: false });
  const place = placeOf({ session: sessionId, turn: turnId, call: callId, approval: pending?.[0]?.approvalId ?? '' });
  await claw.op('knowledge.add', { name: 'docs', path: place.folder, outside: true });
  await home.close(claw);
  const few = ['tool', 'ask', 'knowledge list', 'sessions list'];
  const paths = rounds > 0 ? Object.keys(samples) : few.flatMap((path) => [path, path, path]);
  const odd: string[] = [];
  let ran = 0;
  for (let round = 0; round < Math.max(rounds, 1); round++) {
    for (const path of paths) {
      const sample = samples[path];
      if (sample === undefined) continue;
      const { code, err } = await runAlone(path, sample, place);
      ran += 1;
      if (code === null || !ownCodes.has(code) || err.includes('unsettled')) odd.push(`${path}: ${code} ${err.slice(0, 200)}`);
    }
  }
  if (rounds > 0) process.stderr.write(`${ran} commands, ${odd.length} without a code of their own\n`);
  expect(odd).toEqual([]);
});
