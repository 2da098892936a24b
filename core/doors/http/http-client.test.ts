// A client and a door over a real local socket: operations, events, deltas and reconnecting.

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClaw } from '../../../tests/doubles/fake-claw.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/logger.ts';
import type { Claw } from '../../contracts/claw.ts';
import { AppError } from '../../contracts/errors.ts';
import type { AnyEvent, DeltaNotice } from '../../contracts/events.ts';
import { createHttpDoor, HttpClaw, type HttpDoor } from './http.ts';

let folder: string;
let claw: FakeClaw;
let door: HttpDoor;
let client: HttpClaw;

const socketPath = (): string => join(folder, 's.sock');
const makeDoor = (of: Claw): HttpDoor =>
  createHttpDoor({
    claw: of,
    token: 'tok',
    logger: silentLogger,
    clock: systemClock,
    assetsFolder: null,
    version: '1',
    streamLimits: { heartbeatMs: 10 },
  });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trayclaw-client-'));
  claw = new FakeClaw();
  door = makeDoor(claw);
  await door.listen({ socketPath: socketPath() });
  client = new HttpClaw({ address: { socketPath: socketPath() }, token: 'tok' });
});

afterEach(async () => {
  await client.close();
  await claw.close();
  await door.close();
  rmSync(folder, { recursive: true });
});

const rename = (title: string): void => claw.append('ses_a', { type: 'session.renamed', body: { title } });

async function take(events: AsyncIterable<AnyEvent>, count: number): Promise<number[]> {
  const seqs: number[] = [];
  for await (const event of events) {
    seqs.push(event.seq);
    if (seqs.length === count) break;
  }
  return seqs;
}

test('returns the whole result of an operation and its whole error', async () => {
  claw.answers = {
    'safety.redact': ({ text }) => ({ text: text.toUpperCase(), found: ['key'] }),
    'turn.cancel': () => {
      throw new AppError('turn_not_running', 'It is over.', { data: { turnId: 't' }, hint: 'Nothing to do.' });
    },
  };
  const text = 'ä\u2028\n'.repeat(100_000);
  expect(await client.op('safety.redact', { text })).toEqual({ text: text.toUpperCase(), found: ['key'] });
  const failure = await client.op('turn.cancel', { turnId: 't' }).catch((cause: unknown) => cause);
  expect(failure).toMatchObject({ code: 'turn_not_running', message: 'It is over.', hint: 'Nothing to do.' });
  expect(claw.calls.map((call) => call.caller)).toEqual([
    { channel: 'cli', actor: 'cli' },
    { channel: 'cli', actor: 'cli' },
  ]);
});

test('streams events after a log position, for one session or all, and live', async () => {
  rename('one');
  claw.append('ses_b', { type: 'session.renamed', body: { title: 'two' } });
  rename('three');
  expect(await take(client.events({ after: 0 }), 3)).toEqual([1, 2, 3]);
  expect(await take(client.events({ after: 1 }), 2)).toEqual([2, 3]);
  expect(await take(client.events({ after: 0, sessionId: 'ses_a' }), 2)).toEqual([1, 3]);
  const live = client.events({ after: 'latest' });
  // The earlier subscription is open before the operation runs, so the event that it causes is delivered.
  claw.answers = {
    'panic.release': () => {
      rename('four');
      return { engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null };
    },
  };
  await client.op('panic.release', {});
  expect(await take(live, 1)).toEqual([4]);
});

test('an operation waits until earlier subscriptions are open', async () => {
  const order: string[] = [];
  const slow = createServer((asked, response) => {
    order.push(`${asked.method} arrives`);
    if (asked.method === 'POST')
      response.end('{"ok":true,"result":{"engaged":false,"sinceMs":null,"reason":null,"killed":0,"tookMs":null}}');
    else {
      setTimeout(() => {
        order.push('stream opens');
        response.writeHead(200).write('retry: 1\n\n');
      }, 20);
    }
  });
  const path = join(folder, 'slow.sock');
  await new Promise<void>((resolve) => slow.listen(path, resolve));
  const own = new HttpClaw({ address: { socketPath: path }, token: 'tok' });
  own.events({ after: 'latest' });
  await own.op('panic.status', {});
  await own.close();
  slow.closeAllConnections();
  await new Promise((resolve) => slow.close(resolve));
  expect(order).toEqual(['GET arrives', 'stream opens', 'POST arrives']);
});

