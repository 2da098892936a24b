// If a message ran more than once, its newest turn is shown, and the earlier ones behind it.

import { expect, test } from 'vitest';
import { standing, standingFor, triesBefore } from './tries.ts';
import { createTurnView, type TurnView } from '../../../core/contracts/turn-view.ts';

function turn(turnId: string, supersededBy: string | null = null): TurnView {
  return { ...createTurnView(turnId, 1), supersededBy };
}

const ids = (turns: readonly TurnView[]): string[] => turns.map(({ turnId }) => turnId);

test('only the newest try is shown, and the others follow it, oldest first', () => {
  const turns = [turn('before'), turn('first', 'second'), turn('second', 'third'), turn('third'), turn('after')];
  expect(ids(standing(turns))).toEqual(['before', 'third', 'after']);
  expect(triesBefore(turns, turn('third')).map(ids)).toEqual([['first'], ['second']]);
  expect(triesBefore(turns, turn('after'))).toEqual([]);
  expect([standingFor(turns, 'first'), standingFor(turns, 'after'), standingFor(turns, 'unknown')]).toEqual(['third', 'after', 'unknown']);
});

test('a try that was continued is one try, and a circle in the log ends', () => {
  const turns = [turn('a', 'c'), turn('a2', 'c'), turn('c')];
  expect(triesBefore(turns, turn('c')).map(ids)).toEqual([['a', 'a2']]);
  const circle = [turn('x', 'y'), turn('y', 'x')];
  expect(triesBefore(circle, turn('x', 'y')).map(ids)).toEqual([['x'], ['y']]);
  expect(standingFor(circle, 'x')).toBe('x');
});

test('where nothing ran twice the turns are the same list', () => {
  const turns = [turn('a'), turn('b')];
  expect(standing(turns)).toBe(turns);
});
