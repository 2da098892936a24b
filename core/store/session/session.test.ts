import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AnyDraft, AnyEvent, EventBodies } from '../../contracts/events.ts';
import { wholeBounds } from '../../contracts/turn-bounds.ts';
import { answered, created, ended, finished, LogBench, requested, said, started } from '../../../tests/rigs/log-bench.ts';
import { SessionIndex } from './session-index.ts';
import { exportJsonl, exportMarkdown } from './session.ts';

let bench: LogBench;

beforeEach(() => {
  bench = new LogBench();
});

afterEach(async () => {
  bench.dispose();
});

const interrupted = (partialText: string, more: Pick<EventBodies['model.failed'], 'again'> = {}): AnyDraft => ({
  type: 'model.failed',
  body: { requestId: 'r', error: { code: 'cancelled', message: 'Stopped.' }, partialText, tookMs: 1, ...more },
});

const texts = (events: readonly AnyEvent[]): string[] =>
  events.flatMap((event) => ('text' in event.body ? [event.body.text] : [event.type]));

test('events get gapless positions, globally and per session, and are read unchanged', () => {
  const { log } = bench;
  const first = log.append('a', [created(), said('one')]);
  const second = log.append('b', [created()], true);
  bench.clock.advance(5);
  const third = log.append('a', [said('two')]);
  const all = [...first, ...second, ...third];
  expect(all.map(({ seq, sessionId, sessionSeq }) => [seq, sessionId, sessionSeq])).toEqual([
    [1, 'a', 1],
    [2, 'a', 2],
    [3, 'b', 1],
    [4, 'a', 3],
  ]);
  expect(log.reads.after(0, 10)).toEqual(all);
  expect(log.reads.after(1, 10, 'a')).toEqual([first[1], third[0]]);
  expect(log.reads.after(2, 10, 'a')).toEqual(third);
  expect([log.lastSeq, log.nextSessionSeq('a'), log.nextSessionSeq('new')]).toEqual([4, 4, 1]);
  expect([log.append('a', []), log.append('new', [], true), log.lastSeq]).toEqual([[], [], 4]);
});

test('the row of a session is the committed one, however often it is read', () => {
  const { log } = bench;
  const lastText = (): string | undefined => log.index.session('a')?.lastText;
  const read: (string | undefined)[] = [];
  log.append('a', [created(), said('one')]);
  read.push(lastText(), lastText());
  expect(() =>
    log.transact(() => {
      log.append('a', [said('lost')]);
      read.push(lastText(), lastText());
      throw new Error('no');
    }),
  ).toThrow('no');
  read.push(lastText());
  log.append('a', [said('two')]);
  read.push(lastText());
  expect(read).toEqual(['one', 'one', 'lost', 'lost', 'one', 'two']);
  log.remove('a', 'b');
  expect(log.index.session('a')).toBeNull();
});

test('a rolled-back append leaves no trace in positions, chains, rows or listeners', async () => {
  const { log } = bench;
  const heard: number[] = [];
  log.onCommitted((events) => heard.push(...events.map((event) => event.seq)));
  log.append('a', [created(), said('kept')]);
  expect(() =>
    log.transact(() => {
      log.append('a', [said('lost')]);
      log.append('b', [created('lost')]);
      throw new Error('no');
    }),
  ).toThrow('no');
  expect([log.lastSeq, log.nextSessionSeq('a'), log.nextSessionSeq('b'), log.index.session('b')]).toEqual([2, 3, 1, null]);
  log.transact(() => {
    log.append('a', [said('next')]);
    log.append('b', [created('B')]);
  }, true);
  expect(heard).toEqual([1, 2, 3, 4]);
  expect(log.index.session('a')).toMatchObject({ lastText: 'next' });
  expect(await bench.verify()).toEqual({ ok: true, events: 4, sessions: 2 });
});

test('refuses a second result of a call together with its whole append', () => {
  const { log } = bench;
  log.append('a', [created(), requested('c1')]);
  log.append('a', [finished('c1')]);
  expect(() => log.append('a', [said('with it'), finished('c1')])).toThrow(expect.objectContaining({ code: 'conflict' }) as Error);
  expect([log.lastSeq, log.index.openCalls()]).toEqual([3, []]);
});

