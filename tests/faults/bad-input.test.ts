// Everything that can be wrong with what is given: each case asserts the code, that the message names the thing, that there is a hint
// where something can be done, and that afterwards the log verifies and the session goes on.

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ErrorBody, ErrorCode } from '../../core/contracts/errors.ts';
import type { OpName } from '../../core/contracts/ops.ts';
import { AppError, createTrayClaw, type TrayClaw } from '../../core/index.ts';
import { ScriptedModel, type Answer, type Rule, type WireFormat } from '../doubles/scripted-model.ts';
import { eventsOf } from './replay-check.ts';
import { TestHome } from './test-home.ts';

const sessionId = 'kept';
const isRoot = process.getuid?.() === 0;
let home: TestHome;
let model: ScriptedModel;

beforeEach(async () => {
  home = new TestHome();
  home.env['MODEL_KEY'] = 'sk-bad-input-key';
  model = await ScriptedModel.start();
});

afterEach(async () => {
  await home.dispose();
  await model.close();
});

const goodRule: Rule = { user: 'remember', answer: { text: 'It is remembered.' } };
const settings = (format: WireFormat = 'openai') => {
  const { providers, models } = model.config(format);
  const timeouts = { connectMs: 500, firstTokenMs: 3_000, idleMs: 300, totalMs: 8_000 };
  return { providers, models: { ...models, timeouts, retries: 1 } };
};

/** A folder with a session in it, closed in good order. */
async function seed(): Promise<void> {
  model.script([goodRule]);
  const claw = await home.open({ config: settings() });
  expect((await claw.ask('remember', { sessionId })).status).toBe('done');
  await home.close(claw);
}

/** Nothing is lost: the session of the seed is there, the log verifies, and the session goes on. */
async function expectWhole(claw: TrayClaw): Promise<void> {
  model.script([goodRule]);
  const { session } = await claw.op('session.get', { sessionId });
  const again = await claw.ask('remember this too', { sessionId });
  const { ok } = await claw.op('audit.verify', {});
  expect({ id: session.sessionId, answer: again.text, ok }).toEqual({ id: sessionId, answer: 'It is remembered.', ok: true });
}

async function failureOf(promise: Promise<unknown>): Promise<ErrorBody> {
  try {
    await promise;
  } catch (cause) {
    if (cause instanceof AppError) return cause.toBody();
    throw cause;
  }
  throw new Error('it was expected to fail');
}

interface Expected {
  readonly code: ErrorCode;
  readonly says: RegExp;
  /** Where nothing can be done by the person, none. */
  readonly hint?: false;
}

