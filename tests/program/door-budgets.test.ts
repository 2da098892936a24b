// The daily budget of a door token: whatever ends a request, its turn is charged when the turn ends, and a running turn's bound is reserved.

import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, type Client } from '@a2a-js/sdk/client';
import { Role, type Task } from '@a2a-js/sdk';
import { expect, onTestFinished, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { EventBodies } from '../../core/contracts/events.ts';
import type { TokenDoor } from '../../core/contracts/features/doors.ts';
import { OpenAiDoorRig } from '../doubles/openai-door.ts';
import { help } from './helper-rig.ts';
import { clientOf } from '../doubles/mcp/mcp-door-rig.ts';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { until } from '../until.ts';

/** A request of 1,000 tokens with an answer of 100 costs 0.101 dollars. */
const prices = { inputUsdPerMillion: 1, outputUsdPerMillion: 1_000 };
const usage = { input: 1000, output: 100 };
const callUsd = 0.101;
const write = { calls: [{ tool: 'write_file', args: { path: 'note.txt', content: 'kept' } }], usage };

async function open(config: ConfigInput = {}): Promise<OpenAiDoorRig> {
  const rig = await OpenAiDoorRig.start(
    [
      { user: /write/, results: 0, answer: write },
      { user: /two of you/, results: 0, answer: { calls: [help('Look')], usage } },
      { user: /slow/, answer: { text: 'one two three', pieceChars: 4, delayMs: 50, usage } },
      { answer: { text: 'Hello', usage } },
    ],
    {
      models: { default: 'lab/scripted', retries: 0 },
      doors: { openai: { approvalSeconds: 0 }, ollama: { enabled: true }, a2a: { enabled: true } },
      ...config,
    },
    {},
    prices,
  );
  onTestFinished(() => rig.dispose());
  return rig;
}

async function tokenFor(rig: OpenAiDoorRig, door: TokenDoor, perDayUsd = 10, scope = ['all']): Promise<string> {
  const { key } = await rig.token({ door, name: `one-${door}`, scope, perDayUsd });
  return key;
}

const spentBy = async (rig: OpenAiDoorRig, door: TokenDoor): Promise<number> =>
  (await rig.claw.op('door.list_tokens', {})).tokens.find(({ name }) => name === `one-${door}`)?.spentTodayUsd ?? NaN;

async function chat(rig: OpenAiDoorRig, key: string, content: string, model = 'trayclaw'): Promise<{ status: number; text: string }> {
  const response = await rig.send(
    '/v1/chat/completions',
    { model, messages: [{ role: 'user', content }] },
    { authorization: `Bearer ${key}` },
  );
  return { status: response.status, text: await response.text() };
}

/** The dollars that each turn may spend, oldest first. */
async function boundsOf(rig: OpenAiDoorRig): Promise<(number | null | undefined)[]> {
  const { sessions } = await rig.claw.op('session.list', {});
  const starts = await Promise.all(sessions.map(({ sessionId }) => rig.claw.op('session.get', { sessionId, types: ['turn.started'] })));
  const events = starts.flatMap((one) => one.events).toSorted((a, b) => a.seq - b.seq);
  return events.map(({ body }) => (body as EventBodies['turn.started']).bounds?.usd);
}

/** Decides the only pending approval, and waits for the end of its turn. */
async function decide(rig: OpenAiDoorRig): Promise<void> {
  const { approvals } = await rig.claw.op('approval.list', {});
  const [pending] = approvals.filter(({ state }) => state === 'pending');
  await rig.claw.op('approval.decide', { approvalId: pending?.approvalId ?? '', decision: 'approve' });
  expect((await rig.claw.op('turn.wait', { turnId: pending?.turnId ?? '' })).status).toBe('done');
}

test('a turn that outlives its request is charged when it ends, also after a restart', async () => {
  const rig = await open();
  const key = await tokenFor(rig, 'openai');
  expect((await chat(rig, key, 'write it')).status).toBe(403);
  expect(await spentBy(rig, 'openai')).toBe(0);
  await rig.restart();
  await decide(rig);
  expect(await spentBy(rig, 'openai')).toBeCloseTo(2 * callUsd, 9);
});

test('an MCP client that never comes back with its answer pays for the turn', async () => {
  const rig = await open();
  const key = await tokenFor(rig, 'mcp', 10, ['all', 'approvals']);
  let wasAsked = false;
  const client = clientOf('modern', () => {
    wasAsked = true;
    return new Promise(() => undefined);
  });
  onTestFinished(() => client.close());
  const url = new URL(`http://127.0.0.1:${rig.port}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${key}` } } }));
  const gone = new AbortController();
  const call = client.callTool({ name: 'ask_agent', arguments: { message: 'write it' } }, { signal: gone.signal });
  await until(() => wasAsked, 'the person at the client is asked');
  gone.abort();
  call.catch(() => undefined);
  await decide(rig);
  expect(await spentBy(rig, 'mcp')).toBeCloseTo(2 * callUsd, 9);
});

