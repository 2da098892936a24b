// Properties of the log: random work matches a plain model, and every kind of tampering is found.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnyDraft } from '../../contracts/events.ts';
import { SessionIndex } from './session.ts';
import { answered, created, ended, LogBench, said } from '../../../tests/rigs/log-bench.ts';

type Action =
  | { readonly kind: 'append'; readonly sessionId: string; readonly texts: readonly string[]; readonly barrier: boolean }
  | { readonly kind: 'both'; readonly texts: readonly string[]; readonly fails: boolean }
  | { readonly kind: 'reopen' };

const sessionId = fc.constantFrom('a', 'b', 'c');
const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { minLength: 1, maxLength: 4 });
const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), sessionId, texts, barrier: fc.boolean() }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('both' as const), texts, fails: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
  ),
  { maxLength: 14 },
);

test('matches a list after any appends, rollbacks and reopens', async () => {
  await fc.assert(
    fc.asyncProperty(actions, async (work) => {
      const bench = new LogBench();
      const failures: string[] = [];
      const model: { sessionId: string; text: string }[] = [];
      for (const action of work) {
        if (action.kind === 'reopen') bench.reopen();
        else if (action.kind === 'append') {
          bench.log.append(
            action.sessionId,
            action.texts.map((text) => said(text)),
            action.barrier,
          );
          model.push(...action.texts.map((text) => ({ sessionId: action.sessionId, text })));
        } else {
          const both = (): void => {
            for (const id of ['a', 'b']) bench.log.append(id, action.texts.map(answered));
            if (action.fails) throw new Error('rolled back');
          };
          if (action.fails) {
            try {
              bench.log.transact(both);
            } catch (cause) {
              failures.push(String(cause));
            }
          } else {
            bench.log.transact(both, true);
            for (const id of ['a', 'b']) model.push(...action.texts.map((text) => ({ sessionId: id, text })));
          }
        }
      }
      expect(failures).toEqual(work.flatMap((action) => (action.kind === 'both' && action.fails ? ['AppError: rolled back'] : [])));
      const events = bench.log.reads.after(0, 10_000);
      const read = events.map((event) => ({ sessionId: event.sessionId, text: 'text' in event.body ? event.body.text : '' }));
      expect(read).toEqual(model);
      expect(events.map((event) => event.seq)).toEqual(model.map((_, index) => index + 1));
      for (const id of ['a', 'b', 'c']) {
        const places = events.filter((event) => event.sessionId === id).map((event) => event.sessionSeq);
        expect(places).toEqual(places.map((_, index) => index + 1));
      }
      expect(await bench.verify()).toMatchObject({ ok: true, events: model.length });
      bench.dispose();
    }),
    { numRuns: 25 },
  );
});

const drafts: readonly AnyDraft[] = [
  said('Hello', 't1'),
  answered('Hi'),
  ended('t1'),
  { type: 'session.renamed', body: { title: 'Renamed' } },
  { type: 'session.pinned', body: { pinned: true } },
  { type: 'session.archived', body: { archived: true } },
  { type: 'session.configured', body: { agentId: 'other', model: 'a/b', by: 'ada' } },
  { type: 'session.configured', body: { agentId: 'other', model: null, by: 'ada', planFirst: 'steps' } },
  { type: 'session.configured', body: { agentId: 'other', model: null, by: 'ada', planFirst: 'off' } },
  { type: 'session.seen', body: { seq: 3 } },
];
const oneAppend = fc.record({ id: fc.constantFrom('a', 'b'), some: fc.subarray([...drafts], { minLength: 1 }), fails: fc.boolean() });

test('the cached row of a session equals the database row, even after a rollback', () => {
  fc.assert(
    fc.property(fc.array(oneAppend, { maxLength: 12 }), (appends) => {
      const bench = new LogBench();
      for (const { id, some, fails } of appends) {
        try {
          bench.log.transact(() => {
            bench.log.append(id, bench.log.index.session(id) === null ? [created('Named'), ...some] : some);
            bench.log.index.session(id);
            if (fails) throw new Error('rolled back');
          });
        } catch (cause) {
          if (!fails) throw cause;
        }
        for (const each of ['a', 'b']) expect(bench.log.index.session(each)).toEqual(new SessionIndex(bench.storage.db).session(each));
      }
      bench.dispose();
    }),
    { numRuns: 25 },
  );
});