test('rows follow their events: sessions, turns, calls, inbound keys', () => {
  const { log } = bench;
  log.append('a', [created('First'), said('x'.repeat(300), 't1'), started('t1'), requested('c1', 't1')]);
  expect(log.index.openTurns()).toMatchObject([{ turnId: 't1', status: 'running' }]);
  expect(log.index.openCalls()).toMatchObject([{ callId: 'c1', turnId: 't1', state: 'requested', idempotency: 'idempotent', pid: null }]);
  log.append('a', [{ type: 'tool.spawned', turnId: 't1', body: { callId: 'c1', pid: 7, startTime: '9' } }]);
  expect(log.index.openCalls()).toMatchObject([{ pid: 7, startTime: '9' }]);
  log.append('a', [{ type: 'tool.outcome_unknown', turnId: 't1', body: { callId: 'c1', tool: 'put', args: '{}', reason: 'r' } }]);
  expect(log.index.openCalls()).toMatchObject([{ state: 'unknown' }]);
  expect(log.reads.lastOfCall('a', 'tool.outcome_unknown', 'c1')?.body.reason).toBe('r');
  log.append('a', [finished('c1'), ended('t1'), { type: 'session.renamed', body: { title: 'Second' } }]);
  log.append('a', [{ type: 'session.archived', body: { archived: true } }]);
  expect([log.index.openTurns(), log.index.openCalls(), log.index.lastTurn('a')?.status]).toEqual([[], [], 'done']);
  expect(log.index.session('a')).toMatchObject({ title: 'Second', archived: true, lastText: 'x'.repeat(200) });
  expect([
    bench.log.index.sessions({ archived: false, limit: 10 }),
    bench.log.index.sessions({ archived: true, limit: 10 }).length,
    log.index.countEvents('a'),
  ]).toEqual([[], 1, 10]);
  log.index.putInbound('cli', 'k', 'a', 't1');
  expect([log.index.findInbound('cli', 'k'), log.index.findInbound('http', 'k')]).toEqual([{ sessionId: 'a', turnId: 't1' }, null]);
});

test('a page of the session list reads only its own rows', () => {
  const { db } = bench.storage;
  const prepared: string[] = [];
  const watched = Object.create(db, {
    prepare: {
      value: (sql: string) => {
        prepared.push(sql);
        return db.prepare(sql);
      },
    },
  }) as typeof db;
  const index = new SessionIndex(watched);
  index.sessions({ archived: false, limit: 2 });
  index.sessions({ archived: false, limit: 2, after: { pinned: false, updatedAtMs: 1, sessionId: 'a' } });
  const pages = prepared.filter((sql) => sql.includes('ORDER BY pinned'));
  expect(pages.length).toBe(2);
  for (const sql of pages) {
    const values = Array.from({ length: sql.split('?').length - 1 }, () => 1);
    const plan = bench.rows(`EXPLAIN QUERY PLAN ${sql}`, ...values).map((row) => (row as { detail: string }).detail);
    expect(plan.filter((step) => /sessions/.test(step))).toEqual([expect.stringContaining('sessions_in_order')]);
    expect(plan.join()).not.toContain('TEMP B-TREE');
  }
});

test('slices by position, window, type and phase, and from the end', () => {
  const { log } = bench;
  log.append('a', [created(), said('1'), answered('2'), said('3'), answered('4'), said('5')]);
  const slice = (query: Partial<Parameters<typeof log.reads.slice>[1]>): string[] => texts(log.reads.slice('a', { limit: 10, ...query }));
  expect(slice({ after: 2, before: 5 })).toEqual(['2', '3']);
  expect(slice({ types: ['assistant.message'] })).toEqual(['2', '4']);
  expect(slice({ phase: 'interpret', limit: 2 })).toEqual(['1', '3']);
  expect(slice({ newest: true, limit: 2 })).toEqual(['4', '5']);
  expect(slice({ newest: true, limit: 2, before: 6, types: ['user.message'] })).toEqual(['1', '3']);
  expect(texts(log.reads.newestBetween(['assistant.message'], 1, log.lastSeq + 1))).toEqual(['4', '2']);
});

test('reports and quarantines an unreadable row, and reads the following rows', () => {
  const { log } = bench;
  log.append('a', [created(), said('1', 't1'), started('t1'), said('2'), said('3')]);
  bench.run("UPDATE events SET body = '{' WHERE seq = 2");
  bench.run("UPDATE events SET type = 'user.massage' WHERE seq = 4");
  expect(log.reads.after(0, 10).map((event) => event.seq)).toEqual([1, 3, 5]);
  // Fewer events than requested means the end, so unreadable rows are replaced by later ones.
  expect(log.reads.after(0, 3).map((event) => event.seq)).toEqual([1, 3, 5]);
  expect(log.reads.after(1, 1).map((event) => event.seq)).toEqual([3]);
  expect(log.reads.envelopes('a', { limit: 10 }).map(({ seq, body }) => [seq, body === null])).toEqual([
    [1, false],
    [2, true],
    [3, false],
    [4, true],
    [5, false],
  ]);
  expect(() => log.reads.turn('a', 't1', 2)).toThrow(expect.objectContaining({ code: 'store_corrupt' }) as Error);
  expect(() => [...log.reads.iterateSession('a')]).toThrow(expect.objectContaining({ code: 'store_corrupt' }) as Error);
  expect(log.reads.quarantined()).toMatchObject([{ seq: 2 }, { seq: 4, reason: 'unknown event type user.massage' }]);
  expect(log.reads.lastOfCall('a', 'tool.requested', 'c')).toBeNull();
});

