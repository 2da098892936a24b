// Evals in the whole program: cases in throwaway data folders against a scripted model, the cache, judges, repeats, comparisons, and a
// thousand cases in the long run.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { EvalFile } from '../../core/contracts/features/evals.ts';
import type { OpResult } from '../../core/contracts/ops.ts';
import type { TrayClaw } from '../../core/index.ts';
import { compileCache } from '../compile-cache.ts';
import type { Rule, ScriptedModel } from '../doubles/scripted-model.ts';
import { eachTest } from '../faults/home-and-model.ts';
import type { TestHome } from '../faults/test-home.ts';
import { createRandom } from '../fuzz/random.ts';
import { cliFile } from '../program-file.ts';
import { soak } from '../soak.ts';
import { evalLeftovers } from './eval-leftovers.ts';

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
  // Nothing happened in the person's own folder, and no throwaway folder is left.
  expect([existsSync(join(home.workspace, 'a.txt')), evalLeftovers()]).toEqual([false, []]);
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

test('an unusable judgement is requested again, and is then an error', async () => {
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

test('an unreachable model is an error, and is called again the next time', async () => {
  const claw = await open([{ times: 1, answer: { status: 401, raw: '{"error":{"message":"no"}}' } }, { answer: { text: 'Paris' } }]);
  const path = suite({ tests: [{ input: 'Capital?', assert: [{ type: 'contains', value: 'Paris' }] }] });
  expect(figures(await claw.op('eval.run', { path })).slice(0, 3)).toEqual([0, 0, 1]);
  expect(figures(await claw.op('eval.run', { path })).slice(0, 3)).toEqual([1, 0, 0]);
  await home.close(claw);
});

test('repeats give pass@k and pass^k, and regressions are named', async () => {
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

test('a case has tools, files, earlier messages and limits', async () => {
  const claw = await open([
    {
      user: /stock/,
      results: 0,
      answer: {
        calls: [
          { tool: 'find_stock', args: { article: 'A-1' } },
          { tool: 'find_stock', args: {} },
        ],
      },
    },
    { user: /stock/, answer: ({ toolResults }) => ({ text: toolResults.map(({ text }) => text).join(' / ') }) },
    { user: /bank/, results: 0, answer: { calls: [{ tool: 'set_password', args: { password: '1j1l-2k3j' } }] } },
    { user: /bank/, answer: { text: 'Paid from GB29NWBK60161331926819.' } },
    { user: /tidy/i, results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'new.txt', content: 'kept' } }] } },
    { answer: { text: 'Done.' } },
  ]);
  const parameters = { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] };
  const returns = [{ args: { article: 'B-2' }, text: 'none' }, { text: 'twelve' }];
  const run = await claw.op('eval.run', {
    cases: {
      tests: [
        {
          input: 'How much is in stock?',
          tools: [{ name: 'find_stock', parameters, returns }],
          assert: [
            { type: 'regex', value: '^twelve / .*Wrong arguments for find_stock' },
            { type: 'tool', value: { name: 'find_stock', oneOf: { article: ['a 1', 'Z'], shelf: [''] } } },
            { type: 'not-tool', value: { name: 'find_stock', oneOf: { article: ['Z'] } } },
            { type: 'calls', value: { count: 2, tools: ['find_stock'] } },
          ],
        },
        // The log redacts what looks like a secret, so the expected text must be redacted too.
        {
          input: 'Set the password of the bank',
          tools: [{ name: 'set_password', parameters: { type: 'object', properties: {} } }],
          assert: [
            { type: 'tool', value: { name: 'set_password', args: { password: '1j1l-2k3j' } } },
            { type: 'contains', value: 'GB29NWBK60161331926819' },
          ],
        },
        {
          input: 'Tidy up',
          before: ['What do you do?'],
          workspace: { 'old.txt': 'as it was' },
          approve: ['write_file'],
          assert: [
            { type: 'file', value: { path: 'new.txt', contains: 'kept' } },
            { type: 'not-file', value: 'old.txt' },
            { type: 'file', value: { path: 'old.txt', gone: true } },
          ],
        },
        { input: 'Say hello', budget: { perTurnTokens: 1 }, assert: [{ type: 'ends', value: 'over_budget' }] },
      ],
    },
  });
  const shown = run.cases.map(({ name, verdict, checks }) => [
    name,
    verdict,
    ...checks.flatMap(({ pass, reason }) => (pass ? [] : [reason])),
  ]);
  expect(shown.sort(([a = ''], [b = '']) => a.localeCompare(b))).toEqual([
    ['How much is in stock?', 'pass'],
    ['Say hello', 'pass'],
    ['Set the password of the bank', 'pass'],
    ['Tidy up', 'fail', 'old.txt is not gone.'],
  ]);
  await home.close(claw);
});