function expectClear(error: ErrorBody | undefined, { code, says, hint }: Expected): void {
  expect({ code: error?.code, message: error?.message }).toEqual({ code, message: expect.stringMatching(says) as string });
  if (hint !== false) expect(error?.hint ?? '').toMatch(/\w+ \w+/);
  expect(error?.message).not.toMatch(/undefined|\[object|at .*\.ts:\d+|Error:/);
}

const badConfigs: [string, string, RegExp][] = [
  ['an unknown key at the top', 'colour: red', /unknown key colour/],
  ['an unknown key one level down', 'models: { defualt: demo/offline }', /unknown key models\.defualt/],
  [
    'an unknown key two levels down',
    'providers: { lab: { kind: openai-compatible, baseUrl: "http://127.0.0.1:1/v1", apikey: "env:K" } }',
    /providers\.lab\.apikey/,
  ],
  ['an unknown key three levels down', 'channels: { telegram: { token: "env:T", rooms: [] } }', /channels\.telegram\.rooms/],
  ['a number where words belong', 'models: { default: 7 }', /models\.default: .*string/],
  ['words where a number belongs', 'budget: { perDayUsd: lots }', /budget\.perDayUsd: .*number/],
  ['a number out of range', 'limits: { steps: 0 }', /limits\.steps/],
  [
    'a secret in plain text',
    'providers: { lab: { kind: openai, apiKey: "sk-live-verysecretvalue" } }',
    /providers\.lab\.apiKey: must be keychain:NAME/,
  ],
  ['an unknown kind of provider', 'providers: { lab: { kind: skynet } }', /providers\.lab\.kind: .*openai/],
  ['an address that is none', 'providers: { lab: { kind: openai-compatible, baseUrl: "not an address" } }', /providers\.lab\.baseUrl/],
  ['a file that is no YAML', 'models: [\n  default: "x', /not valid YAML.*line/s],
  ['a file that is a list', '- one\n- two', /must hold keys and values/],
];

test.each(badConfigs)('config: %s', async (_name, yaml, says) => {
  await seed();
  home.configure(yaml);
  const error = await failureOf(home.open());
  expectClear(error, { code: 'invalid_config', says });
  expect(JSON.stringify(error)).not.toContain('verysecretvalue');
  home.configure(settings());
  await expectWhole(await home.open());
});

interface StoreCase {
  readonly name: string;
  spoil(file: string): void;
  readonly expected: Expected;
}

const storeCases: StoreCase[] = [
  {
    name: 'a page of the database is garbage',
    spoil: (file) => {
      const bytes = readFileSync(file);
      bytes.fill(0xa5, 100, 4096);
      writeFileSync(file, bytes);
    },
    expected: { code: 'store_corrupt', says: /database file is damaged/ },
  },
  {
    name: 'the file is no database',
    spoil: (file) => writeFileSync(file, 'a shopping list, '.repeat(600)),
    expected: { code: 'store_corrupt', says: /not a database/ },
  },
  {
    name: 'the file ends in the middle',
    spoil: (file) => truncateSync(file, 5_000),
    expected: { code: 'store_corrupt', says: /database file/ },
  },
  {
    name: 'a newer version wrote it',
    spoil: (file) => {
      const db = new Database(file);
      db.exec("INSERT INTO migrations (id, min_safe_version, applied_at_ms) VALUES ('9999-later', 99, 0)");
      db.close();
    },
    expected: { code: 'store_too_new', says: /written by a newer TrayClaw/ },
  },
];

test.each(storeCases)('store: $name', async ({ spoil, expected }) => {
  await seed();
  const file = join(home.path, 'trayclaw.db');
  copyFileSync(file, `${file}.kept`);
  spoil(file);
  const spoiled = readFileSync(file);
  expectClear(await failureOf(home.open({ config: settings() })), expected);
  // The damaged file was not made worse.
  expect(readFileSync(file).equals(spoiled)).toBe(true);
  for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
  copyFileSync(`${file}.kept`, file);
  await expectWhole(await home.open({ config: settings() }));
});

test('store: a second program on the same folder', async () => {
  await seed();
  const claw = await home.open({ config: settings() });
  expectClear(await failureOf(home.open({ config: settings() })), { code: 'store_locked', says: /Another TrayClaw is using .*home/ });
  await expectWhole(claw);
});

test.skipIf(!isRoot || process.platform !== 'linux')(
  'store: the disk is full, and then is not (skipped where no disk can be mounted)',
  async (context) => {
    const disk = join(home.path, '..', 'disk');
    mkdirSync(disk);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]).status !== 0) context.skip('this machine mounts no tmpfs');
    try {
      const options = { config: settings() };
      model.script([goodRule]);
      const claw = await createTrayClaw({ home: join(disk, 'home'), ...options });
      await claw.ask('remember', { sessionId });
      const filler = join(disk, 'filler');
      for (let mb = 0; mb < 8; mb++) spawnSync('sh', ['-c', `dd if=/dev/zero bs=4096 count=256 >> '${filler}' 2>/dev/null`]);
      let failure: ErrorBody | null = null;
      for (let n = 0; n < 200 && failure === null; n++) {
        const sent = claw.op('message.send', { text: `remember ${'x'.repeat(20_000)}`, sessionId: `more-${n}` });
        failure = await sent.then(
          () => null,
          (cause: unknown) => (cause instanceof AppError ? cause.toBody() : Promise.reject(cause as Error)),
        );
      }
      expectClear(failure ?? undefined, { code: 'store_full', says: /disk is full/ });
      rmSync(filler);
      await expectWhole(claw);
      await claw.close();
    } finally {
      spawnSync('umount', ['-l', disk]);
    }
  },
);

