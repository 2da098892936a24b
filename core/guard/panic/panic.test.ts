import { expect, test } from 'vitest';
import type { AnyEvent, EventBodies, EventType } from '../../contracts/events.ts';
import { PanicSwitch } from './panic.ts';

function event<T extends EventType>(type: T, atMs: number, body: EventBodies[T]): AnyEvent {
  return { seq: 1, sessionId: 'system', sessionSeq: 1, turnId: null, step: 0, phase: null, type, v: 1, atMs, body } as AnyEvent;
}

const off = { engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null };

test('engages at once, keeps the first time and reason, and is released by its event', () => {
  const panic = new PanicSwitch();
  expect([panic.engaged, panic.status]).toEqual([false, off]);
  panic.engage(5, 'smoke');
  panic.engage(9, 'fire');
  panic.apply(event('panic.engaged', 10, { reason: 'fire', by: 'ada' }));
  panic.measure({ killed: 2, tookMs: 8 });
  panic.measure({ killed: 1, tookMs: 3 });
  panic.measure({ killed: 0, tookMs: 1 });
  panic.apply(event('panic.measured', 11, { killed: 3, tookMs: 3 }));
  expect(panic.status).toEqual({ engaged: true, sinceMs: 5, reason: 'smoke', killed: 3, tookMs: 3 });
  panic.apply(event('panic.released', 20, { by: 'ada' }));
  expect([panic.engaged, panic.status]).toEqual([false, off]);
});

test('restores the engaged state after a restart', () => {
  const engaged = event('panic.engaged', 10, { reason: 'smoke', by: 'ada' });
  const released = event('panic.released', 20, { by: 'ada' });
  const restored = (events: readonly AnyEvent[]): boolean => {
    const panic = new PanicSwitch();
    panic.restore(events);
    return panic.engaged;
  };
  expect([[], [engaged], [engaged, released], [engaged, released, engaged]].map(restored)).toEqual([false, true, false, true]);
});

test('its signal aborts when engaged and is replaced on release', () => {
  const panic = new PanicSwitch();
  const first = panic.signal;
  panic.engage(5, 'smoke');
  expect([first.aborted, panic.signal.aborted]).toEqual([true, true]);
  panic.apply(event('panic.released', 20, { by: 'ada' }));
  expect([first.aborted, panic.signal.aborted]).toEqual([true, false]);
});
