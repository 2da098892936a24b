import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { AnyEvent, DeltaNotice } from '../../core/contracts/events.ts';
import { HttpClient } from './http-client.ts';
import { OpFailure, type LinkState } from './client.ts';

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endings.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers as the host does, signed with the token. */
function prove({ url = '', headers }: IncomingMessage, response: ServerResponse, token = 'secret'): boolean {
  const nonce = /^\/api\/prove\?nonce=([0-9a-f]{64})$/.exec(url)?.[1];
  if (nonce === undefined) return false;
  const key = createHash('sha256').update(token).digest();
  const proof = createHmac('sha256', key).update(`trayclaw http://${headers.host} ${nonce}`).digest('hex');
  response.end(JSON.stringify({ ok: true, result: { proofs: [proof] } }));
  return true;
}

function clientOf(origin: string, onKept: (token: string | null) => void = () => undefined): HttpClient {
  return new HttpClient({ origin, token: 'secret', onKept, random: () => 0.5, firstWaitMs: 1, waitMsMax: 4 });
}

interface Followed {
  readonly events: AnyEvent[];
  readonly deltas: DeltaNotice[];
  readonly states: [LinkState, boolean][];
  until(done: () => boolean): Promise<void>;
}

function follow(client: HttpClient, after: number | 'latest'): Followed {
  let changed = (): void => undefined;
  const note = <T>(list: T[], value: T): void => {
    list.push(value);
    changed();
  };
  const events: AnyEvent[] = [];
  const deltas: DeltaNotice[] = [];
  const states: [LinkState, boolean][] = [];
  const stop = client.events(after, {
    onEvent: (event) => note(events, event),
    onDelta: (delta) => note(deltas, delta),
    onState: (state, gap) => note(states, [state, gap]),
  });
  endings.push(async () => stop());
  const until = async (done: () => boolean): Promise<void> => {
    while (!done()) await new Promise<void>((resolve) => (changed = resolve));
  };
  return { events, deltas, states, until };
}

const event = (seq: number): string =>
  `id: ${seq}\nevent: event\ndata: ${JSON.stringify({ seq, type: 'panic.released', body: { by: 'x' } })}\n\n`;

test('an operation carries the token and gives its result', async () => {
  const seen: unknown[] = [];
  const origin = await serve((request, response) => {
    seen.push([request.method, request.url, request.headers.authorization]);
    response.end('{"ok":true,"result":{"names":["a"]}}');
  });
  expect(await clientOf(origin).op('secret.list', {})).toEqual({ names: ['a'] });
  expect(seen).toEqual([['POST', '/api/ops/secret.list', 'Bearer secret']]);
});

test('a refusal, a broken reply and a missing host are failures with what to do', async () => {
  const origin = await serve((request, response) => {
    if (request.url === '/api/ops/panic.status') response.end('<html>');
    else
      response.writeHead(400).end('{"ok":false,"error":{"code":"panic_engaged","message":"Everything is stopped.","hint":"Release it."}}');
  });
  await expect(clientOf(origin).op('message.send', { text: 'x' })).rejects.toEqual(
    new OpFailure('panic_engaged', 'Everything is stopped.', 'Release it.'),
  );
  await expect(clientOf(origin).op('panic.status', {})).rejects.toMatchObject({ code: 'internal' });
  await expect(clientOf('http://127.0.0.1:9').op('panic.status', {})).rejects.toMatchObject({ code: 'offline' });
  const aborted = AbortSignal.abort();
  await expect(clientOf(origin).op('panic.status', {}, aborted)).rejects.toMatchObject({ code: 'cancelled' });
});