test('a broken stream resumes after the last event without loss or duplicates', async () => {
  rename('one');
  const events = client.events({ after: 0 })[Symbol.asyncIterator]();
  expect((await events.next()).value).toMatchObject({ seq: 1 });
  await door.close();
  rename('two');
  rename('three');
  door = makeDoor(claw);
  await door.listen({ socketPath: socketPath() });
  const next = [await events.next(), await events.next()].map((item) => (item.value as AnyEvent).seq);
  expect(next).toEqual([2, 3]);
  await events.return?.();
});

test('a stream from the latest event that breaks before its first one resumes where it began', async () => {
  rename('one');
  const events = client.events({ after: 'latest' })[Symbol.asyncIterator]();
  await client.op('panic.status', {});
  await door.close();
  rename('two');
  door = makeDoor(claw);
  await door.listen({ socketPath: socketPath() });
  expect((await events.next()).value).toMatchObject({ seq: 2 });
  await events.return?.();
});

test('a stream that cannot be opened fails with its reason; one that was refused does not restart elsewhere', async () => {
  const stranger = new HttpClaw({ address: { socketPath: socketPath() }, token: 'wrong' });
  await expect(take(stranger.events({ after: 'latest' }), 1)).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(take(stranger.events({ after: 0 }), 1)).rejects.toMatchObject({ code: 'unauthorized' });
  await stranger.close();
  const ended = new HttpClaw({ address: { socketPath: join(folder, 'none.sock') }, token: 'tok' });
  const gone = new AbortController();
  const events = take(ended.events({ after: 0, signal: gone.signal }), 1);
  gone.abort();
  expect(await events).toEqual([]);
  await ended.close();
});

test('delivers deltas to the listener until it unsubscribes', async () => {
  const seen: DeltaNotice[] = [];
  let onSeen = (): void => undefined;
  const stop = client.onDelta((delta) => {
    seen.push(delta);
    onSeen();
  });
  await client.op('panic.status', {});
  const delta: DeltaNotice = { kind: 'text', sessionId: 's', turnId: 't', callId: null, text: 'a\nb' };
  await new Promise<void>((resolve) => {
    onSeen = resolve;
    claw.emitDelta(delta);
  });
  stop();
  expect(seen).toEqual([delta]);
});

test('wire format: ids only on events, Last-Event-ID overrides after, heartbeats', async () => {
  rename('one');
  rename('two');
  const text = await new Promise<string>((resolve, reject) => {
    const headers = { authorization: 'Bearer tok', 'last-event-id': '1' };
    const sent = request({ socketPath: socketPath(), path: '/api/events?after=0', headers, agent: false }, (response) => {
      expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
      let got = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        got += chunk;
        if (got.includes('"seq":2') && !got.includes('delta'))
          claw.emitDelta({ kind: 'text', sessionId: 's', turnId: 't', callId: null, text: 'x' });
        if (got.includes(': beat') && got.includes('delta')) {
          response.destroy();
          resolve(got);
        }
      });
    });
    sent.on('error', reject);
    sent.end();
  });
  const frames = text.split('\n\n').filter((frame) => frame !== '' && frame !== ': beat');
  expect(frames).toEqual([
    'retry: 1000',
    `id: 2\ndata: ${JSON.stringify(claw.log[1])}`,
    'event: delta\ndata: {"kind":"text","sessionId":"s","turnId":"t","callId":null,"text":"x"}',
  ]);
});

