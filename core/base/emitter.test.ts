import { expect, test } from 'vitest';
import { Emitter } from './emitter.ts';

test('listeners are called in order; one that throws is reported and stops no other', () => {
  const errors: unknown[] = [];
  const emitter = new Emitter<number>((cause) => errors.push(cause));
  const seen: string[] = [];
  const leave = emitter.on((value) => void seen.push(`a${value}`));
  emitter.on(() => {
    throw new Error('broken');
  });
  emitter.on((value) => void seen.push(`b${value}`));
  emitter.emit(1);
  leave();
  leave();
  emitter.emit(2);
  expect(seen).toEqual(['a1', 'b1', 'b2']);
  expect(errors).toEqual([new Error('broken'), new Error('broken')]);
  expect(emitter.size).toBe(2);
});
