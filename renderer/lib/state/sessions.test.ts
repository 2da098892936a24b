// The session list and its host: pages, order, unread sessions, removal and restoring.

import { expect, test, vi } from 'vitest';
import type { AnyEvent, EventBodies, EventType } from '../../../core/contracts/events.ts';
import type { SessionInfo } from '../../../core/contracts/op-results.ts';
import { OpFailure, type OpClient } from '../client.ts';
import { pageSessions, Sessions } from './sessions.svelte.ts';

const day = 86_400_000;

function info(sessionId: string, change: Partial<SessionInfo> = {}): SessionInfo {
  const known = { title: sessionId, agentId: 'main', channel: 'window', archived: false, createdAtMs: day, updatedAtMs: day };
  return {
    sessionId,
    ...known,
    lastText: '',
    events: 1,
    status: null,
    pendingApprovals: 0,
    pinned: false,
    unread: 0,
    seenSeq: 0,
    model: null,
    workspace: null,
    planFirst: null,
    ...change,
  };
}

/** A host that keeps sessions in memory, in the real host's order, and records its requests. */
class Host implements OpClient {
  readonly asked: string[] = [];
  /** Runs between the creation of an answer and its arrival. */
  onTheWay: () => void = () => undefined;
  readonly held: Map<string, SessionInfo>;

  constructor(sessions: readonly SessionInfo[]) {
    this.held = new Map(sessions.map((session) => [session.sessionId, session]));
  }

  events = (): (() => void) => () => undefined;

  op = (async (name: string, params: Record<string, unknown>): Promise<unknown> => {
    this.asked.push([name, ...Object.values(params)].join(' '));
    if (name === 'session.list') return this.#list(params);
    const held = this.held.get(String(params['sessionId']));
    if (held === undefined) throw new OpFailure('not_found', 'There is none.');
    // Copied, as over a connection: a later change of the list must not change the host.
    const session = { ...held };
    if (name === 'session.get') return this.#sent({ session, events: [], earlierBefore: null });
    if (name === 'session.delete') return { sessionId: session.sessionId, events: Number(this.held.delete(session.sessionId)) };
    const { sessionId: _, ...change } = params;
    const next = { ...session, ...change, events: session.events + 1, ...(name === 'session.seen' ? { unread: 0 } : {}) };
    this.held.set(session.sessionId, next);
    return this.#sent(next);
  }) as OpClient['op'];

  async #sent<T>(answer: T): Promise<T> {
    await Promise.resolve();
    this.onTheWay();
    return answer;
  }

  #list({ archived = false, limit = 200, cursor }: { archived?: boolean; limit?: number; cursor?: string }) {
    const all = [...this.held.values()]
      .filter((session) => session.archived === archived)
      .toSorted((a, b) => b.updatedAtMs - a.updatedAtMs);
    const start = cursor === undefined ? 0 : Number(cursor);
    const sessions = all.slice(start, start + limit).map((session) => ({ ...session }));
    return { sessions, nextCursor: start + limit < all.length ? String(start + limit) : null };
  }
}

let place = 0;
function event<T extends EventType>(sessionId: string, type: T, body: unknown, change: Partial<AnyEvent> = {}): AnyEvent {
  place += 1;
  const at = { seq: place, sessionSeq: place, turnId: 'trn_1', step: 0, phase: null, v: 1, atMs: 2 * day };
  return { sessionId, type, body: body as EventBodies[T], ...at, ...change } as AnyEvent;
}

const said = (text: string) => ({ text, channel: 'cli', sender: 'cli', dedupeKey: null });
const unexpected = (cause: unknown): never => {
  throw cause;
};

async function open(sessions: readonly SessionInfo[]): Promise<{ host: Host; list: Sessions }> {
  const host = new Host(sessions);
  const list = new Sessions(host, unexpected);
  await list.load();
  return { host, list };
}