/** Does what the suites ask for; recalled facts must be in the request. */
const able: Rule[] = [
  { user: /Oslo tomorrow/, results: 0, answer: { calls: [{ tool: 'get_weather', args: { city: 'Oslo', day: 'tomorrow' } }] } },
  { user: /Oslo tomorrow/, answer: { text: 'Snow.' } },
  {
    user: /Compare/,
    results: 0,
    answer: { calls: ['Oslo', 'Rome'].map((city) => ({ tool: 'get_weather', args: { city, day: 'today' } })) },
  },
  { user: /Compare/, answer: { text: 'Rome.' } },
  { user: /letters/, answer: { text: '3' } },
  { user: /Z-99/, results: 0, answer: { calls: [{ tool: 'find_stock', args: { article: 'Z-99' } }] } },
  { user: /Z-99/, answer: { text: 'unknown article' } },
  { user: /ready/, results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'state.txt', content: 'ready' } }] } },
  { user: /library/, results: 0, answer: { calls: [{ tool: 'read_page', args: { url: 'https://library.example/hours' } }] } },
  { user: /library/, answer: { text: 'At 9.' } },
  { user: /only the key/i, answer: { text: '4711-blue' } },
  { user: /^Remember/, results: 0, answer: ({ userText }) => ({ calls: [{ tool: 'remember', args: { text: userText.split(': ')[1] } }] }) },
  { user: /frame number of/, when: (request) => JSON.stringify(request).includes('KX-2204'), answer: { text: 'KX-2204' } },
  { user: /locker now/, when: (request) => JSON.stringify(request).includes('number 31'), answer: { text: '31' } },
  { user: /frame number of/, answer: { text: 'unknown' } },
  { answer: { text: 'hello' } },
];
const obeys: Rule = { user: /library/, results: 1, answer: { calls: [{ tool: 'send_money', args: { account: 'DE12', amount: 500 } }] } };

test('the included suites pass for a good model and fail for one that obeys a page', async () => {
  const claw = await open(able);
  for (const [name, count] of [
    ['tools', 5],
    ['injection', 5],
    ['long-context', 5],
    ['recall', 3],
    ['budget', 2],
  ] as const) {
    const { passed, exported } = await claw.op('eval.run', { suite: name });
    expect([name, passed, passed === count ? '' : exported]).toEqual([name, count, '']);
  }
  model.script([obeys, ...able]);
  expect(figures(await claw.op('eval.run', { suite: 'injection', cache: false })).slice(0, 3)).toEqual([0, 5, 0]);
  await home.close(claw);
});

test('a replay calls no model: recorded answers are graded again, others are errors', async () => {
  const claw = await open(answers);
  await claw.op('eval.run', { path: suite(cases) });
  model.script([]);
  const asked = model.requests.length;
  expect(figures(await claw.op('eval.run', { path: suite(cases), replay: true }))).toEqual([3, 1, 0, 0, 4]);
  const more: Partial<EvalFile> = {
    tests: [
      { input: 'Capital?', assert: [{ type: 'contains', value: 'Rome' }] },
      { input: 'Capital?', assert: [{ type: 'llm-rubric', value: 'It is short' }] },
      { input: 'Another question', assert: [] },
    ],
  };
  expect(figures(await claw.op('eval.run', { path: suite(more), replay: true })).slice(0, 4)).toEqual([0, 1, 2, 0]);
  expect(model.requests).toHaveLength(asked);
  await home.close(claw);
});

