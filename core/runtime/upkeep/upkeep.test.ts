import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { Upkeep } from './upkeep.ts';

const clock = new ManualClock();
let commit: () => void;
let seen: string[];
let work: (() => boolean)[];
let upkeep: Upkeep;
let isBusy = false;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  seen = [];
  commit = () => undefined;
  work = [];
  upkeep = new Upkeep({
    clock,
    logger: { log: (_level, message) => void seen.push(message) },
    onCommitted: (listener) => {
      commit = listener;
      return () => (commit = () => undefined);
    },
    afterCommits: [() => work.shift()?.() ?? false],
    betweenTurns: () => void seen.push('between'),
    isBusy: () => isBusy,
    daily: () => void seen.push('daily'),
  });
});

afterEach(() => {
  upkeep.dispose();
  vi.useRealTimers();
});

function pass(ms: number): void {
  for (let left = ms; left > 0; left -= 100) {
    clock.advance(Math.min(100, left));
    vi.advanceTimersByTime(Math.min(100, left));
  }
}

const step = (name: string, hasMore: boolean) => (): boolean => {
  seen.push(name);
  return hasMore;
};

test('works in idle time, piece by piece, and stops when nothing is left', () => {
  work = [step('one', true), step('two', false), step('three', false)];
  commit();
  pass(600);
  commit();
  pass(600);
  expect(seen).toEqual([]);
  pass(800);
  expect(seen).toEqual(['one', 'two']);
  pass(5000);
  expect(seen).toEqual(['one', 'two']);
  commit();
  pass(1200);
  expect(seen).toEqual(['one', 'two', 'three']);
});

test('each piece runs in a separate turn of the loop, and later commits are not missed', () => {
  const several = new Upkeep({
    clock,
    logger: { log: () => undefined },
    onCommitted: (listener) => {
      commit = listener;
      return () => undefined;
    },
    afterCommits: ['one', 'two', 'three'].map((name) => () => {
      seen.push(name);
      return false;
    }),
    betweenTurns: () => undefined,
    isBusy: () => false,
    daily: () => undefined,
  });
  onTestFinished(() => several.dispose());
  commit();
  pass(1000);
  expect(seen).toEqual(['one']);
  vi.advanceTimersByTime(5);
  expect(seen).toEqual(['one', 'two']);
  commit();
  vi.advanceTimersByTime(5);
  expect(seen).toEqual(['one', 'two', 'three']);
  pass(1200);
  vi.advanceTimersByTime(10);
  expect(seen).toEqual(['one', 'two', 'three', 'one', 'two', 'three']);
  pass(5000);
  expect(seen).toHaveLength(6);
});

test('a failure is reported, and the work is retried in the next idle time', () => {
  work = [
    () => {
      throw new Error('disk full');
    },
    step('again', false),
  ];
  commit();
  pass(1200);
  commit();
  pass(1200);
  expect(seen).toEqual(['upkeep failed', 'again']);
});

test('daily work runs a minute after the start and then once a day', () => {
  pass(59_000);
  expect(seen).toEqual([]);
  pass(61_000);
  expect(seen).toEqual(['daily']);
  clock.advance(86_400_000);
  pass(60_000);
  expect(seen).toEqual(['daily', 'daily']);
});

test('nothing happens after it was closed', () => {
  work = [step('never', false)];
  commit();
  upkeep.dispose();
  pass(200_000);
  expect(seen).toEqual([]);
});

test('a long run of commits is not left until the next idle time', () => {
  for (let i = 0; i < 99; i += 1) commit();
  pass(100);
  expect(seen).toEqual([]);
  commit();
  pass(100);
  expect(seen).toEqual(['between']);
});

test('it waits for a gap between turns, but not forever', () => {
  isBusy = true;
  for (let i = 0; i < 199; i += 1) commit();
  pass(100);
  expect(seen).toEqual([]);
  commit();
  pass(100);
  expect(seen).toEqual(['between']);
  isBusy = false;
});