test('a dropped stream resumes after the last event it saw', async () => {
  const asked: string[] = [];
  const origin = await serve((request, response) => {
    if (prove(request, response)) return;
    asked.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (asked.length === 1) response.end('id: 4\n\n' + event(5) + 'event: delta\ndata: {"kind":"text","text":"a"}\n\ndata: not json\n\n');
    else if (asked.length === 2) response.destroy();
    else response.write(event(6));
  });
  const followed = follow(clientOf(origin), 'latest');
  await followed.until(() => followed.events.length === 2);
  expect(asked).toEqual(['/api/events?after=latest', '/api/events?after=5', '/api/events?after=5']);
  expect(followed.events.map(({ seq }) => seq)).toEqual([5, 6]);
  expect(followed.deltas).toEqual([{ kind: 'text', text: 'a' }]);
  expect(followed.states.filter(([, gap]) => gap)).toEqual([]);
});

test('a stream that comes back without a known place says that events may be missing', async () => {
  let asked = 0;
  const origin = await serve((request, response) => {
    if (prove(request, response)) return;
    asked += 1;
    response.writeHead(200);
    if (asked === 1) response.end(': beat\n\n');
    else response.write(event(9));
  });
  const followed = follow(clientOf(origin), 'latest');
  await followed.until(() => followed.events.length === 1);
  expect(followed.states).toEqual([
    ['online', false],
    ['reconnecting', false],
    ['online', true],
  ]);
});

test('after a lost connection the token waits for a host that has too much to do', async () => {
  let requests = 0;
  const origin = await serve((request, response) => {
    requests += 1;
    if (requests === 1) response.writeHead(200).end(event(5));
    else if (requests < 4) {
      expect(request.headers.authorization).toBe(undefined);
      response.writeHead(requests === 2 ? 503 : 429).end();
    } else if (!prove(request, response)) response.writeHead(200).write(event(6));
  });
  const followed = follow(clientOf(origin), 4);
  await followed.until(() => followed.events.length === 2);
  expect(followed.states.map(([state]) => state)).not.toContain('unproven');
});

test('the stored token is forgotten while another program answers, and stored again for the host', async () => {
  let requests = 0;
  const origin = await serve((request, response) => {
    requests += 1;
    if (requests === 1) response.writeHead(200).end(event(5));
    else if (requests === 2) response.end('{"ok":true,"result":{"proofs":[]}}');
    else if (requests === 3) response.writeHead(503).end();
    else if (!prove(request, response)) response.writeHead(200).write(event(6));
  });
  const kept: (string | null)[] = [];
  const followed = follow(
    clientOf(origin, (token) => kept.push(token)),
    4,
  );
  await followed.until(() => followed.events.length === 2);
  expect(kept).toEqual([null, 'secret']);
});

test('a refused token ends the stream for good', async () => {
  const asked: (string | undefined)[] = [];
  const origin = await serve((request, response) => {
    asked.push(request.url);
    response.writeHead(401).end();
  });
  const followed = follow(clientOf(origin), 0);
  await followed.until(() => followed.states.length === 1);
  expect(followed.states).toEqual([['unauthorized', false]]);
  expect(asked).toEqual(['/api/events?after=0', '/api/renew']);
});

test('too many refusals end the stream once an operation was refused', async () => {
  const origin = await serve((request, response) => {
    if (request.url?.startsWith('/api/events') === true) response.writeHead(429).end();
    else response.writeHead(401).end('{"ok":false,"error":{"code":"unauthorized","message":"No."}}');
  });
  const client = clientOf(origin);
  const followed = follow(client, 'latest');
  await expect(client.op('panic.status', {})).rejects.toMatchObject({ code: 'unauthorized' });
  await followed.until(() => followed.states.at(-1)?.[0] === 'unauthorized');
});

test('a stream that was stopped while the token is renewed says nothing more', async () => {
  const renewing = Promise.withResolvers<() => void>();
  let isHeld = false;
  const origin = await serve((request, response) => {
    const refuse = (): void => void response.writeHead(401).end('{"ok":false,"error":{"code":"unauthorized","message":"No."}}');
    if (request.url === '/api/renew' && !isHeld) {
      isHeld = true;
      renewing.resolve(refuse);
    } else refuse();
  });
  const states: LinkState[] = [];
  const client = clientOf(origin);
  const ignore = (): void => undefined;
  const stop = client.events('latest', { onEvent: ignore, onDelta: ignore, onState: (state) => states.push(state) });
  const refuse = await renewing.promise;
  stop();
  const late = client.op('panic.status', {});
  refuse();
  await expect(late).rejects.toMatchObject({ code: 'unauthorized' });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(states).toEqual([]);
});

