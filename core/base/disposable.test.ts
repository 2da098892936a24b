import { expect, test } from 'vitest';
import { Lifetimes } from './disposable.ts';

test('disposes parts in reverse order, one after the other, once', async () => {
  const lifetimes = new Lifetimes();
  const seen: string[] = [];
  lifetimes.add({ dispose: () => void seen.push('first') });
  lifetimes.defer(async () => {
    await Promise.resolve();
    seen.push('second');
  });
  lifetimes.defer(() => void seen.push('third'));
  await lifetimes.dispose();
  await lifetimes.dispose();
  expect(seen).toEqual(['third', 'second', 'first']);
});

test('disposes all parts despite errors; throws one error as is, several together', async () => {
  const one = new Lifetimes();
  const seen: string[] = [];
  const failure = new Error('broken');
  one.defer(() => void seen.push('reached'));
  one.defer(() => Promise.reject(failure));
  await expect(one.dispose()).rejects.toBe(failure);
  expect(seen).toEqual(['reached']);

  const two = new Lifetimes();
  two.defer(() => {
    throw new Error('a');
  });
  two.defer(() => Promise.reject(new Error('b')));
  await expect(two.dispose()).rejects.toMatchObject({ errors: [{ message: 'b' }, { message: 'a' }] });
});
