// Invalid config, calls, operations and HTTP bodies: each case asserts the code, that the message names the cause, that there is a hint if
// something can be done, and that afterwards the log verifies and the session continues.

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ErrorBody, ErrorCode } from '../../core/contracts/errors.ts';
import type { OpName } from '../../core/contracts/ops.ts';
import type { Answer } from '../doubles/scripted-model.ts';
import { BadInputRig, expectClear, failureOf, goodRule, sessionId, type Expected } from './bad-input-rig.ts';
import { eventsOf } from './replay-check.ts';

let rig: BadInputRig;

beforeEach(async () => {
  rig = await BadInputRig.start();
});

afterEach(async () => {
  await rig.dispose();
});

const badConfigs: [string, string, RegExp][] = [
  ['an unknown key at the top', 'colour: red', /colour is not a known key/],
  ['an unknown key one level down', 'models: { defualt: demo/offline }', /models\.defualt is not a known key/],
  [
    'an unknown key two levels down',
    'providers: { lab: { kind: openai-compatible, baseUrl: "http://127.0.0.1:1/v1", apikey: "env:K" } }',
    /providers\.lab\.apikey/,
  ],
  ['an unknown key three levels down', 'channels: { telegram: { token: "env:T", rooms: [] } }', /channels\.telegram\.rooms/],
  ['a number where words belong', 'models: { default: 7 }', /models\.default must be text, not a number/],
  ['words where a number belongs', 'budget: { perDayUsd: lots }', /budget\.perDayUsd must be a number, not text/],
  ['a number out of range', 'limits: { steps: 0 }', /limits\.steps/],
  [
    'a secret in plain text',
    'providers: { lab: { kind: openai, apiKey: "sk-live-verysecretvalue" } }',
    /providers\.lab\.apiKey must be keychain:NAME/,
  ],
  ['an unknown kind of provider', 'providers: { lab: { kind: skynet } }', /providers\.lab\.kind must be one of openai, /],
  ['an address that is none', 'providers: { lab: { kind: openai-compatible, baseUrl: "not an address" } }', /providers\.lab\.baseUrl/],
  ['a file that is no YAML', 'models: [\n  default: "x', /not valid YAML.*line/s],
  ['a file that is a list', '- one\n- two', /must hold keys and values/],
];

test.each(badConfigs)('config: %s', async (_name, yaml, says) => {
  await rig.seed();
  rig.home.configure(yaml);
  const error = await failureOf(rig.home.open());
  expectClear(error, { code: 'invalid_config', says });
  expect(JSON.stringify(error)).not.toContain('verysecretvalue');
  rig.home.configure(rig.settings());
  await rig.expectWhole(await rig.home.open());
});

interface CallCase {
  readonly name: string;
  readonly calls: Extract<Answer, { calls?: unknown }>['calls'];
  /** Long arguments arrive in pieces, as servers send them. */
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
  {
    name: 'arguments that are a list',
    calls: [{ tool: 'list_dir', args: '["."]' }],
    codes: ['invalid_arguments'],
    says: /must be keys with values, not a list/,
  },
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
    rig.model.requests.length = 0;
    rig.model.script([
      { results: 0, answer: { calls: calls ?? [], ...(pieceChars === undefined ? {} : { pieceChars }) } },
      { user: 'go', answer: { text: 'I see.' } },
    ]);
    const claw = await rig.home.open({ config: rig.settings(format) });
    const result = await claw.ask('go', { sessionId });
    expect([result.status, result.text, rig.model.violations]).toEqual(['done', 'I see.', []]);
    const turn = await claw.op('turn.get', { turnId: result.turnId });
    const found: string[] = [];
    for await (const { turnId, type, body } of eventsOf(claw, sessionId)) {
      if (turnId !== result.turnId) continue;
      if (type === 'tool.rejected') found.push((body as { error: ErrorBody }).error.code);
      if (type === 'tool.finished') found.push((body as { outcome: string }).outcome);
    }
    expect([found, turn.calls.length]).toEqual([codes, codes.length]);
    // The model sees one error for each call, with text it can act on.
    const told = rig.model.requests[1]?.toolResults.map(({ text }) => text) ?? [];
    expect([told.length, new Set(rig.model.requests[1]?.toolResults.map(({ id }) => id)).size]).toEqual([codes.length, codes.length]);
    expect(told.join('\n')).toMatch(says);
    expect(rig.model.requests[1]?.bodyBytes).toBeLessThan(100_000);
    await rig.expectWhole(claw);
    expect((await rig.home.close(claw)).different).toEqual([]);
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
  await rig.seed();
  const claw = await rig.home.open({ config: rig.settings() });
  expectClear(await failureOf(claw.op(op, params as never)), expected);
  await rig.expectWhole(claw);
});

test('operations: an approval answered twice', async () => {
  rig.model.script([
    { results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'a.txt', content: 'a' } }] } },
    { answer: { text: 'ok' } },
  ]);
  const claw = await rig.home.open({ config: rig.settings() });
  const { turnId, pending } = await claw.ask('write', { sessionId });
  const approvalId = pending?.[0]?.approvalId ?? '';
  await claw.op('approval.decide', { approvalId, decision: 'deny' });
  const error = await failureOf(claw.op('approval.decide', { approvalId, decision: 'approve' }));
  expectClear(error, { code: 'approval_not_pending', says: /already answered: denied/, hint: false });
  await claw.op('turn.wait', { turnId });
  await rig.expectWhole(claw);
});

test('HTTP: bodies that are too large, not JSON, or of the wrong type', async () => {
  rig.home.configure(rig.settings());
  const { url, token } = await rig.home.serve();
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
  rig.model.script([goodRule]);
  expect((await rig.home.cli(['ask', 'remember'])).code).toBe(0);
});
