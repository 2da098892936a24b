// A pipeline and a comparison on the command line: failures are explained, and a file is written only with a finished text.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClaw } from '../../../../tests/doubles/fake-claw.ts';
import { FakeTerminal, fakeParts, runCommand } from '../../../../tests/doubles/fake-terminal.ts';
import { runCli } from '../cli.ts';
import type { PipelineView } from '../../../contracts/features/pipelines.ts';
import type { WorkView } from '../../../contracts/features/work.ts';
import type { OpResult } from '../../../contracts/ops.ts';

type Row = OpResult<'pipeline.compare'>['rows'][number];

const failed: PipelineView = {
  pipelineId: 'pip_1',
  sessionId: 'ses_1',
  name: 'research',
  status: 'failed',
  text: '',
  reason: 'The node plan failed: There is no model.',
  nodes: [],
  quality: null,
  tokens: 0,
  modelCalls: 1,
  toolCalls: 0,
  costUsd: 0,
  waitsFor: [],
  startedAtMs: 0,
  finishedAtMs: 1,
};

const failedWork: WorkView = {
  taskId: 'wrk_1',
  sessionId: 'ses_1',
  goal: 'Say hello',
  status: 'fail',
  strategy: 'evaluate',
  attempts: 1,
  candidates: [],
  chosen: null,
  criteria: [],
  text: '',
  reason: 'The turn ended.',
  waitsFor: [],
  costUsd: 0,
  tokens: 0,
  startedAtMs: 0,
  finishedAtMs: 1,
};

test('research that fails says why and writes no file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tcp-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'tower.md');
  const problem = { message: 'This is the offline demo.', hint: 'Set one up: trayclaw setup' };
  const claw = new FakeClaw({
    'pipeline.run': () => failed,
    'model.list': () => ({ models: [], defaultModel: 'demo/offline', problem, failed: [], offers: [] }),
  });
  const ran = await runCommand(['research', 'How tall?', '-o', path], fakeParts(claw));
  expect(ran.err).toContain('This is the offline demo. Set one up: trayclaw setup');
  expect([ran.code, existsSync(path), ran.out.includes(failed.reason), ran.out.includes('Written')]).toEqual([1, false, true, false]);
});

test('research says at the start which tools it works without', async () => {
  const ends: string[] = [];
  const claw = new FakeClaw({
    'pipeline.run': () => ({ ...failed, status: 'running', reason: '', lacks: ['web_search'] }),
    'pipeline.wait': () => {
      ends.push(terminal.err);
      return { ...failed, status: 'done', text: 'It is 330 m high.', reason: '' };
    },
    'model.list': () => ({ models: [], defaultModel: 'lab/big', problem: null, failed: [], offers: [] }),
  });
  const terminal = new FakeTerminal();
  expect(await runCli(['research', 'How tall?'], terminal.io, fakeParts(claw))).toBe(0);
  expect(ends).toEqual([
    'Not set up here, so this works without: web_search. To search the web, choose a service: see docs/guide/browser.md.\n',
  ]);
  expect(terminal.out).toContain('It is 330 m high.');
});

test('says why research cannot write its file, and where the answer is', async () => {
  const claw = new FakeClaw({
    'pipeline.run': () => ({ ...failed, status: 'done', text: 'It is 330 m high.', reason: '' }),
    'model.list': () => ({ models: [], defaultModel: 'lab/big', problem: null, failed: [], offers: [] }),
  });
  const ran = await runCommand(['research', 'How tall?', '-o', '/dev/null/tower.md'], fakeParts(claw));
  expect([ran.code, ran.err]).toEqual([
    2,
    expect.stringMatching(
      /\/dev\/null\/tower\.md cannot be written: a part of this path is a file, not a folder\.\nThe answer is kept: trayclaw pipeline show pip_1\n$/,
    ),
  ]);
});

