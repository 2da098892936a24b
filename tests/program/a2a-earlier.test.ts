// Agents that speak revision 0.3 of the A2A protocol: at our door by what their libraries send, and as a peer that is called.

import { LegacyJsonRpcTransport, parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startEarlierPeer } from '../doubles/a2a-earlier-peer.ts';
import { OpenAiDoorRig } from '../doubles/openai-door.ts';

let rig: OpenAiDoorRig;
let key = '';

beforeAll(async () => {
  rig = await OpenAiDoorRig.start(
    [
      { user: /^write/, results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'a.txt', content: 'x' } }] } },
      { user: /^slow/, answer: { text: 'one two three four five six seven', pieceChars: 4, delayMs: 100 } },
      { answer: { text: 'Hello there', pieceChars: 4 } },
    ],
    { models: { default: 'lab/scripted', retries: 0 }, doors: { a2a: { enabled: true } } },
  );
  ({ key } = await rig.token({ door: 'a2a', name: 'far', scope: ['agents'] }));
});
afterAll(() => rig.dispose());

const authorized = (headers: Readonly<Record<string, string>> = {}) => ({ authorization: `Bearer ${key}`, ...headers });
const cardAt = async (path: string, headers = {}): Promise<Record<string, unknown>> =>
  (await (await fetch(`http://127.0.0.1:${rig.port}${path}`, { headers: authorized(headers) })).json()) as Record<string, unknown>;

interface Piece {
  readonly kind: string;
  readonly id: string;
  readonly contextId: string;
  readonly final?: boolean;
  readonly status?: { readonly state: string; readonly message?: { readonly parts: readonly { readonly text: string }[] } };
  readonly artifacts: readonly { readonly parts: readonly { readonly kind: string; readonly text: string }[] }[];
}

/** As a library of that revision sends it: no header for the version, and each object with its kind. */
async function call(method: string, params: object): Promise<Response> {
  return rig.send('/a2a', { jsonrpc: '2.0', id: 7, method, params }, authorized());
}
const messageOf = (text: string, more: object = {}) => ({
  message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }], ...more },
});
async function ask(method: string, params: object): Promise<{ result: Piece; error?: { code: number; message: string } }> {
  return (await (await call(method, params)).json()) as { result: Piece };
}
const blocking = { configuration: { blocking: true } };

test.each(['/.well-known/agent-card.json', '/.well-known/agent.json'])('the card at %s has what earlier readers look for', async (path) => {
  const card = await cardAt(path);
  expect(card).toMatchObject({
    protocolVersion: '0.3.0',
    url: `http://127.0.0.1:${rig.port}/a2a`,
    preferredTransport: 'JSONRPC',
    security: [{ door: [] }],
    securitySchemes: { door: { type: 'http', scheme: 'Bearer' } },
    supportedInterfaces: [{ protocolVersion: '1.0' }],
  });
  expect(await cardAt(path, { 'a2a-version': '1.0' })).not.toHaveProperty('url');
});

test('a message is answered, its conversation continues, and its task is found', async () => {
  const { result } = await ask('message/send', { ...messageOf('Hi'), ...blocking });
  expect(result).toMatchObject({
    kind: 'task',
    status: { state: 'completed' },
    artifacts: [{ parts: [{ kind: 'text', text: 'Hello there' }] }],
  });
  const second = await ask('message/send', { ...messageOf('And?', { contextId: result.contextId }), ...blocking });
  expect(second.result.contextId).toBe(result.contextId);
  expect((await ask('tasks/get', { id: result.id })).result).toMatchObject({ id: result.id, status: { state: 'completed' } });
});

test('a stream ends with a final change; it says where a person has to decide, and stays open', async () => {
  const piecesOf = async (text: string): Promise<Piece[]> => {
    const found: Piece[] = [];
    const { body } = await call('message/stream', messageOf(text));
    let rest = '';
    for await (const bytes of body ?? []) {
      const frames = (rest + Buffer.from(bytes).toString()).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) if (frame.startsWith('data: ')) found.push((JSON.parse(frame.slice(6)) as { result: Piece }).result);
      if (found.at(-1)?.final === true || found.at(-1)?.status?.state === 'auth-required') break;
    }
    return found;
  };
  const whole = await piecesOf('Hi');
  expect([whole[0]?.kind, new Set(whole.slice(1, -1).map(({ kind }) => kind))]).toEqual(['task', new Set(['artifact-update'])]);
  expect(whole.at(-1)).toMatchObject({ kind: 'status-update', final: true, status: { state: 'completed' } });
  expect((await piecesOf('write it')).at(-1)).toMatchObject({ final: false, status: { state: 'auth-required' } });
});

test('a task is canceled; errors have the codes of that revision', async () => {
  const { result } = await ask('message/send', { ...messageOf('slow'), configuration: { blocking: false } });
  expect((await ask('tasks/cancel', { id: result.id })).result.status?.state).toBe('canceled');
  expect((await ask('tasks/get', { id: 'none' })).error).toMatchObject({ code: -32001 });
  expect(
    (await ask('tasks/pushNotificationConfig/set', { taskId: result.id, pushNotificationConfig: { url: 'http://a' } })).error?.code,
  ).toBe(-32003);
  expect((await ask('message/send', {})).error?.code).toBe(-32602);
  for (const method of ['made/up', 'no_such_method', 'tasks.get']) expect((await ask(method, {})).error?.code).toBe(-32601);
  for (const body of [
    { jsonrpc: '2.0', id: 7, params: {} },
    { jsonrpc: '2.0', id: 7, method: 5, params: {} },
  ])
    expect(await (await rig.send('/a2a', body, authorized())).json()).toMatchObject({ id: 7, error: { code: -32600 } });
  expect((await ask('tasks/get', { id: result.id, historyLength: -1 })).error?.code).toBe(-32602);
  expect((await ask('GetTask', { id: 'none' })).error).toMatchObject({
    code: -32009,
    message: expect.stringContaining('A2A-Version: 1.0'),
  });
  for (const body of ['[]', 'null', '5'])
    expect(await (await rig.send('/a2a', body, authorized())).json()).toMatchObject({ id: null, error: { code: -32600 } });
});

test("the SDK's own transport of that revision reads the card and the answers", async () => {
  const card = parseLegacyAgentCard(await cardAt('/.well-known/agent.json'));
  const [place] = card.supportedInterfaces;
  expect(place).toMatchObject({ protocolVersion: expect.stringMatching(/^0\.3/), url: `http://127.0.0.1:${rig.port}/a2a` });
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
  const transport = new LegacyJsonRpcTransport({ endpoint: place?.url ?? '', fetchImpl });
  await expect(transport.getTask({ tenant: '', id: 'none', historyLength: undefined })).rejects.toThrow('There is no task none.');
});

test('a peer of that revision is asked in its words, and its pieces are one answer', async () => {
  await using peer = await startEarlierPeer(['The lamp', ' is lit', ', twi', 'ce.'], () => new Promise((resolve) => setImmediate(resolve)));
  const near = await OpenAiDoorRig.start([], { a2a: { peers: { other: { url: peer.url } } } });
  onTestFinished(() => near.dispose());
  const { turnId } = await near.claw.op('message.send', { text: 'Is it lit?', sessionId: 'talk', agentId: 'other' });
  const { status, text } = await near.claw.op('turn.wait', { turnId });
  expect([status, text]).toEqual(['done', 'The lamp is lit, twice.']);
  expect(peer.methods[0]).toBe('message/send');
  expect((await near.claw.op('a2a.peers', {})).peers).toMatchObject([{ state: 'connected', name: 'Earlier agent', once: false }]);
});
