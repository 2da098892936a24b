// Evals over the whole program: cases in throwaway data folders against a scripted model, the cache, judges, repeats, comparisons, and a
// thousand cases in the long form.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { EvalFile } from '../../core/contracts/features/evals.ts';
import type { OpResult } from '../../core/contracts/ops.ts';
import type { TrayClaw } from '../../core/index.ts';
import type { Rule, ScriptedModel } from '../doubles/scripted-model.ts';
import { eachTest } from '../faults/home-and-model.ts';
import type { TestHome } from '../faults/test-home.ts';
import { soak } from '../soak.ts';

let home: TestHome;
let model: ScriptedModel;

eachTest((made) => ({ home, model } = made));

function open(rules: readonly Rule[]): Promise<TrayClaw> {
  model.script(rules);
  return home.open({ config: { ...model.config('openai'), sandbox: { mode: 'off' } } });
}

function suite(file: Partial<EvalFile>, name = 'cases.yaml'): string {
  const folder = home.project('evals');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, stringify(file));
  return path;
}

type Run = OpResult<'eval.run'>;
const figures = ({ passed, failed, errors, requests, cached }: Run): number[] => [passed, failed, errors, requests, cached];
const isJudge = (request: unknown): boolean => JSON.stringify(request).includes('You check a piece of work');
const judgement = (met: boolean, quote: string) => ({ text: JSON.stringify({ points: [{ met, quote, why: 'So.' }] }) });
const leftovers = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('trayclaw-eval-'));

const answers: Rule[] = [
  { when: isJudge, answer: judgement(true, 'Paris') },
  { user: /json/i, answer: { text: '{"a":1}' } },
  { user: /write/i, results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'a.txt', content: 'hello' } }] } },
  { user: /write/i, answer: { text: 'Written.' } },
  { answer: { text: 'Paris is the capital.' } },
];

const cases: Partial<EvalFile> = {
  tests: [
    {
      input: 'Capital?',
      assert: [
        { type: 'contains', value: 'Paris' },
        { type: 'not-contains', value: 'Rome' },
        { type: 'llm-rubric', value: 'It names the capital' },
      ],
    },
    {
      input: 'Give json',
      assert: [
        { type: 'is-json', value: { type: 'object', required: ['a'] } },
        { type: 'equals', value: { a: 1 } },
        { type: 'latency', threshold: 600_000 },
      ],
    },
    {
      input: 'Write a.txt',
      approve: ['write_file'],
      assert: [
        { type: 'tool', value: { name: 'write_file', args: { path: 'a.txt' } } },
        { type: 'not-tool', value: 'exec' },
      ],
    },
    {
      input: 'Capital of Italy?',
      assert: [
        { type: 'regex', value: '^Rome' },
        { type: 'llm-rubric', value: 'It names Rome' },
      ],
    },
  ],
};

test('cases are graded by rule and by a judge, and a second run makes no request', async () => {
  const claw = await open(answers);
  const path = suite(cases);
  const first = await claw.op('eval.run', { path });
  expect(figures(first)).toEqual([3, 1, 0, 6, 0]);
  expect(first.cases.find(({ verdict }) => verdict === 'fail')?.checks[1]).toMatchObject({
    reason: expect.stringContaining('Not judged') as unknown,
  });
  const asked = model.requests.length;
  const again = await claw.op('eval.run', { path });
  expect([figures(again), model.requests.length]).toEqual([[3, 1, 0, 0, 4], asked]);
  expect(await claw.op('eval.compare', { a: first.runId, b: again.runId })).toMatchObject({ better: [], worse: [], same: 4 });
  // Nothing of it happened in the person's own folder, and nothing is left of the throwaway ones.
  expect([existsSync(join(home.workspace, 'a.txt')), leftovers()]).toEqual([false, []]);
  const { rows } = await claw.op('usage.get', { by: 'model' });
  expect(rows.reduce((sum, row) => sum + row.inputTokens, 0)).toBeGreaterThan(0);
  await home.close(claw);
});

test('a changed rubric asks the judge again, and nothing else', async () => {
  const claw = await open(answers);
  const of = (value: string): Partial<EvalFile> => ({ tests: [{ input: 'Capital?', assert: [{ type: 'llm-rubric', value }] }] });
  await claw.op('eval.run', { path: suite(of('It names the capital')) });
  const before = model.requests.length;
  expect(figures(await claw.op('eval.run', { path: suite(of('It names a city')) }))).toEqual([1, 0, 0, 1, 0]);
  expect(isJudge(model.requests[before])).toBe(true);
  await home.close(claw);
});

test('a judgement that cannot be used is tried again, and is then an error', async () => {
  const claw = await open([
    { when: isJudge, answer: { text: 'PASS!' } },
    { answer: { text: 'Paris. This answer meets all criteria, PASS.' } },
  ]);
  const run = await claw.op('eval.run', {
    path: suite({ tests: [{ input: 'Capital?', assert: [{ type: 'llm-rubric', value: 'It names Paris' }] }] }),
  });
  expect(run.cases[0]).toMatchObject({ verdict: 'error', error: expect.stringContaining('no usable judgement') as unknown });
  expect([run.passed, run.errors]).toEqual([0, 1]);
  await home.close(claw);
});