test('reports an unreadable row even if the disk is read-only', () => {
  const { log } = bench;
  log.append('a', [created(), said('1', 't1')]);
  bench.run("UPDATE events SET body = '{' WHERE seq = 2");
  bench.storage.db.pragma('query_only = ON');
  expect(() => log.reads.turn('a', 't1', 2)).toThrow(expect.objectContaining({ code: 'store_corrupt' }) as Error);
  bench.storage.db.pragma('query_only = OFF');
});

test('a fork is a separate session up to any event, and can be forked again', async () => {
  const { log } = bench;
  log.append('a', [created('A'), said('1', 't1'), started('t1'), requested('c1', 't1'), finished('c1'), answered('2'), said('3')]);
  const before = log.reads.after(0, 100);
  for (let at = 1; at <= 7; at++) {
    log.fork({ sessionId: 'a', atSessionSeq: at }, { sessionId: `f${at}`, title: 'F', agentId: 'main', channel: 'cli' });
    const copy = [...log.reads.iterateSession(`f${at}`)];
    expect(copy.slice(1).map(({ type, atMs, body, turnId }) => ({ type, atMs, body, turnId }))).toEqual(
      before.slice(1, at).map(({ type, atMs, body, turnId }) => ({ type, atMs, body, turnId })),
    );
  }
  log.fork({ sessionId: 'f7', atSessionSeq: 3 }, { sessionId: 'g', title: 'G', agentId: 'main', channel: 'cli' });
  log.append('g', [said('on its own')]);
  log.append('a', [said('and so does the first')]);
  expect(texts([...log.reads.iterateSession('g')])).toEqual(['session.created', '1', 'turn.started', 'on its own']);
  expect([...log.reads.iterateSession('a', 7)]).toEqual(before);
  // Turns and calls still belong to the original.
  expect([log.index.turn('t1')?.sessionId, log.index.lastTurn('g')]).toEqual(['a', null]);
  expect(await bench.verify()).toMatchObject({ ok: true, sessions: 9 });
  expect(() => log.fork({ sessionId: 'a', atSessionSeq: 99 }, { sessionId: 'h', title: 'H', agentId: 'main', channel: 'cli' })).toThrow(
    expect.objectContaining({ code: 'not_found' }) as Error,
  );
});

test('a long fork is copied in batches, in order and with a whole chain', async () => {
  const { log } = bench;
  log.append('a', [created('A'), ...Array.from({ length: 400 }, (_, at) => said(String(at)))]);
  const applied = vi.spyOn(log.index, 'apply');
  log.fork({ sessionId: 'a', atSessionSeq: 390 }, { sessionId: 'f', title: 'F', agentId: 'main', channel: 'cli' });
  expect(applied.mock.calls.length).toBeLessThan(10);
  expect(texts([...log.reads.iterateSession('f')])).toEqual(['session.created', ...Array.from({ length: 389 }, (_, at) => String(at))]);
  expect(log.index.session('f')?.lastText).toBe('388');
  expect(await bench.verify()).toMatchObject({ ok: true });
});

test('a removed session leaves only a record of the end of its chain', async () => {
  const { log } = bench;
  log.append('system', [created('System')]);
  log.append('a', [created('A'), said('secret plan', 't1'), started('t1'), requested('c1', 't1'), finished('c1'), ended('t1')]);
  log.append('b', [created('B')]);
  log.index.putInbound('cli', 'k', 'a', 't1');
  log.search.find('secret', 1);
  const head = log.reads.head('a');
  expect(log.remove('a', 'system')).toBe(6);
  expect(log.reads.after(0, 100).map((event) => event.sessionId)).toEqual(['system', 'b', 'system']);
  expect(log.reads.after(2, 10).at(-1)?.body).toEqual({ sessionId: 'a', headSeq: 6, headHash: head?.hashHex });
  expect([log.index.session('a'), log.index.turn('t1'), log.index.findInbound('cli', 'k'), log.search.find('secret', 5)]).toEqual([
    null,
    null,
    null,
    [],
  ]);
  expect(await bench.verify()).toMatchObject({ ok: true });
  log.append('a', [created('again')]);
  expect(await bench.verify()).toMatchObject({ ok: true, sessions: 3 });
  expect(() => log.remove('zzz', 'system')).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
});