test('after a restart the token is traded once for the new one, and the stream and operations continue', async () => {
  const asked: string[] = [];
  const origin = await serve((request, response) => {
    const url = request.url ?? '';
    asked.push(url);
    const isOld = request.headers.authorization === 'Bearer secret';
    if (url === '/api/renew' && isOld) response.end('{"ok":true,"result":{"token":"next"}}');
    else if (isOld) response.writeHead(401).end('{"ok":false,"error":{"code":"unauthorized","message":"No."}}');
    else if (url.startsWith('/api/events')) response.writeHead(200).write(event(5));
    else response.end('{"ok":true,"result":{"names":["a"]}}');
  });
  const kept: (string | null)[] = [];
  const client = clientOf(origin, (token) => kept.push(token));
  const followed = follow(client, 4);
  expect(await Promise.all([client.op('secret.list', {}), client.op('secret.list', {})])).toEqual([{ names: ['a'] }, { names: ['a'] }]);
  await followed.until(() => followed.events.length === 1);
  expect(followed.states).toEqual([
    ['connecting', false],
    ['online', false],
  ]);
  expect(kept).toEqual(['next']);
  expect(asked.filter((url) => url === '/api/renew')).toHaveLength(1);
});

test('however long the host was away, a new token is used at once', async () => {
  const atMs: number[] = [];
  const origin = await serve((request, response) => {
    if (prove(request, response)) return;
    if (request.url === '/api/renew') return void response.end('{"ok":true,"result":{"token":"next"}}');
    atMs.push(performance.now());
    const status = request.headers.authorization === 'Bearer next' ? 200 : atMs.length <= 6 ? 503 : 401;
    response.writeHead(status, { 'content-type': 'text/event-stream' });
    if (status === 200) response.write(': open\n\n');
    else response.end();
  });
  const client = new HttpClient({ origin, token: 'secret', random: () => 0.5, firstWaitMs: 10, waitMsMax: 60_000 });
  const followed = follow(client, 0);
  await followed.until(() => followed.states.some(([state]) => state === 'online'));
  const [refusedMs = 0, openMs = 0] = atMs.slice(-2);
  // The sixth failure waited 320 ms, and the seventh would wait 640.
  expect(openMs - refusedMs).toBeLessThan(320);
});

test('an answer that was asked for ahead is given once, and asked for again after that', async () => {
  const asked: string[] = [];
  const origin = await serve((request, response) => {
    asked.push(request.url ?? '');
    response.end(`{"ok":true,"result":{"names":["${asked.length}"]}}`);
  });
  const client = clientOf(origin);
  client.askAhead('secret.list', {});
  expect(await client.op('secret.list', {})).toEqual({ names: ['1'] });
  expect(await client.op('secret.list', {})).toEqual({ names: ['2'] });
  expect(asked).toEqual(['/api/ops/secret.list', '/api/ops/secret.list']);
});

test.each([
  ['before the stream is open', 6, true],
  ['at the place of the stream', 7, false],
])('an answer from %s', async (_name, place, isMissing) => {
  const origin = await serve((request, response) => {
    const isStream = request.url?.startsWith('/api/events') === true;
    response.setHeader('trayclaw-place', isStream ? 7 : place);
    if (isStream) response.write(': beat\n\n');
    else response.end('{"ok":true,"result":{"names":[]}}');
  });
  const early = clientOf(origin);
  await early.op('secret.list', {});
  const followed = follow(early, 'latest');
  await followed.until(() => followed.states.length === 1);
  expect(followed.states).toEqual([['online', isMissing]]);
  // The same if the stream is opened first.
  const late = clientOf(origin);
  const before = follow(late, 'latest');
  await before.until(() => before.states.length === 1);
  await late.op('secret.list', {});
  expect(before.states).toEqual([['online', false], ...(isMissing ? [['online', true]] : [])]);
});