/** Creates three interleaved sessions whose heads are recorded. */
function fill(): LogBench {
  const bench = new LogBench();
  const { log } = bench;
  for (const id of ['a', 'b', 'c']) log.append(id, [created(id)]);
  for (let i = 0; i < 4; i++) for (const id of ['a', 'b', 'c']) log.append(id, [said(`${id} says ${i}`, `t-${id}`)]);
  for (const id of ['a', 'b', 'c']) log.append(id, [ended(`t-${id}`)]);
  return bench;
}

const columns = ['seq', 'session_id', 'session_seq', 'turn_id', 'step', 'phase', 'type', 'v', 'at_ms', 'body', 'hash'] as const;

/** Returns a value of the same type with one bit changed. */
function flip(value: unknown, at: number, bit: number): unknown {
  if (typeof value === 'number') return value ^ (1 << (bit % 5)) || 1_000_000;
  const bytes = Buffer.from(value as string | Uint8Array);
  // Changes only the lowest bits, so that text stays readable ASCII.
  const index = at % bytes.length;
  bytes[index] = (bytes[index] ?? 0) ^ (1 << (bit % 3));
  return typeof value === 'string' ? bytes.toString('utf8') : bytes;
}

test('finds a single changed bit in any column of any event', async () => {
  const bench = fill();
  const rows = bench.rows('SELECT * FROM events ORDER BY seq') as Record<string, unknown>[];
  await fc.assert(
    fc.asyncProperty(fc.nat(rows.length - 1), fc.constantFrom(...columns), fc.nat(10_000), fc.nat(4), async (index, column, at, bit) => {
      const row = rows[index] ?? {};
      const before = row[column];
      fc.pre(before !== null);
      const seq = row['seq'];
      const changed = flip(before, at, bit);
      // The database refuses two rows with the same position.
      const change = `UPDATE OR IGNORE events SET ${column} = ? WHERE seq = ?`;
      const took = bench.run(change, changed, seq) > 0;
      const report = await bench.verify();
      expect(report.ok).toBe(!took);
      if (took) bench.run(`UPDATE events SET ${column} = ? WHERE seq = ?`, before, column === 'seq' ? changed : seq);
    }),
    { numRuns: 150 },
  );
  expect(await bench.verify()).toMatchObject({ ok: true, events: rows.length });
  bench.dispose();
});

test.each([
  ['an event is deleted', 'DELETE FROM events WHERE seq = 7'],
  ['the first event of a session is deleted', 'DELETE FROM events WHERE seq = 1'],
  ['the end of a session is cut off', "DELETE FROM events WHERE session_id = 'a' AND session_seq > 4"],
  ['all events of a session are deleted', "DELETE FROM events WHERE session_id = 'a'"],
  [
    'a session is listed that never existed',
    "INSERT INTO sessions (session_id, title, agent_id, channel, created_at_ms, updated_at_ms) SELECT 'z', title, agent_id, channel, 0, 0 FROM sessions LIMIT 1",
  ],
  ['a recorded end is changed', "UPDATE heads SET hash = zeroblob(32) WHERE session_id = 'a'"],
  ['a recorded end is moved on', "UPDATE heads SET session_seq = 99 WHERE session_id = 'a'"],
  ['a recorded end is moved back', "UPDATE heads SET session_seq = 2 WHERE session_id = 'a'"],
  [
    'an event is inserted twice',
    'INSERT INTO events SELECT 99, session_id, 99, turn_id, step, phase, type, v, at_ms, body, hash FROM events WHERE seq = 7',
  ],
])('not ok if %s', async (_name, sql) => {
  const bench = fill();
  expect(bench.run(sql)).toBeGreaterThan(0);
  const report = await bench.verify();
  expect(report).toMatchObject({ ok: false, firstBad: { reason: expect.any(String) as string } });
  bench.dispose();
});

test('finds two swapped events', async () => {
  const bench = fill();
  bench.run('UPDATE events SET session_seq = 100 WHERE seq = 4');
  bench.run("UPDATE events SET session_seq = 2 WHERE seq = 7 AND session_id = 'a'");
  bench.run('UPDATE events SET session_seq = 3 WHERE seq = 4');
  expect(await bench.verify()).toMatchObject({ ok: false });
  bench.dispose();
});
