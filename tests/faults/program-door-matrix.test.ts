// Access to the doors for programs: every route × Host × Origin × kind of request with a valid token, and every invalid credential. No data
// may be returned, no model called, and no event added to the log.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { opTable } from '../../core/contracts/ops.ts';
import { appToken, OpenAiDoorRig } from '../doubles/openai-door.ts';
import { sendRaw } from './raw-http.ts';

let rig: OpenAiDoorRig;
const keys = { openai: '', ollama: '', a2a: '', mcp: '' };

beforeAll(async () => {
  const doors = { ollama: { enabled: true }, a2a: { enabled: true } };
  rig = await OpenAiDoorRig.start([{ answer: { text: 'given away' } }], { doors });
  for (const door of ['ollama', 'a2a'] as const) keys[door] = (await rig.token({ door, name: door, scope: ['all'] })).key;
  keys.mcp = (await rig.token({ door: 'mcp', name: 'mcp-tests', scope: ['all', 'approvals'] })).key;
  keys.openai = rig.key;
});
afterAll(() => rig.dispose());

const chat = '{"model":"trayclaw","messages":[{"role":"user","content":"Hi"}]}';
const hello = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'thief', version: '1' } },
});
const rpc =
  '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"Hi"}]}}}';
const routes: readonly (readonly [method: string, path: string, body: string, door: keyof typeof keys])[] = [
  ['GET', '/v1/models', '', 'openai'],
  ['GET', '/v1/models/trayclaw', '', 'openai'],
  ['POST', '/v1/chat/completions', chat, 'openai'],
  ['POST', '/v1/responses', '{"model":"trayclaw","input":"Hi"}', 'openai'],
  ['POST', '/v1/embeddings', '{"model":"trayclaw","input":"Hi"}', 'openai'],
  ['GET', '/v1/nothing', '', 'openai'],
  ['GET', '/api/tags', '', 'ollama'],
  ['GET', '/api/version', '', 'ollama'],
  ['POST', '/api/show', '{"model":"trayclaw"}', 'ollama'],
  ['POST', '/api/chat', chat, 'ollama'],
  ['POST', '/api/generate', '{"model":"trayclaw","prompt":"Hi"}', 'ollama'],
  ['POST', '/api/embed', '{"model":"trayclaw","input":"Hi"}', 'ollama'],
  ['GET', '/.well-known/agent-card.json', '', 'a2a'],
  ['POST', '/a2a', rpc, 'a2a'],
  ['GET', '/a2a', '', 'a2a'],
  ['POST', '/mcp', hello, 'mcp'],
  ['GET', '/mcp', '', 'mcp'],
  ['DELETE', '/mcp', '', 'mcp'],
];
const foreignHosts: readonly ((port: number) => readonly string[])[] = [
  () => ['Host: evil.com'],
  (port) => [`Host: evil.com:${port}`],
  (port) => [`Host: localhost.:${port}`],
  (port) => [`Host: 127.0.0.1.nip.io:${port}`],
  (port) => [`Host: [::1]:${port}`],
  (port) => [`Host: 0.0.0.0:${port}`],
  () => ['Host:'],
  (port) => [`Host: 127.0.0.1:${port}`, `Host: 127.0.0.1:${port}`],
];
const foreignOrigins = ['null', 'http://evil.com', 'http://localhost:1', 'file://'];