test('pages are read as they are asked for, and pinned sessions come first', async () => {
  const many = Array.from({ length: pageSessions + 20 }, (_, index) => info(`s${index}`, { updatedAtMs: day + index }));
  const { list } = await open(many);
  expect([list.visible.length, list.hasMore]).toEqual([pageSessions, true]);
  await list.loadMore();
  expect([list.visible.length, list.hasMore]).toEqual([pageSessions + 20, false]);
  await list.pin('s3', true);
  expect(list.visible.slice(0, 2).map(({ sessionId }) => sessionId)).toEqual(['s3', `s${pageSessions + 19}`]);
  expect(list.newest?.sessionId).toBe(`s${pageSessions + 19}`);
});

test('a session of a later page comes to the front when something happens in it', async () => {
  const many = Array.from({ length: pageSessions + 1 }, (_, index) => info(`s${index}`, { updatedAtMs: day + index }));
  const { host, list } = await open(many);
  expect(list.find('s0')).toBe(undefined);
  host.held.set('s0', info('s0', { updatedAtMs: 3 * day, unread: 1 }));
  list.apply(event('s0', 'turn.finished', { status: 'done' }));
  list.apply(event('s0', 'session.renamed', { title: 'Again' }));
  await expect.poll(() => list.visible[0]?.sessionId).toBe('s0');
  expect(host.asked.filter((asked) => asked.startsWith('session.get'))).toEqual(['session.get s0 1']);
});

test('ends and approvals of turns are unread until seen, and the host learns it', async () => {
  const { host, list } = await open([info('a'), info('b')]);
  list.look('b');
  list.apply(event('a', 'user.message', said('Go')));
  list.apply(event('a', 'turn.waiting', {}));
  list.apply(event('a', 'turn.finished', { status: 'failed' }));
  expect(list.find('a')).toMatchObject({ unread: 2, status: 'failed', lastText: 'Go' });
  expect(list.visible.map((session) => list.isUnread(session))).toEqual([true, false]);
  host.held.set('a', info('a', { unread: 2, events: place }));
  list.look('a');
  expect(list.isUnread(list.find('a') ?? info('none'))).toBe(false);
  await expect.poll(() => list.find('a')?.unread).toBe(0);
  expect(host.asked.at(-1)).toBe('session.seen a');
});