test('batches close deltas and sends them before the event that follows', async () => {
  const delta = (text: string) => claw.emitDelta({ kind: 'text', sessionId: 's', turnId: 't', callId: null, text });
  const headers = { authorization: 'Bearer tok' };
  const pieces = await new Promise<string[]>((resolve, reject) => {
    const sent = request({ socketPath: socketPath(), path: '/api/events?after=latest', headers, agent: false }, (response) => {
      const got: string[] = [];
      for (let index = 0; index < 50; index++) delta(`piece ${index}`);
      rename('after');
      response.setEncoding('utf8').on('data', (chunk: string) => {
        got.push(chunk);
        if (!got.join('').includes('"after"')) return;
        response.destroy();
        resolve(got);
      });
    });
    sent.on('error', reject);
    sent.end();
  });
  const frames = pieces
    .join('')
    .split('\n\n')
    .filter((frame) => /^(?:event|id)/.test(frame));
  expect(frames.map((frame) => /piece \d+|after/.exec(frame)?.[0])).toEqual([
    ...Array.from({ length: 50 }, (_, index) => `piece ${index}`),
    'after',
  ]);
  // The first delta alone, then the others together.
  expect(pieces.filter((piece) => piece.includes('delta'))).toHaveLength(2);
});

const slowDoor = (stallMsMax: number): HttpDoor =>
  createHttpDoor({
    claw,
    token: 'tok',
    logger: silentLogger,
    clock: systemClock,
    assetsFolder: null,
    version: '1',
    streamLimits: { heartbeatMs: 10_000, stallMsMax, backlogBytesMax: 10_000 },
  });

const big = 'x'.repeat(1_000_000);

test('a slow reader loses deltas but no events', async () => {
  const slow = slowDoor(10_000);
  const { url } = await slow.listen({});
  const text = await new Promise<string>((resolve, reject) => {
    const sent = request(`${url}/api/events?after=0`, { headers: { authorization: 'Bearer tok' }, agent: false }, (response) => {
      response.pause();
      for (let i = 0; i < 30; i++) claw.emitDelta({ kind: 'text', sessionId: 's', turnId: 't', callId: null, text: big });
      rename('first');
      rename('last');
      let got = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        got += chunk;
        if (!got.includes('"last"')) return;
        response.destroy();
        resolve(got);
      });
      response.resume();
    });
    sent.on('error', reject);
    sent.end();
  });
  await slow.close();
  expect(text.match(/^event: delta$/gm)?.length ?? 0).toBeLessThan(15);
  expect(text.match(/^id: \d+$/gm)).toEqual(['id: 1', 'id: 2']);
});

test('disconnects a reader that accepts nothing for too long', async () => {
  const slow = slowDoor(50);
  const { url } = await slow.listen({});
  const events = claw.events.bind(claw);
  const givenUp = new Promise<void>((resolve) => {
    claw.events = (query) => {
      query.signal?.addEventListener('abort', () => resolve());
      return events(query);
    };
  });
  const end = await new Promise<string>((resolve, reject) => {
    const sent = request(`${url}/api/events?after=0`, { headers: { authorization: 'Bearer tok' }, agent: false }, (response) => {
      response.pause();
      response.socket.on('close', () => resolve('closed'));
      for (let i = 0; i < 40; i++) rename(big);
      // A paused socket does not report the end of the connection, so resume reading.
      void givenUp.then(() => response.resume());
    });
    sent.on('error', reject);
    sent.end();
  });
  expect(end).toBe('closed');
  await slow.close();
});

test('an abort ends the wait in the client and in the instance', async () => {
  claw.scripts.push([{ hang: true }]);
  const { turnId } = await client.op('message.send', { text: 'hi' });
  const gone = new AbortController();
  claw.onWait = () => gone.abort();
  const failure = await client
    .op('turn.wait', { turnId }, { channel: 'cli', actor: 'cli', signal: gone.signal })
    .catch((cause: unknown) => cause);
  expect(failure).toMatchObject({ code: 'cancelled' });
  await door.whenIdle();
});

test('reports an ended instance as an expected failure, also to who reads its events', async () => {
  const events = client.events({ after: 0 });
  await client.op('panic.status', {});
  await door.close();
  await expect(client.op('panic.status', {})).rejects.toMatchObject({ code: 'shutting_down', isRetryable: true });
  await expect(take(events, 1)).rejects.toMatchObject({ code: 'shutting_down', isRetryable: true });
});