test.skipIf(process.platform !== 'linux')('store: a data folder nobody may write', async () => {
  await seed();
  const script = `import { createTrayClaw } from ${JSON.stringify(new URL('../../core/index.ts', import.meta.url).href)};
    try { await createTrayClaw({ home: ${JSON.stringify(home.path)}, config: {} }); console.log('{}'); }
    catch (cause) { console.log(JSON.stringify(cause.toBody?.() ?? { message: String(cause) })); }`;
  const node = [process.execPath, '--input-type=module-typescript', '-e', script];
  spawnSync('chmod', ['-R', 'a-w,a+rX', home.path]);
  // Root may write anything: here the folder is somebody else's and root has lost what makes it root.
  if (isRoot) spawnSync('chown', ['-R', '65534:65534', home.path]);
  const asNobody = isRoot ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search,-fowner', ...node] : node;
  const ran = spawnSync(asNobody[0] ?? '', asNobody.slice(1), { encoding: 'utf8' });
  if (isRoot) spawnSync('chown', ['-R', '0:0', home.path]);
  spawnSync('chmod', ['-R', 'u+rwX', home.path]);
  expect(ran.stderr).toBe('');
  expectClear(JSON.parse(ran.stdout) as ErrorBody, { code: 'store_readonly', says: /data folder|database file/ });
  await expectWhole(await home.open({ config: settings() }));
});

interface ModelCase {
  readonly name: string;
  readonly format?: WireFormat;
  readonly answers: readonly Answer[];
  /** Undefined: it is dealt with and the turn is done. */
  readonly expected?: Expected;
  readonly requests: number;
  readonly firstTokenMs?: number;
}

const words = { text: 'some words for pieces', pieceChars: 5 };
const modelCases: ModelCase[] = [
  {
    name: 'a stream with a broken line',
    answers: [{ ...words, trouble: { kind: 'malformed', afterFrames: 2 } }],
    expected: { code: 'model_bad_reply', says: /lab/, hint: false },
    requests: 1,
  },
  {
    name: 'a stream cut off',
    answers: [{ ...words, trouble: { kind: 'cut', afterFrames: 3 } }],
    expected: { code: 'model_cut_off', says: /lab/, hint: false },
    requests: 1,
  },
  {
    name: 'a stream that ends without an end',
    format: 'anthropic',
    answers: [{ ...words, trouble: { kind: 'close', afterFrames: 4 } }],
    expected: { code: 'model_cut_off', says: /lab/, hint: false },
    requests: 1,
  },
  {
    name: 'an error in the middle',
    format: 'anthropic',
    answers: [{ ...words, trouble: { kind: 'error', afterFrames: 4 } }],
    expected: { code: 'model_unavailable', says: /lab cannot answer/ },
    requests: 1,
  },
  { name: '401', answers: [{ refuse: 'unauthorized' }], expected: { code: 'model_auth', says: /lab did not accept the key/ }, requests: 1 },
  {
    name: 'no credit',
    format: 'anthropic',
    answers: [{ refuse: 'quota' }],
    expected: { code: 'model_quota', says: /lab has no credit/ },
    requests: 1,
  },
  {
    name: 'an unknown model',
    answers: [{ refuse: 'unknown-model' }],
    expected: { code: 'model_unknown', says: /"scripted"/, hint: false },
    requests: 1,
  },
  { name: '429 and then an answer', answers: [{ refuse: 'rate-limited', retryAfterSeconds: 0.3 }, words], requests: 2 },
  {
    name: '429 for ever',
    answers: [{ refuse: 'rate-limited', retryAfterSeconds: 0.05 }],
    expected: { code: 'model_rate_limited', says: /lab asks to slow down/ },
    requests: 2,
  },
  { name: '500 and then an answer', answers: [{ refuse: 'server-error' }, words], requests: 2 },
  {
    name: '529 for ever',
    format: 'anthropic',
    answers: [{ refuse: 'overloaded' }],
    expected: { code: 'model_unavailable', says: /lab cannot answer/ },
    requests: 2,
  },
  { name: 'a conversation too long, then a smaller one fits', answers: [{ refuse: 'context-overflow' }, words], requests: 2 },
  {
    name: 'a conversation too long, however small',
    format: 'anthropic',
    answers: [{ refuse: 'context-overflow' }],
    expected: { code: 'model_context_overflow', says: /longer than lab\/scripted can read/ },
    requests: 2,
  },
  {
    name: 'no first word in time',
    firstTokenMs: 200,
    answers: [{ silent: true }],
    expected: { code: 'model_timeout', says: /lab has not begun to answer.*200 ms/ },
    requests: 2,
  },
  {
    name: 'silence between words',
    answers: [{ ...words, trouble: { kind: 'stall', afterFrames: 3 } }],
    expected: { code: 'model_timeout', says: /lab stopped in the middle/ },
    requests: 1,
  },
  { name: 'an empty reply', answers: [{ text: '' }], requests: 1 },
];