test('events in view are reported as seen, once for several that come together', async () => {
  vi.useFakeTimers();
  try {
    const { host, list } = await open([info('a')]);
    list.look('a');
    list.apply(event('a', 'turn.waiting', {}));
    list.apply(event('a', 'turn.finished', { status: 'done' }));
    host.held.set('a', info('a', { unread: 2, events: place }));
    expect(list.visible.map((session) => list.isUnread(session))).toEqual([false]);
    await vi.runAllTimersAsync();
    expect(host.asked.filter((asked) => asked.startsWith('session.seen'))).toEqual(['session.seen a']);
    expect(list.find('a')?.unread).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('seen through another window, it is read here too', async () => {
  const { list } = await open([info('a', { unread: 3 })]);
  const { seq } = event('a', 'turn.finished', { status: 'done' });
  list.apply(event('a', 'session.seen', { seq }));
  expect(list.find('a')?.unread).toBe(0);
});

test('the turns that a fork copies are not unread', async () => {
  const { list } = await open([]);
  const body = { title: 'Copy', agentId: 'main', channel: 'window', forkedFrom: { sessionId: 'a', sessionSeq: 9 } };
  list.apply(event('f', 'session.created', body, { atMs: 5 * day }));
  list.apply(event('f', 'user.message', said('Old words')));
  list.apply(event('f', 'turn.finished', { status: 'failed' }));
  expect(list.find('f')).toMatchObject({ unread: 0, status: null, lastText: 'Old words' });
});

test('events during a load cause another load', async () => {
  const host = new Host([info('a')]);
  const list = new Sessions(host, unexpected);
  const loading = list.load();
  list.apply(event('a', 'session.renamed', { title: 'New name' }));
  host.held.set('a', info('a', { title: 'New name' }));
  await loading;
  await expect.poll(() => list.find('a')?.title).toBe('New name');
});

test('deleting and archiving can be taken back for some seconds', async () => {
  vi.useFakeTimers();
  try {
    const { host, list } = await open([info('a'), info('b')]);
    list.deleteSoon('a');
    expect(list.visible.map(({ sessionId }) => sessionId)).toEqual(['b']);
    list.keep();
    await vi.runAllTimersAsync();
    expect([list.visible.length, host.held.size]).toEqual([2, 2]);
    list.deleteSoon('a');
    await vi.runAllTimersAsync();
    expect([list.visible.length, host.held.has('a'), list.deletion]).toEqual([1, false, null]);
    await list.archive('b', true);
    expect([list.find('b')?.archived, list.archival]).toEqual([true, { sessionId: 'b', title: 'b' }]);
    await list.archive('b', false);
    expect([list.find('b')?.archived, list.archival]).toEqual([false, null]);
    await list.archive('b', true);
    await vi.runAllTimersAsync();
    expect(list.archival).toBe(null);
  } finally {
    vi.useRealTimers();
  }
});

test.each<[string, (list: Sessions) => Promise<void>, EventType, Partial<SessionInfo>]>([
  ['renaming', (list) => list.rename('a', 'Mine'), 'session.renamed', { title: 'Theirs' }],
  ['pinning', (list) => list.pin('a', true), 'session.pinned', { pinned: false }],
  ['archiving', (list) => list.archive('a', true), 'session.archived', { archived: false }],
  ['a choice of a model', (list) => list.chooseModel('a', 'lab/mine'), 'session.configured', { model: 'lab/theirs', agentId: 'main' }],
])('the answer to %s does not overwrite a newer change', async (_what, act, type, change) => {
  const { host, list } = await open([info('a', { events: 4 })]);
  host.onTheWay = () => list.apply(event('a', type, change, { sessionSeq: 6 }));
  await act(list);
  expect(list.find('a')).toMatchObject(change);
});

test('the answer to a seen session does not overwrite a newer change', async () => {
  const { host, list } = await open([info('a', { events: 4, unread: 2 })]);
  host.onTheWay = () => list.apply(event('a', 'turn.finished', { status: 'done' }, { sessionSeq: 6 }));
  list.look('a');
  list.look(null);
  await expect.poll(() => list.find('a')?.status).toBe('done');
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(list.find('a')?.unread).toBe(3);
});

test('a session read again is read once more if a newer change arrived meanwhile', async () => {
  const { host, list } = await open([info('a', { events: 4 })]);
  host.onTheWay = () => {
    host.onTheWay = () => undefined;
    host.held.set('a', info('a', { events: 6, title: 'Theirs', lastText: 'Both' }));
    list.apply(event('a', 'session.renamed', { title: 'Theirs' }, { sessionSeq: 6 }));
  };
  list.refresh('a');
  await expect.poll(() => list.find('a')).toMatchObject({ title: 'Theirs', lastText: 'Both' });
  expect(host.asked.filter((asked) => asked.startsWith('session.get'))).toHaveLength(2);
});

test('of two lists on their way, the later one does not undo a change that came after the first', async () => {
  const { host, list } = await open([info('a')]);
  const held: (() => void)[] = [];
  const answer = host.op;
  host.op = (async (name: 'session.list', params: object) => {
    const answered = await answer(name, params);
    if (name === 'session.list') await new Promise<void>((resolve) => held.push(resolve));
    return answered;
  }) as OpClient['op'];
  const [first, second] = [list.load(), list.load()];
  await expect.poll(() => held.length).toBe(2);
  held.shift()?.();
  await first;
  host.held.set('a', info('a', { title: 'Renamed', events: 2 }));
  list.apply(event('a', 'session.renamed', { title: 'Renamed' }, { sessionSeq: 2 }));
  held.shift()?.();
  await second;
  await expect.poll(() => list.find('a')?.title).toBe('Renamed');
});