test('every door charges its turns, calls passed through, and values made of an answer', async () => {
  const rig = await open();
  const openai = await tokenFor(rig, 'openai');
  expect((await chat(rig, openai, 'Hi')).status).toBe(200);
  expect((await chat(rig, openai, 'Hi', 'passthrough/lab/scripted')).status).toBe(200);
  expect(await spentBy(rig, 'openai')).toBeCloseTo(2 * callUsd, 9);
  const ollama = await tokenFor(rig, 'ollama');
  for (const model of ['trayclaw', 'passthrough/lab/scripted']) {
    const body = { model, messages: [{ role: 'user', content: 'Hi' }], stream: false };
    expect((await rig.send('/api/chat', body, { authorization: `Bearer ${ollama}` })).status).toBe(200);
  }
  expect(await spentBy(rig, 'ollama')).toBeCloseTo(2 * callUsd, 9);
  // The model never gives a value of the schema: it was asked, so it is paid.
  const form = {
    type: 'json_schema',
    json_schema: { name: 'town', schema: { type: 'object', properties: {}, additionalProperties: false } },
  };
  const body = { model: 'trayclaw', messages: [{ role: 'user', content: 'Hi' }], response_format: form };
  await rig.send('/v1/chat/completions', body, { authorization: `Bearer ${openai}` });
  expect(await spentBy(rig, 'openai')).toBeGreaterThan(3.5 * callUsd);
  const asked = await (await a2aClient(rig, await tokenFor(rig, 'a2a'))).sendMessage(task('Hi'));
  expect((asked as Task).artifacts).toHaveLength(1);
  expect(await spentBy(rig, 'a2a')).toBeCloseTo(callUsd, 9);
});

test('the work of a subagent is paid by the token whose turn called it', async () => {
  const rig = await open();
  expect((await chat(rig, await tokenFor(rig, 'openai'), 'two of you')).status).toBe(200);
  expect(await spentBy(rig, 'openai')).toBeCloseTo(3 * callUsd, 9);
});

test("a person's own turns in the session of a program are not the program's", async () => {
  const rig = await open();
  const key = await tokenFor(rig, 'openai');
  await chat(rig, key, 'Hi');
  const { sessions } = await rig.claw.op('session.list', {});
  await rig.claw.ask('And mine', { sessionId: sessions[0]?.sessionId ?? '' });
  expect(await spentBy(rig, 'openai')).toBeCloseTo(callUsd, 9);
});

test('a running turn reserves its bound: parallel turns share what is left', async () => {
  const rig = await open();
  const key = await tokenFor(rig, 'openai', 1);
  const ends = await Promise.all(['slow one', 'slow two', 'slow three', 'slow four'].map((content) => chat(rig, key, content)));
  expect(ends.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 429]);
  expect(ends.map(({ text }) => text).join('')).toContain('running');
  expect(await spentBy(rig, 'openai')).toBeCloseTo(3 * callUsd, 9);
  expect(await boundsOf(rig)).toEqual([0.5, 0.25, 0.25]);
  // A later turn may spend the unused part of the reservation.
  expect((await chat(rig, key, 'Hi')).status).not.toBe(429);
});

test('with a limit for a turn, as many turns run at once as the day pays for', async () => {
  const rig = await open({ budget: { perTurnUsd: 0.2 } });
  const key = await tokenFor(rig, 'openai', 0.4);
  const ends = await Promise.all(['slow one', 'slow two', 'slow three'].map((content) => chat(rig, key, content)));
  expect(ends.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 429]);
});

test('a turn that waits keeps its reservation through a restart; a deleted session frees it', async () => {
  const rig = await open();
  const key = await tokenFor(rig, 'openai', 1);
  await chat(rig, key, 'write it');
  await rig.restart();
  const reserved = async (): Promise<unknown> => {
    expect((await chat(rig, key, 'Hi')).status).toBe(200);
    return (await boundsOf(rig)).at(-1);
  };
  expect(await reserved()).toBe(0.25);
  const [approval] = (await rig.claw.op('approval.list', {})).approvals;
  await rig.claw.op('turn.cancel', { turnId: approval?.turnId ?? '' });
  await rig.claw.op('session.delete', { sessionId: approval?.sessionId ?? '' });
  expect(await reserved()).toBeCloseTo((1 - 2 * callUsd) / 2, 9);
});

function task(text: string) {
  const part = { content: { $case: 'text' as const, value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' };
  const message = {
    messageId: 'm1',
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [part],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: false };
  return { tenant: '', message, configuration, metadata: undefined };
}

function a2aClient(rig: OpenAiDoorRig, key: string): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
  const transports = [new JsonRpcTransportFactory({ fetchImpl })];
  const factory = new ClientFactory({ transports, cardResolver: new DefaultAgentCardResolver({ fetchImpl }) });
  return factory.createFromUrl(`http://127.0.0.1:${rig.port}`);
}