test.each(modelCases)('model: $name', async ({ format, answers, expected, requests, firstTokenMs }) => {
  const config = settings(format);
  const timeouts = { ...config.models.timeouts, ...(firstTokenMs === undefined ? {} : { firstTokenMs }) };
  const claw = await home.open({ config: { ...config, models: { ...config.models, timeouts } } });
  const last = answers.length - 1;
  model.script(answers.map((answer, index) => ({ answer, ...(index === last ? {} : { times: 1 }) })));
  const startedMs = performance.now();
  const result = await claw.ask('hello', { sessionId });
  const tookMs = performance.now() - startedMs;
  if (expected === undefined) expect([result.status, result.error, result.text !== '']).toEqual(['done', undefined, true]);
  else {
    expect(result.status).toBe('failed');
    expectClear(result.error, expected);
  }
  expect([model.requests.length, model.violations]).toEqual([requests, []]);
  const [first] = answers;
  if (first !== undefined && 'retryAfterSeconds' in first) expect(tookMs).toBeGreaterThanOrEqual((first.retryAfterSeconds ?? 0) * 1_000);
  await expectWhole(claw);
  expect((await home.close(claw)).different).toEqual([]);
});

test('model: nobody listens', async () => {
  const claw = await home.open({
    config: { ...settings(), providers: { lab: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } } },
  });
  const result = await claw.ask('hello', { sessionId });
  expectClear(result.error, { code: 'model_unavailable', says: /lab.*127\.0\.0\.1:9|127\.0\.0\.1:9/ });
  expect((await claw.op('audit.verify', {})).ok).toBe(true);
});

test('model: a budget of nothing', async () => {
  const claw = await home.open({ config: { ...settings(), budget: { perTurnUsd: 0 } } });
  const result = await claw.ask('hello', { sessionId });
  expectClear(result.error, { code: 'over_budget', says: /budget of this turn is used up/ });
  expect([result.status, model.requests.length]).toEqual(['over_budget', 0]);
});

interface CallCase {
  readonly name: string;
  readonly calls: Extract<Answer, { calls?: unknown }>['calls'];
  /** Long arguments come in pieces, as servers send them. */
  readonly pieceChars?: number;
  readonly codes: readonly (ErrorCode | 'ok')[];
  readonly says: RegExp;
}

