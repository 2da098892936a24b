import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GrammyError, HttpError } from 'grammy/web';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../base/logger.ts';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { Storage } from '../../store/storage/storage.ts';
import { channels } from '../channels/channels.ts';
import type { Update } from './bot-api.ts';
import { PollPlace } from './poll-place.ts';
import { Poller, type PollEnd } from './poller.ts';
import { PollLeases, telegramMigrations } from './rows.ts';

const refused = (code: number, description: string, parameters = {}): GrammyError =>
  new GrammyError('failed', { ok: false, error_code: code, description, parameters }, 'getUpdates', {});
const conflict = refused(409, 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running');
const webhook = refused(409, "Conflict: can't use getUpdates method while webhook is active");
const offline = new HttpError('failed', new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }));
const update = (update_id: number): Update => ({ update_id });

type Answer = Update[] | Error | (() => Update[]);

function openLeases(): PollLeases {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-telegram-'));
  const storage = Storage.open({ home, migrations: [...channels.migrations, ...telegramMigrations] });
  onTestFinished(() => {
    storage.dispose();
    rmSync(home, { recursive: true, force: true });
  });
  return new PollLeases(storage.db);
}

/** Answers in order, then ends the loop. */
async function poll(
  answers: Answer[],
  more: { take?: (updates: readonly Update[], waitedMs: number) => void; offset?: number; takes?: number } = {},
) {
  const clock = new ManualClock();
  const leases = openLeases();
  const notes = new Map<string, string>();
  const desk = { note: (key: string) => notes.get(key) ?? null, setNote: (key: string, value: string) => void notes.set(key, value) };
  const place = new PollPlace(desk, '7');
  if (more.offset !== undefined) place.moveTo(more.offset, clock.nowMs());
  const waits: number[] = [];
  const told: string[] = [];
  const asked: { offset: number; timeoutSeconds: number }[] = [];
  const taken: number[] = [];
  const ending = new AbortController();
  const poller = new Poller({
    api: {
      getUpdates: (ask) => {
        asked.push(ask);
        const answer = answers.shift();
        if (answer === undefined) ending.abort();
        if (answer instanceof Error) return Promise.reject(answer);
        return Promise.resolve(typeof answer === 'function' ? answer() : (answer ?? []));
      },
    },
    place,
    leases,
    clock,
    logger: silentLogger,
    tokenHash: 'hash',
    holder: 'me',
    pollSeconds: 30,
    wait: (ms) => {
      waits.push(ms);
      clock.advance(ms);
      return Promise.resolve(true);
    },
    random: () => 0.5,
    take: async (updates, waitedMs) => {
      more.take?.(updates, waitedMs);
      const now = updates.slice(0, more.takes);
      for (const one of now) taken.push(one.update_id);
      place.moveTo((now.at(-1)?.update_id ?? 0) + 1, clock.nowMs());
      return now.length === updates.length ? 'taken' : 'partly';
    },
    tell: (news) => {
      const state = news.state === 'polling' ? (news.conflict === undefined ? 'running' : 'conflict') : news.state;
      if (told.at(-1) !== state) told.push(state);
    },
  });
  const run = (): Promise<PollEnd> => poller.run(ending.signal);
  return { run, waits, told, asked, taken, place, leases, clock };
}

test('the first poll returns at once, later ones wait; each confirms the one before', async () => {
  const { run, asked, taken, told } = await poll([[], [update(10), update(11)]]);
  expect(await run()).toBe('stopped');
  expect(asked).toEqual([
    { offset: 0, timeoutSeconds: 0 },
    { offset: 0, timeoutSeconds: 30 },
    { offset: 12, timeoutSeconds: 30 },
  ]);
  expect([taken, told]).toEqual([[10, 11], ['running']]);
});

test('backs off while another program polls, and resumes when that one ends', async () => {
  const { run, waits, told } = await poll([conflict, conflict, conflict, webhook, []]);
  await run();
  expect(waits.slice(0, 4)).toEqual([30_000, 60_000, 120_000, 240_000]);
  expect(told).toEqual(['conflict', 'running']);
});

test('the back-off has an upper bound', async () => {
  const { run, waits } = await poll(Array.from({ length: 40 }, () => conflict));
  await run();
  expect(Math.max(...waits)).toBe(15 * 60_000);
});

test('a flood limit is waited out to the second', async () => {
  const { run, waits } = await poll([refused(429, 'Too Many Requests: retry after 17', { retry_after: 17 }), []]);
  await run();
  expect(waits[0]).toBe(17_000);
});

test('a single failed poll is silent; a longer outage is reported once', async () => {
  const short = await poll([offline, []]);
  await short.run();
  expect(short.told).toEqual(['running']);
  const long = await poll([...Array.from({ length: 30 }, () => offline), []]);
  await long.run();
  expect(long.told).toEqual(['offline', 'running']);
  expect([long.waits[0], Math.max(...long.waits)]).toEqual([1_000, 60_000]);
});

test('an invalid token ends the loop', async () => {
  const { run, told } = await poll([refused(401, 'Unauthorized')]);
  expect(await run()).toBe('refused');
  expect(told).toEqual([]);
});

test('repeated updates are taken once, and quick answers do not cause a busy loop', async () => {
  const { run, taken, waits } = await poll([[update(5), update(6)], [update(5), update(6), update(7)], [], []]);
  await run();
  expect(taken).toEqual([5, 6, 7]);
  expect(waits).toEqual([500, 500, 500]);
});

test('an update that could not be stored is received again', async () => {
  let fails = true;
  const { run, taken, asked, waits } = await poll([[update(5)], [update(5)]], {
    take: () => {
      if (fails) {
        fails = false;
        throw new Error('the disk is full');
      }
    },
  });
  await run();
  expect([taken, asked.map(({ offset }) => offset), waits]).toEqual([[5], [0, 0, 6], [5_000, 500]]);
});

test('updates are as old as the last poll, or of any age if the clock was set back', async () => {
  const ages: number[] = [];
  const rig = await poll([[], () => (rig.clock.advance(60_000), [update(5)]), () => (rig.clock.advance(-7_200_000), [update(6)])], {
    take: (_updates, waitedMs) => void ages.push(waitedMs),
  });
  await rig.run();
  expect(ages).toEqual([60_000, Number.MAX_SAFE_INTEGER]);
});

test('updates left over from a poll are fetched again at once, and keep their age', async () => {
  const ages: number[] = [];
  const rig = await poll(
    [[], () => (rig.clock.advance(60_000), [update(5), update(6)]), [update(6)], () => (rig.clock.advance(7), [update(7)])],
    {
      takes: 1,
      take: (_updates, waitedMs) => void ages.push(waitedMs),
    },
  );
  await rig.run();
  expect([rig.taken, ages]).toEqual([
    [5, 6, 7],
    [60_000, 60_000, 7],
  ]);
});

test('after a week without updates the server may renumber', async () => {
  const { run, asked, taken, clock, place } = await poll([[update(3)], []], { offset: 900_000 });
  clock.advance(7 * 86_400_000);
  await run();
  expect(asked[0]?.offset).toBe(0);
  expect(taken).toEqual([3]);
  expect(place.askFrom(clock.nowMs())).toBe(4);
});

test('a poller that lost its lease stops', async () => {
  const rig = await poll([[update(4)], []], { take: () => rig.leases.holdLease('hash', 'another', rig.clock.nowMs()) });
  expect(await rig.run()).toBe('lease_lost');
  expect([rig.asked.length, rig.leases.lease('hash')?.holder]).toEqual([1, 'another']);
});
