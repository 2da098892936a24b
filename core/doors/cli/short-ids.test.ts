import { expect, test } from 'vitest';
import { FakeClaw } from '../../../tests/doubles/fake-claw.ts';
import { fakeParts, runCommand } from '../../../tests/doubles/fake-terminal.ts';
import { scheduleView } from '../../../tests/doubles/schedule-answers.ts';
import { table } from './table.ts';

const ids = ['ses_01KAR3X5QZ7MABCDEFGHJKMNPQ', 'ses_01KAR3X5QZ8NABCDEFGHJKMNPQ'];

/** Runs `sessions archive` with these sessions and returns its request. */
async function archived(...typed: string[]): Promise<{ code: number; asked: unknown; said: string; looks: number }> {
  const claw: FakeClaw = new FakeClaw({
    'session.list': (params) => ({
      sessions: (params.archived === true ? ids.slice(1) : ids).map((id, at) => ({ ...claw.sessionInfo(id), updatedAtMs: 10 - at })),
      nextCursor: null,
    }),
    'session.archive': ({ sessionId }) => claw.sessionInfo(sessionId),
  });
  const { code, err } = await runCommand(['sessions', 'archive', ...typed], fakeParts(claw));
  const asked = claw.calls.find(({ name }) => name === 'session.archive')?.params;
  return { code, asked, said: err, looks: claw.calls.filter(({ name }) => name === 'session.list').length };
}

test('completes a unique prefix, and last to the latest id', async () => {
  const first = { sessionId: ids[0], archived: true };
  for (const typed of ['ses_01KAR3X5QZ7', '01kar3x5qz7', 'last']) expect((await archived(typed)).asked).toEqual(first);
  expect(await archived(ids[0] ?? '')).toMatchObject({ asked: first, looks: 0 });
});

test('undoing an archiving means the latest archived session', async () => {
  for (const typed of ['last', '01kar3x5qz8'])
    expect((await archived(typed, '--undo')).asked).toEqual({ sessionId: ids[1], archived: false });
});

test('last and a prefix work for every kind of id, except that last answers no question', async () => {
  const [older, newer] = ['sch_01KAR3X5QZ7MABCDEFGHJKMNPQ', 'sch_01KAR4X5QZ8NABCDEFGHJKMNPQ'] as const;
  const requested = async (...words: string[]): Promise<unknown> => {
    const schedule = (scheduleId: string) => ({ ...scheduleView, scheduleId });
    const claw = new FakeClaw({
      'schedule.list': () => ({ schedules: [older, newer].map(schedule), clockJump: null }),
      'schedule.run': () => ({ sessionId: 'ses_1', turnId: 'trn_1' }),
    });
    const { code, err } = await runCommand(words, fakeParts(claw));
    const asked = claw.calls.at(-1);
    return asked?.name === 'schedule.run' ? asked.params : [code, err.split('\n')[0]];
  };
  expect(await requested('schedule', 'run', 'last')).toEqual({ scheduleId: newer });
  expect(await requested('schedule', 'run', 'sch_01KAR3')).toEqual({ scheduleId: older });
  expect(await requested('approvals', 'approve', 'last')).toEqual([
    1,
    '"last" names nothing here. Another may have come since you looked, so name it.',
  ]);
});

test('an ambiguous prefix lists its matches; other names stay unchanged', async () => {
  const several = await archived('ses_01KAR3X5QZ');
  expect([several.code, several.asked]).toEqual([2, undefined]);
  for (const id of ids) expect(several.said).toContain(id);
  expect((await archived('notes')).asked).toEqual({ sessionId: 'notes', archived: true });
});

test('the last turn is the latest, also while it is under way or waits', async () => {
  const [waits, helps, ended] = ['W', 'H', 'E'].map((letter) => `trn_01KAR3X5QZ7${letter}ABCDEFGHJKMNPQ`);
  const lookedFor = async (typed: string, endedAtMs: number): Promise<unknown> => {
    const about = { sessionId: 's', title: '', agentId: 'main', status: 'waiting' as const, calls: [] };
    const turn = (turnId = '', channel = 'cli', sinceMs = 5) => ({ ...about, turnId, channel, sinceMs });
    const hit = { seq: 1, sessionId: 's', title: '', turnId: ended ?? null, atMs: endedAtMs, type: 'turn.finished', kind: 'turn' } as const;
    const claw = new FakeClaw({
      'running.list': () => ({ turns: [turn(waits), turn(helps, 'helper', 6)], commands: [] }),
      'activity.search': () => ({ hits: [{ ...hit, tool: null, outcome: 'ok', excerpt: '' }], nextBefore: null }),
    });
    await runCommand(['turns', 'cancel', typed], fakeParts(claw));
    return claw.calls.find(({ name }) => name === 'turn.cancel')?.params;
  };
  expect(await lookedFor('last', 4)).toEqual({ turnId: waits });
  expect(await lookedFor('last', 9)).toEqual({ turnId: ended });
  expect(await lookedFor('01kar3x5qz7h', 9)).toEqual({ turnId: helps });
});

test('the last pack is the newest of the list', async () => {
  const sizes = { tokens: 1, budgetTokens: 2, dropped: 0, truncated: 0, inputTokens: null, cachedInputTokens: null };
  const pack = (packId: string) => ({ packId, sessionId: 's', turnId: 'trn_1', atMs: 1, model: null, ...sizes });
  const claw = new FakeClaw({ 'pack.list': () => ({ packs: [pack('trn_1-p2'), pack('trn_1-p1')] }) });
  await runCommand(['packs', 'show', 'last'], fakeParts(claw));
  expect(claw.calls.at(-1)).toMatchObject({ name: 'pack.get', params: { packId: 'trn_1-p2' } });
});

test('a table truncates nothing, and a long cell does not widen its column', () => {
  const hash = 'f'.repeat(64);
  const long = 'words '.repeat(40).trim();
  expect(
    table(
      ['HASH', 'NAME'],
      [
        [hash, long],
        ['a', 'b'],
      ],
      '',
    ),
  ).toBe(`HASH  NAME\n${hash}  ${long}\na     b`);
});
