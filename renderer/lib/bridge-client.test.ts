// The op client over the bridge: answers, failures, abort; streams that end are reopened at their last position.

import { expect, test, vi } from 'vitest';
import type { DesktopBridge, StreamNotice } from '../../core/contracts/desktop-channels.ts';
import type { AnyEvent, DeltaNotice } from '../../core/contracts/events.ts';
import type { OpReply } from '../../core/contracts/ops.ts';
import { BridgeClient } from './bridge-client.ts';
import type { LinkState } from './client.ts';

interface Stream {
  readonly after: number | 'latest';
  readonly tell: (notice: StreamNotice) => void;
  isStopped: boolean;
}

function rig(answer: (name: string, params: unknown) => Promise<OpReply>) {
  const streams: Stream[] = [];
  const bridge: DesktopBridge = {
    op: answer,
    follow: (after, tell) => {
      const stream: Stream = { after, tell, isStopped: false };
      streams.push(stream);
      return () => (stream.isStopped = true);
    },
    onCommand: () => () => undefined,
    ready: () => Promise.reject(new Error('not asked here')),
    setLoginStart: () => Promise.reject(new Error('not asked here')),
    openLink: () => Promise.resolve(false),
  };
  const client = new BridgeClient(bridge);
  const events: number[] = [];
  const deltas: DeltaNotice[] = [];
  const states: [LinkState, boolean][] = [];
  const follow = (after: number | 'latest'): (() => void) =>
    client.events(after, {
      onEvent: (event) => events.push(event.seq),
      onDelta: (delta) => deltas.push(delta),
      onState: (...state) => states.push(state),
    });
  return { client, streams, events, deltas, states, follow };
}

const status = { engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null };
const eventOf = (seq: number): StreamNotice => ({ kind: 'event', event: { seq } as AnyEvent });

test('an answer is its result, a refusal its error with the hint, and a bridge that fails is a window offline', async () => {
  const said: unknown[] = [];
  const { client } = rig((name, params) => {
    said.push([name, params]);
    if (name === 'panic.status') return Promise.resolve({ ok: true, result: status });
    if (name === 'panic.release')
      return Promise.resolve({ ok: false, error: { code: 'forbidden', message: 'No.', hint: 'Ask.', isRetryable: false } });
    return Promise.reject(new Error('the app is closing'));
  });
  expect(await client.op('panic.status', {})).toEqual(status);
  await expect(client.op('panic.release', {})).rejects.toMatchObject({ code: 'forbidden', message: 'No.', hint: 'Ask.' });
  await expect(client.op('health.check', {})).rejects.toMatchObject({
    code: 'offline',
    message: 'The app did not take the request (the app is closing).',
  });
  expect(said).toEqual([
    ['panic.status', {}],
    ['panic.release', {}],
    ['health.check', {}],
  ]);
});

test('what is given up ends at once, also where it was before it began', async () => {
  const finishes: (() => void)[] = [];
  const { client } = rig(() => new Promise((resolve) => finishes.push(() => resolve({ ok: true, result: status }))));
  const given = new AbortController();
  const asked = client.op('panic.status', {}, given.signal);
  given.abort();
  await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
  await expect(client.op('panic.status', {}, AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
  // Later messages are ignored.
  for (const finish of finishes) finish();
});

test('a stream that ends is opened again a second later, after the last event that came', () => {
  vi.useFakeTimers();
  try {
    const { streams, events, deltas, states, follow } = rig(() => Promise.reject(new Error('not asked')));
    const stop = follow(3);
    const delta = { kind: 'text', sessionId: 's', turnId: 't', callId: null, text: 'x' } satisfies DeltaNotice;
    for (const notice of [{ kind: 'open' }, eventOf(4), { kind: 'delta', delta }, eventOf(9), { kind: 'closed' }] as const)
      streams[0]?.tell(notice);
    vi.advanceTimersByTime(999);
    expect(streams).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(streams.map(({ after, isStopped }) => [after, isStopped])).toEqual([
      [3, true],
      [9, false],
    ]);
    streams[1]?.tell({ kind: 'open' });
    expect([events, deltas, states]).toEqual([
      [4, 9],
      [delta],
      [
        ['online', false],
        ['reconnecting', false],
        ['online', false],
      ],
    ]);
    streams[1]?.tell({ kind: 'closed' });
    stop();
    streams[1]?.tell(eventOf(10));
    vi.advanceTimersByTime(10_000);
    expect([events, streams.length, streams[1]?.isStopped]).toEqual([[4, 9], 2, true]);
  } finally {
    vi.useRealTimers();
  }
});

test('followed from now on and cut before anything came, something may have been missed, which is said', () => {
  vi.useFakeTimers();
  try {
    const { streams, states, follow } = rig(() => Promise.reject(new Error('not asked')));
    const stop = follow('latest');
    streams[0]?.tell({ kind: 'open' });
    streams[0]?.tell({ kind: 'closed' });
    vi.advanceTimersByTime(1_000);
    streams[1]?.tell({ kind: 'open' });
    expect([streams[1]?.after, states]).toEqual([
      'latest',
      [
        ['online', false],
        ['reconnecting', false],
        ['online', true],
      ],
    ]);
    stop();
  } finally {
    vi.useRealTimers();
  }
});