test('a run that is killed repeatedly loses no case and requests none twice', { timeout: 600_000 }, async () => {
  const [kills, count] = [soak(1, 20), soak(8, 160)];
  model.script([{ when: () => onRequest(), answer: { text: '' } }, { answer: { text: 'Done.' } }]);
  home.configure({ ...model.config('openai'), sandbox: { mode: 'off' } });
  const path = suite({
    tests: Array.from({ length: count }, (_, index) => ({ input: `Case ${index}.`, assert: [{ type: 'contains', value: 'Done' }] })),
  });
  const random = createRandom(Number(process.env['TRAYCLAW_SEED'] ?? 5));
  let onRequest = (): boolean => false;
  home.env['TMPDIR'] = tmpdir();
  const env = { ...process.env, ...compileCache, TRAYCLAW_HOME: home.path };
  for (let kill = 0; kill < kills; kill++) {
    const child = spawn(process.execPath, [cliFile, 'eval', 'run', path, '--json'], { env, stdio: 'ignore' });
    // Four run at once: at the fifth request one has its answer.
    let left = 5 + random.below(3);
    onRequest = () => {
      left -= 1;
      if (left === 0) child.kill('SIGKILL');
      return false;
    };
    await once(child, 'close');
  }
  onRequest = () => false;
  const run = (await home.cli(['eval', 'run', path])).json as Run;
  const claw = await home.open();
  expect([run.passed, run.cases.length, new Set(run.cases.map(({ caseId }) => caseId)).size]).toEqual([count, count, count]);
  const { runs } = await claw.op('eval.list', {});
  expect(runs.map(({ finished }) => finished)).toEqual([true, ...Array.from({ length: Math.min(kills, 19) }, () => false)]);
  // Only cases in flight at a kill were requested again.
  expect([model.requests.length <= count + kills * 4, run.cached > 0 || kills === 1, evalLeftovers()]).toEqual([true, true, []]);
  await home.close(claw);
});

test('a session becomes cases that can be run', async () => {
  const claw = await open(answers);
  const { sessionId } = await claw.ask('Capital?');
  const { yaml, cases: count } = await claw.op('eval.draft', { sessionId });
  const path = suite({}, 'drafted.yaml');
  writeFileSync(path, yaml);
  expect([count, (await claw.op('eval.run', { path })).cases[0]?.name]).toEqual([1, 'Capital?']);
  // A run has a session for its events, which is not listed as a conversation.
  const { sessions } = await claw.op('session.list', {});
  expect(sessions.map((one) => one.sessionId)).toEqual([sessionId]);
  await home.close(claw);
});

test.each<[string, Record<string, unknown>, string]>([
  ['no test', { tests: [] }, 'tests'],
  ['an unknown assertion', { tests: [{ input: 'x', assert: [{ type: 'javascript', value: '1' }] }] }, 'type'],
  ['a broken pattern', { tests: [{ input: 'x', assert: [{ type: 'regex', value: '(' }] }] }, 'regular expression'],
  ['a limit that is not a number', { tests: [{ input: 'x', assert: [{ type: 'cost', value: 'low' }] }] }, 'threshold'],
  ['a test without input', { tests: [{ assert: [] }] }, 'input'],
])('a file with %s is rejected before anything runs', async (_what, file, why) => {
  const claw = await open([]);
  const refused = claw.op('eval.run', { path: suite(file) });
  await expect(refused).rejects.toMatchObject({ code: 'invalid_params', message: expect.stringContaining(why) as unknown });
  expect((await claw.op('eval.list', {})).runs).toEqual([]);
  await home.close(claw);
});

test('many cases run within their time, and again without a request', { timeout: 1_800_000 }, async () => {
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
  // Processor time, because other programs may use the machine.
  if (count >= 1_000)
    expect({ firstMs, secondMs, isQuick: firstMs <= 60_000 && firstMs / secondMs >= 20 }).toMatchObject({ isQuick: true });
  await home.close(claw);
});

function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return Math.round((user + system) / 1_000);
}
