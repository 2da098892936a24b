// A queue with a capacity. A full queue refuses items, so that a slow consumer is noticed and memory stays bounded.

import { assert } from './assert.ts';

export class BoundedQueue<T> {
  readonly capacity: number;
  #items: (T | undefined)[] = [];
  #head = 0;

  constructor(capacity: number) {
    assert(capacity > 0, 'a queue needs room for at least one item');
    this.capacity = capacity;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** Returns false, and does not add the item, if the queue is full. */
  push(item: T): boolean {
    if (this.size >= this.capacity) return false;
    this.#items.push(item);
    return true;
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head += 1;
    // Compacts from time to time: amortized constant time, and no growth over the life of the queue.
    if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }
}