const callCases: CallCase[] = [
  {
    name: 'a tool nobody knows',
    calls: [{ tool: 'list_dirs', args: { path: '.' } }],
    codes: ['unknown_tool'],
    says: /list_dirs.*list_dir/s,
  },
  {
    name: 'arguments that do not fit',
    calls: [{ tool: 'write_file', args: { path: 7, contents: 'x' } }],
    codes: ['invalid_arguments'],
    says: /path.*content/s,
  },
  {
    name: 'arguments that are no JSON',
    calls: [{ tool: 'list_dir', args: '{"path": ".' }],
    codes: ['invalid_arguments'],
    says: /not valid JSON/,
  },
  { name: 'arguments that are a list', calls: [{ tool: 'list_dir', args: '["."]' }], codes: ['invalid_arguments'], says: /object/ },
  {
    name: 'arguments of 10 MB',
    calls: [{ tool: 'write_file', args: { path: 'big.txt', content: 'x'.repeat(10_000_000) } }],
    pieceChars: 100_000,
    codes: ['arguments_too_large'],
    says: /larger than 1000000 bytes/,
  },
  {
    name: 'the same id twice',
    calls: [
      { tool: 'calc', args: { expression: '1 + 1' }, id: 'same' },
      { tool: 'calc', args: { expression: '2 + 2' }, id: 'same' },
    ],
    codes: ['ok', 'ok'],
    says: /2|4/,
  },
];

test.each(callCases)('calls: $name', async ({ calls, pieceChars, codes, says }) => {
  for (const format of ['openai', 'anthropic'] as const) {
    model.requests.length = 0;
    model.script([
      { results: 0, answer: { calls: calls ?? [], ...(pieceChars === undefined ? {} : { pieceChars }) } },
      { user: 'go', answer: { text: 'I see.' } },
    ]);
    const claw = await home.open({ config: settings(format) });
    const result = await claw.ask('go', { sessionId });
    expect([result.status, result.text, model.violations]).toEqual(['done', 'I see.', []]);
    const turn = await claw.op('turn.get', { turnId: result.turnId });
    const found: string[] = [];
    for await (const { turnId, type, body } of eventsOf(claw, sessionId)) {
      if (turnId !== result.turnId) continue;
      if (type === 'tool.rejected') found.push((body as { error: ErrorBody }).error.code);
      if (type === 'tool.finished') found.push((body as { outcome: string }).outcome);
    }
    expect([found, turn.calls.length]).toEqual([codes, codes.length]);
    // The model is told, each call once, in words it can act on.
    const told = model.requests[1]?.toolResults.map(({ text }) => text) ?? [];
    expect([told.length, new Set(model.requests[1]?.toolResults.map(({ id }) => id)).size]).toEqual([codes.length, codes.length]);
    expect(told.join('\n')).toMatch(says);
    expect(model.requests[1]?.bodyBytes).toBeLessThan(100_000);
    await expectWhole(claw);
    expect((await home.close(claw)).different).toEqual([]);
  }
});

interface OpCase {
  readonly name: string;
  readonly op: OpName;
  readonly params: unknown;
  readonly expected: Expected;
}

