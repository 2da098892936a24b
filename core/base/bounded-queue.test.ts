import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AssertionFailure } from './assert.ts';
import { BoundedQueue } from './bounded-queue.ts';

test('behaves like an array that refuses items beyond its capacity', () => {
  const action = fc.oneof({ weight: 6, arbitrary: fc.nat() }, { weight: 5, arbitrary: fc.constant('shift') }, fc.constant('clear'));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.array(action, { maxLength: 600 }), (capacity, actions) => {
      const queue = new BoundedQueue<number>(capacity);
      let model: number[] = [];
      for (const one of actions) {
        if (one === 'clear') {
          queue.clear();
          model = [];
        } else if (typeof one === 'string') expect(queue.shift()).toBe(model.shift());
        else {
          const fits = model.length < capacity;
          if (fits) model.push(one);
          expect(queue.push(one)).toBe(fits);
        }
        expect(queue.size).toBe(model.length);
      }
    }),
    { numRuns: 60 },
  );
});

test('throws for a capacity of zero', () => {
  expect(() => new BoundedQueue(0)).toThrow(AssertionFailure);
});
