import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Lanes, type LaneState } from './lane.ts';

/** Jobs that report when they begin and end on command. */
class Jobs {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, PromiseWithResolvers<LaneState>>();

  make(name: string): () => Promise<LaneState> {
    const end = Promise.withResolvers<LaneState>();
    this.#ends.set(name, end);
    return () => {
      this.begun.push(name);
      return end.promise;
    };
  }

  async end(name: string, state: LaneState = 'free'): Promise<void> {
    this.#ends.get(name)?.resolve(state);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

test('a lane runs one job at a time in order; lanes run in parallel up to the limit', async () => {
  const jobs = new Jobs();
  const lanes = new Lanes(2, 10);
  for (const name of ['a1', 'a2', 'b1', 'c1']) lanes.push(name.charAt(0), jobs.make(name));
  expect(jobs.begun).toEqual(['a1', 'b1']);
  await jobs.end('a1');
  expect(jobs.begun).toEqual(['a1', 'b1', 'c1']);
  await jobs.end('b1');
  expect(jobs.begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  await jobs.end('c1');
  await jobs.end('a2');
  expect([lanes.running, lanes.isBusy('a')]).toEqual([0, false]);
});

test('a full queue refuses new jobs, only in its own lane', async () => {
  const jobs = new Jobs();
  const lanes = new Lanes(1, 2);
  expect(['a1', 'a2', 'a3', 'a4'].map((name) => lanes.push('a', jobs.make(name)))).toEqual([true, true, true, false]);
  expect([lanes.isFull('a'), lanes.isFull('b')]).toEqual([true, false]);
  await jobs.end('a1');
  expect(lanes.isFull('a')).toBe(false);
});

test('a held lane keeps its queue until it is resumed, and the resumed job goes first', async () => {
  const jobs = new Jobs();
  const lanes = new Lanes(4, 10);
  lanes.push('a', jobs.make('asks'));
  lanes.push('a', jobs.make('later'));
  await jobs.end('asks', 'held');
  expect([jobs.begun, lanes.isBusy('a'), lanes.running]).toEqual([['asks'], true, 0]);
  lanes.resume('a', jobs.make('answered'));
  expect(jobs.begun).toEqual(['asks', 'answered']);
  await jobs.end('answered');
  expect(jobs.begun).toEqual(['asks', 'answered', 'later']);
});

test('a lane can be held from the start, and resumed while running or free', async () => {
  const jobs = new Jobs();
  const lanes = new Lanes(4, 10);
  lanes.hold('a');
  lanes.push('a', jobs.make('queued'));
  expect(jobs.begun).toEqual([]);
  lanes.resume('a', jobs.make('first'));
  lanes.resume('b', jobs.make('alone'));
  expect(jobs.begun).toEqual(['first', 'alone']);
  lanes.resume('a', jobs.make('again'));
  await jobs.end('first', 'held');
  expect(jobs.begun).toEqual(['first', 'alone', 'again']);
});

test('idle resolves once nothing runs, or at once if nothing does', async () => {
  const jobs = new Jobs();
  const lanes = new Lanes(1, 10);
  await lanes.whenIdle();
  lanes.push('a', jobs.make('a1'));
  lanes.push('b', jobs.make('b1'));
  let isIdle = false;
  const idle = lanes.whenIdle().then(() => (isIdle = true));
  await jobs.end('a1');
  expect(isIdle).toBe(false);
  await jobs.end('b1', 'held');
  await idle;
  expect(isIdle).toBe(true);
});

test('in any order of arrival, lanes keep order and limit, and lose nothing', async () => {
  const work = fc.array(fc.record({ lane: fc.constantFrom('a', 'b', 'c'), ticks: fc.nat(3) }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), work, async (parallel, items) => {
      const lanes = new Lanes(parallel, 100);
      const done: number[] = [];
      let running = 0;
      let most = 0;
      for (const [index, { lane, ticks }] of items.entries()) {
        lanes.push(lane, async () => {
          running += 1;
          most = Math.max(most, running);
          for (let i = 0; i < ticks; i++) await Promise.resolve();
          running -= 1;
          done.push(index);
          return 'free';
        });
      }
      await lanes.whenIdle();
      expect(most).toBeLessThanOrEqual(parallel);
      for (const lane of ['a', 'b', 'c']) {
        const expected = items.flatMap((item, index) => (item.lane === lane ? [index] : []));
        expect(done.filter((index) => items[index]?.lane === lane)).toEqual(expected);
      }
    }),
    { numRuns: 60 },
  );
});