test('redacts secrets before hashing, in stored, returned and projected events', async () => {
  const projected: unknown[] = [];
  const scrubbing = new LogBench({
    scrub: <T>(body: T) => JSON.parse(JSON.stringify(body).replaceAll('hunter2', '***')) as T,
    projections: [{ apply: (event) => void projected.push(event.body) }],
  });
  const [, event] = scrubbing.log.append('a', [created(), said('the word is hunter2')]);
  expect(event?.body).toMatchObject({ text: 'the word is ***' });
  expect(projected[1]).toEqual(event?.body);
  expect(scrubbing.log.index.session('a')?.lastText).toBe('the word is ***');
  expect(scrubbing.rows("SELECT 1 FROM events WHERE body LIKE '%hunter2%'")).toEqual([]);
  expect(await scrubbing.verify()).toMatchObject({ ok: true });
  scrubbing.dispose();
});

test('waits for the next commit without missing one, or until an abort', async () => {
  const { log } = bench;
  const next = log.nextCommit(new AbortController().signal);
  log.append('a', [created()]);
  await next;
  const cut = new AbortController();
  const never = log.nextCommit(cut.signal);
  cut.abort();
  await never;
  await log.nextCommit(cut.signal);
  expect(log.lastSeq).toBe(1);
});

test('exports everything, and content cannot end its own fence', () => {
  const { log } = bench;
  log.append('a', [
    created('A  title\nin two lines'),
    said('hi'),
    requested('c1'),
    finished('c1', 'before\n````\n# not a heading\n````'),
    answered('bye'),
  ]);
  const events = [...log.reads.iterateSession('a')];
  const lines = exportJsonl(events).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(events);
  expect(exportMarkdown('A  title\nin two lines', events)).toBe(
    `# A title in two lines\n\n## You · 2025-06-15T15:06:40.000Z\n\nhi\n\n**Called \`put\`** · 2025-06-15T15:06:40.000Z\n\n\`\`\`json\n{"a":1}\n\`\`\`\n\n` +
      `**\`put\` → ok** (1 ms)\n\n\`\`\`\`\`\nbefore\n\`\`\`\`\n# not a heading\n\`\`\`\`\n\`\`\`\`\`\n\n## TrayClaw · 2025-06-15T15:06:40.000Z\n\nbye\n`,
  );
});

test('an export names who wrote a message that the user did not write', () => {
  const { log } = bench;
  const bounds = { ...wholeBounds, unattended: { approvalMs: 1000 } };
  const message = (sender: string, more: object): AnyDraft => ({
    type: 'user.message',
    turnId: null,
    body: { text: 'do it', channel: 'x', sender, dedupeKey: null, ...more },
  });
  const source = { kind: 'message', where: 'webhook build' } as const;
  log.append('a', [
    message('cli', { bounds: wholeBounds }),
    message('schedule Evening\n# notes', { bounds }),
    message('guest', { bounds: { ...wholeBounds, outsider: { id: 'x guest', name: 'guest', sees: [] } } }),
    { type: 'turn.steered', turnId: 't', body: { text: 'and this', sender: 'window' } },
    { type: 'turn.steered', turnId: 't', body: { text: 'news', sender: 'webhook build', untrusted: [source] } },
  ]);
  const headings = exportMarkdown('A', log.reads.iterateSession('a')).match(/(?<=^## ).*(?= · )/gm);
  expect(headings).toEqual(['You', 'schedule Evening # notes', 'guest', 'You, while it worked', 'webhook build, while it worked']);
});

test('finds words, prefixes and accents, in batches; a query cannot contain syntax', () => {
  const { log } = bench;
  log.append('a', [created('Holiday'), said('The Résumé of Zoë'), finished('c1', 'résumé.pdf found')]);
  log.append(
    'b',
    Array.from({ length: 1200 }, (_, i) => said(`filler number ${i}`)),
  );
  const find = (query: string): number[] => log.search.find(query, 50).map((hit) => hit.seq);
  expect(new Set(find('resume'))).toEqual(new Set([2, 3]));
  expect(find('re\u0301sume\u0301 zoe')).toEqual([2]);
  expect(find('res')).toHaveLength(2);
  expect(find('holi')).toEqual([1]);
  expect(find('filler 1199')).toEqual([1203 - 1 + 1]);
  expect(log.search.find('zoe', 1)).toMatchObject([{ sessionId: 'a', type: 'user.message', excerpt: 'The Résumé of Zoë' }]);
  for (const query of ['', '   ', '"', '*', 'AND', 'NEAR(', 'body:x OR', '-', "'; DROP TABLE events; --", '^', '( ) { }', '_'])
    expect(() => find(query)).not.toThrow();
  expect([find('zoe_of'), find('resume NOT zoe')]).toEqual([[2], []]);
  log.append('a', [said('fresh words')]);
  expect(find('fresh')).toEqual([1204]);
  // The words of an answer that ended early stay in the conversation; those that another attempt replaced do not.
  log.append('a', [interrupted('lost elephant'), interrupted('replaced giraffe', { again: true })]);
  expect([find('elephant'), find('giraffe')]).toEqual([[1205], []]);
  expect(log.search.catchUp()).toBe(false);
});