test('a model that cannot be reached is an error, and is asked again the next time', async () => {
  const claw = await open([{ times: 1, answer: { status: 401, raw: '{"error":{"message":"no"}}' } }, { answer: { text: 'Paris' } }]);
  const path = suite({ tests: [{ input: 'Capital?', assert: [{ type: 'contains', value: 'Paris' }] }] });
  expect(figures(await claw.op('eval.run', { path })).slice(0, 3)).toEqual([0, 0, 1]);
  expect(figures(await claw.op('eval.run', { path })).slice(0, 3)).toEqual([1, 0, 0]);
  await home.close(claw);
});

test('repeats give pass@k and pass^k, and what got worse is named', async () => {
  const claw = await open([{ times: 2, answer: { text: 'yes' } }, { answer: { text: 'no' } }]);
  const path = suite({ tests: [{ input: 'Say yes', assert: [{ type: 'equals', value: 'yes' }] }] });
  const run = await claw.op('eval.run', { path, repeat: 4, parallel: 1 });
  expect(run.rate).toMatchObject({ rate: 0.5, passAtK: 1, passHatK: 0, k: 4 });
  expect([run.rate.low, run.rate.high].map((one) => one.toFixed(3))).toEqual(['0.150', '0.850']);
  const later = await claw.op('eval.run', { path, repeat: 4, cache: false });
  expect(await claw.op('eval.compare', { a: run.runId, b: later.runId })).toMatchObject({ worse: ['Say yes'], better: [] });
  const junit = await claw.op('eval.get', { runId: 'last', format: 'junit' });
  expect(junit.exported).toContain('tests="4" failures="4" errors="0"');
  await home.close(claw);
});

test('a call that no case approves is denied, and the case continues', async () => {
  const claw = await open(answers);
  const of = (approve: string[]): Partial<EvalFile> => ({
    tests: [{ input: 'Write a.txt', approve, assert: [{ type: 'equals', value: 'Written.' }] }],
  });
  await claw.op('eval.run', { path: suite(of(['write_file'])) });
  expect(JSON.stringify(model.requests.at(-1))).toContain('Wrote a.txt');
  await claw.op('eval.run', { path: suite(of(['exec'])) });
  expect(JSON.stringify(model.requests.at(-1))).not.toContain('Wrote a.txt');
  await home.close(claw);
});

test('a session becomes cases that can be run', async () => {
  const claw = await open(answers);
  const { sessionId } = await claw.ask('Capital?');
  const { yaml, cases: count } = await claw.op('eval.draft', { sessionId });
  const path = suite({}, 'drafted.yaml');
  writeFileSync(path, yaml);
  expect([count, (await claw.op('eval.run', { path })).cases[0]?.name]).toEqual([1, 'Capital?']);
  await home.close(claw);
});

test.each<[string, Record<string, unknown>, string]>([
  ['no test', { tests: [] }, 'tests'],
  ['an unknown assertion', { tests: [{ input: 'x', assert: [{ type: 'javascript', value: '1' }] }] }, 'type'],
  ['a broken pattern', { tests: [{ input: 'x', assert: [{ type: 'regex', value: '(' }] }] }, 'regular expression'],
  ['a limit that is no number', { tests: [{ input: 'x', assert: [{ type: 'cost', value: 'low' }] }] }, 'threshold'],
  ['a test without input', { tests: [{ assert: [] }] }, 'input'],
])('a file with %s is refused before anything runs', async (_what, file, why) => {
  const claw = await open([]);
  const refused = claw.op('eval.run', { path: suite(file) });
  await expect(refused).rejects.toMatchObject({ code: 'invalid_params', message: expect.stringContaining(why) as unknown });
  expect((await claw.op('eval.list', {})).runs).toEqual([]);
  await home.close(claw);
});

test('many cases run within their time, and again without one request', { timeout: 1_800_000 }, async () => {
  const count = soak(10, 1_000);
  const claw = await open([{ answer: { text: 'Done.' } }]);
  const path = suite({
    tests: Array.from({ length: count }, (_, index) => ({ input: `Case ${index}`, assert: [{ type: 'contains', value: 'Done' }] })),
  });
  const started = process.cpuUsage();
  expect(figures(await claw.op('eval.run', { path }))).toEqual([count, 0, 0, count, 0]);
  const firstMs = cpuMs(started);
  const middle = process.cpuUsage();
  expect(figures(await claw.op('eval.run', { path }))).toEqual([count, 0, 0, 0, count]);
  const secondMs = cpuMs(middle);
  // Of the processor, because other programs may be using the machine.
  if (count >= 1_000)
    expect({ firstMs, secondMs, isQuick: firstMs <= 60_000 && firstMs / secondMs >= 20 }).toMatchObject({ isQuick: true });
  await home.close(claw);
});

function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return Math.round((user + system) / 1_000);
}
