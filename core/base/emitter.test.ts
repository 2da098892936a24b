import { expect, test } from 'vitest';
import { Emitter } from './emitter.ts';

test('calls listeners in order; reports one that throws and calls the others', () => {
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

test('next waits for one value or the signal, and leaves no listener', async () => {
  const emitter = new Emitter<number>(() => undefined);
  const stop = new AbortController();
  const waits = [emitter.next(), emitter.next(stop.signal), emitter.next(AbortSignal.abort())];
  await waits[2];
  expect(emitter.size).toBe(2);
  stop.abort();
  await waits[1];
  expect(emitter.size).toBe(1);
  emitter.emit(1);
  await waits[0];
  expect(emitter.size).toBe(0);
});