const opCases: OpCase[] = [
  {
    name: 'a message of a million characters and one',
    op: 'message.send',
    params: { text: 'x'.repeat(1_000_001) },
    expected: { code: 'invalid_params', says: /text.*1000000/, hint: false },
  },
  { name: 'an empty message', op: 'message.send', params: { text: '' }, expected: { code: 'invalid_params', says: /text/, hint: false } },
  {
    name: 'a session id with a path in it',
    op: 'message.send',
    params: { text: 'x', sessionId: '../up' },
    expected: { code: 'invalid_params', says: /"\.\.\/up"/ },
  },
  {
    name: 'an unknown parameter',
    op: 'message.send',
    params: { text: 'x', colour: 'red' },
    expected: { code: 'invalid_params', says: /colour/, hint: false },
  },
  {
    name: 'an unknown session',
    op: 'session.get',
    params: { sessionId: 'nowhere' },
    expected: { code: 'not_found', says: /nowhere/, hint: false },
  },
  {
    name: 'an unknown turn',
    op: 'turn.get',
    params: { turnId: 'trn_none' },
    expected: { code: 'not_found', says: /trn_none/, hint: false },
  },
  {
    name: 'a wait for an unknown turn',
    op: 'turn.wait',
    params: { turnId: 'trn_none' },
    expected: { code: 'not_found', says: /trn_none/, hint: false },
  },
  {
    name: 'an unknown approval',
    op: 'approval.decide',
    params: { approvalId: 'apr_none', decision: 'approve' },
    expected: { code: 'not_found', says: /apr_none/, hint: false },
  },
  {
    name: 'an unknown grant',
    op: 'grant.revoke',
    params: { grantId: 'grt_none' },
    expected: { code: 'not_found', says: /grt_none/, hint: false },
  },
  {
    name: 'an unknown call',
    op: 'outcome.settle',
    params: { callId: 'call_none', answer: 'done' },
    expected: { code: 'not_found', says: /call_none/, hint: false },
  },
  {
    name: 'an unknown pack',
    op: 'pack.get',
    params: { packId: 'trn_none-p1' },
    expected: { code: 'not_found', says: /trn_none-p1/, hint: false },
  },
  {
    name: 'an unknown tool',
    op: 'tool.run',
    params: { tool: 'nothing', args: {} },
    expected: { code: 'unknown_tool', says: /nothing/, hint: false },
  },
  {
    name: 'an unknown operation',
    op: 'session.steal' as OpName,
    params: {},
    expected: { code: 'unknown_op', says: /session\.steal/, hint: false },
  },
];

test.each(opCases)('operations: $name', async ({ op, params, expected }) => {
  await seed();
  const claw = await home.open({ config: settings() });
  expectClear(await failureOf(claw.op(op, params as never)), expected);
  await expectWhole(claw);
});

test('operations: an approval answered twice', async () => {
  model.script([
    { results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'a.txt', content: 'a' } }] } },
    { answer: { text: 'ok' } },
  ]);
  const claw = await home.open({ config: settings() });
  const { pending } = await claw.ask('write', { sessionId });
  const approvalId = pending?.[0]?.approvalId ?? '';
  await claw.op('approval.decide', { approvalId, decision: 'deny' });
  const error = await failureOf(claw.op('approval.decide', { approvalId, decision: 'approve' }));
  expectClear(error, { code: 'approval_not_pending', says: /already answered: denied/, hint: false });
  await claw.op('turn.wait', { turnId: (await claw.op('session.get', { sessionId })).events.at(-1)?.turnId ?? '' });
  await expectWhole(claw);
});

test('HTTP: bodies that are too large, no JSON, or of the wrong kind', async () => {
  home.configure(settings());
  const { url, token } = await home.serve();
  const send = async (body: string, headers: Record<string, string> = {}): Promise<[number, ErrorBody]> => {
    const all = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
    const response = await fetch(`${url}/api/ops/message.send`, { method: 'POST', headers: all, body });
    return [response.status, ((await response.json()) as { error: ErrorBody }).error];
  };
  const cases: [string, Record<string, string>, number, Expected][] = [
    [`{"text":"${'x'.repeat(13_000_000)}"}`, {}, 413, { code: 'payload_too_large', says: /larger than 12 MB/, hint: false }],
    ['{"text": ', {}, 400, { code: 'invalid_params', says: /not valid JSON/, hint: false }],
    [
      'text=hello',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      { code: 'invalid_params', says: /application\/json/, hint: false },
    ],
    ['{}', { authorization: 'Bearer nonsense' }, 401, { code: 'unauthorized', says: /token/i, hint: false }],
  ];
  for (const [body, headers, status, expected] of cases) {
    const [found, error] = await send(body, headers);
    expect(found).toBe(status);
    expectClear(error, expected);
  }
  model.script([goodRule]);
  expect((await home.cli(['ask', 'remember'])).code).toBe(0);
});