async function send(port: number, route: (typeof routes)[number], lines: readonly string[]): Promise<{ status: number; isBare: boolean }> {
  const [method, path, body] = route;
  const isA2a = path === '/a2a' ? ['A2A-Version: 1.0'] : [];
  const head = [
    `${method} ${path} HTTP/1.1`,
    ...lines,
    ...isA2a,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  const answer = await sendRaw(port, `${head.join('\r\n')}\r\n\r\n${body}`);
  const tells =
    /given away|owned_by|embedding|"object"|"models"|"version"|model_info|supportedInterfaces|"task"|serverInfo/.test(answer.body) ||
    /^access-control-/im.test(answer.head);
  return { status: answer.status, isBare: !tells };
}

const countEvents = async (): Promise<number> => (await rig.claw.op('audit.verify', {})).events;

async function sweep(port: number): Promise<{ cells: number; wrong: number }> {
  let [cells, wrong] = [0, 0];
  const own = [`Host: 127.0.0.1:${port}`];
  const places = [
    ...foreignHosts.flatMap((host) => [host(port), [...host(port), `Origin: http://evil.com`]]),
    ...foreignOrigins.map((origin) => [...own, `Origin: ${origin}`]),
    [...own, 'Sec-Fetch-Site: cross-site'],
  ];
  for (const route of routes) {
    for (const place of places) {
      const { status, isBare } = await send(port, route, [...place, `Authorization: Bearer ${keys[route[3]]}`]);
      cells += 1;
      if (status !== 403 || !isBare) wrong += 1;
    }
  }
  return { cells, wrong };
}

test('18 routes × 21 foreign places with a valid token: 378 refusals, nothing returned', { timeout: 60_000 }, async () => {
  const before = await countEvents();
  expect(await sweep(rig.port)).toEqual({ cells: 378, wrong: 0 });
  expect([(await countEvents()) - before, rig.model.requests.length]).toEqual([0, 0]);
});

test('control: without the check of Host and Origin every combination reports it', { timeout: 60_000 }, async () => {
  const port = await rig.listen((real) => ({ ...real, refusePlace: () => null }));
  expect(await sweep(port)).toEqual({ cells: 378, wrong: 378 });
});

test('no credential but a door token in its place opens a route', async () => {
  const before = await countEvents();
  const asked = rig.model.requests.length;
  /** Credentials for every door, because the token of one opens no other. */
  const credentialsFor = (door: keyof typeof keys): string[] => [
    'X-Nothing: 1',
    `X-Api-Key: ${keys[door]}`,
    `Cookie: token=${keys[door]}`,
    `Authorization: Basic ${keys[door]}`,
    `Authorization: Bearer ${keys[door].slice(0, -1)}`,
    `Authorization: Bearer ${keys[door]} x`,
    ...Object.entries(keys).flatMap(([other, key]) => (other === door ? [] : [`Authorization: Bearer ${key}`])),
    `Authorization: Bearer ${appToken}`,
    'Authorization: Bearer',
  ];
  const wrong: string[] = [];
  for (const route of routes) {
    for (const line of credentialsFor(route[3])) {
      const { status, isBare } = await send(rig.port, route, [`Host: 127.0.0.1:${rig.port}`, line]);
      // After ten wrong attempts in a minute the answer is 429.
      if (![401, 429].includes(status) || !isBare) wrong.push(`${route[1]} ${line.slice(0, 24)}: ${status}`);
    }
  }
  expect(wrong).toEqual([]);
  expect([(await countEvents()) - before, rig.model.requests.length - asked]).toEqual([0, 0]);
  expect((await rig.send('/v1/models', undefined)).status).toBe(200);
});

test('the token of one door opens no other', async () => {
  const statusOf = async (path: string, key: string, body?: object): Promise<number> =>
    (await rig.send(path, body, { authorization: `Bearer ${key}`, accept: 'application/json, text/event-stream' })).status;
  // After ten wrong attempts in a minute the answer is 429.
  expect([401, 429]).toContain(await statusOf('/mcp', rig.key, JSON.parse(hello) as object));
  expect([401, 429]).toContain(await statusOf('/v1/models', keys.mcp));
  expect(await statusOf('/mcp', keys.mcp, JSON.parse(hello) as object)).toBe(200);
});

test('a door token opens none of the operations', { timeout: 60_000 }, async () => {
  const before = await countEvents();
  const paths = [...Object.keys(opTable).map((name) => `/api/ops/${name}`), '/api/ask', '/api/events'];
  const opened: string[] = [];
  for (const path of paths) {
    for (const [door, key] of Object.entries(keys)) {
      const { status } = await rig.send(path, path === '/api/events' ? undefined : { text: 'Hi' }, { authorization: `Bearer ${key}` });
      if (status !== 401 && status !== 429) opened.push(`${door} ${path}: ${status}`);
    }
  }
  expect([opened, paths.length > 150]).toEqual([[], true]);
  expect((await countEvents()) - before).toBe(0);
});

test('only a person creates and revokes a token, never over HTTP', async () => {
  const body = JSON.stringify({ name: 'thief' });
  const headers = { authorization: `Bearer ${appToken}`, 'content-type': 'application/json' };
  const response = await fetch(`http://127.0.0.1:${rig.port}/api/ops/door.create_token`, { method: 'POST', headers, body });
  expect(response.status).toBe(403);
});