test.each(['memory export', 'artifacts get x'])('%s --out says why the file cannot be written', async (words) => {
  const folder = mkdtempSync(join(tmpdir(), 'tcp-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const artifact = { sha256: 'x', name: null, mediaType: 'text/plain', sizeBytes: 1, createdAtMs: 0, sessionId: null };
  const claw = new FakeClaw({
    'memory.export': () => ({ text: 'one\n', count: 1 }),
    'artifact.get': () => ({ artifact, text: 'x', base64: null, nextOffset: null }) as never,
  });
  const said = async (file: string): Promise<string> => (await runCommand([...words.split(' '), '--out', file], fakeParts(claw))).err;
  const help = `See: trayclaw ${words.replace(' x', '')} --help\n`;
  expect(await said(join(folder, 'there'))).toBe('');
  expect(await said(join(folder, 'there'))).toBe(`${join(folder, 'there')} is already there.\nName a file that is not there yet.\n`);
  expect(await said(join(folder, 'no', 'x'))).toBe(`${join(folder, 'no', 'x')} cannot be written: there is nothing at this path.\n${help}`);
});

test('a comparison says why one of its answers failed', async () => {
  const figures = { steps: 1, calls: 1, tokens: 0, tookMs: 1, costUsd: 0, quality: null };
  const row: Row = { name: 'lab/small', status: 'failed', ...figures, text: '', reason: 'There is no provider lab.', sessionId: 'ses_1' };
  const claw = new FakeClaw({ 'pipeline.compare': () => ({ rows: [row] }) });
  const { out } = await runCommand(['compare', 'How tall?', '--with', 'lab/small'], fakeParts(claw));
  expect(out).toContain('lab/small: There is no provider lab.');
});

test.each([
  [['failed', 'denied'], 0],
  [['failed', 'over_budget'], 4],
  [['over_budget', 'panic_engaged'], 5],
] as const)('a comparison with the errors %j exits with %i', async (errors, code) => {
  const figures = { steps: 1, calls: 1, tokens: 0, tookMs: 1, costUsd: 0, quality: null };
  const rows = errors.map((error): Row => {
    const ended = error === 'failed' ? { reason: '' } : { reason: 'No.', error: { code: error, message: 'No.' } };
    return { name: 'lab/small', status: 'failed', ...figures, text: '', ...ended, sessionId: 'ses_1' };
  });
  const claw = new FakeClaw({ 'pipeline.compare': () => ({ rows }) });
  expect((await runCommand(['compare', 'How tall?', '--with', 'lab/small'], fakeParts(claw))).code).toBe(code);
});

test('what to compare may be written with commas', async () => {
  const claw = new FakeClaw({ 'pipeline.compare': () => ({ rows: [] }) });
  await runCommand(['compare', 'How tall?', '--with', 'lab/a,lab/b', 'agent:main'], fakeParts(claw));
  expect(claw.calls.map(({ params }) => params)).toEqual([{ text: 'How tall?', with: ['lab/a', 'lab/b', 'agent:main'] }]);
});

test.each([
  ['over_budget', 4],
  ['panic_engaged', 5],
  ['model_timeout', 1],
  ['invalid_params', 1],
] as const)('a run that failed with %s has exit code %i', async (code, exitCode) => {
  const error = { code, message: 'It ended.' };
  const claw = new FakeClaw({ 'pipeline.wait': () => ({ ...failed, error }), 'work.wait': () => ({ ...failedWork, error }) });
  const codes = async (words: string): Promise<number> => (await runCommand(words.split(' '), fakeParts(claw))).code;
  expect([await codes('pipeline continue pip_1'), await codes('work continue wrk_1')]).toEqual([exitCode, exitCode]);
});

test('a folder that is not there is found before anything is asked', async () => {
  const claw = new FakeClaw();
  const ran = await runCommand(['research', 'How tall?', '-o', '/nowhere/at/all/tower.md'], fakeParts(claw));
  expect([ran.code, ran.err]).toEqual([1, 'There is no folder /nowhere/at/all.\nNothing was changed. Check how the path is written.\n']);
  expect(claw.calls).toEqual([]);
});
