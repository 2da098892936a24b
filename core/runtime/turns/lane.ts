// The order of turns: one at a time within a session, several sessions in parallel up to a limit. Bounded queues, no timers.

import { BoundedQueue } from '../../base/bounded-queue.ts';

/** `held`: the lane stays occupied, although nothing runs in it, until it is resumed. */
export type LaneState = 'free' | 'held';

type Job = () => Promise<LaneState>;

interface Lane {
  readonly queue: BoundedQueue<Job>;
  /** The job that continues in a held lane, ahead of the queue. */
  next: Job | null;
  state: 'idle' | 'ready' | 'running' | 'held';
}

/** The maximum number of keys with something running, held or queued. Recovery may exceed it, new work may not. */
const LANES_MAX = 1_000;

/**
 * Runs the jobs of one key in order, and at most `parallel` jobs at once over all keys. Exempt keys are not counted; their caller limits
 * them. A job must not throw.
 */
export class Lanes {
  readonly #parallel: number;
  readonly #queuedMax: number;
  readonly #isApart: (key: string) => boolean;
  readonly #lanes = new Map<string, Lane>();
  readonly #ready: string[] = [];
  #running = 0;
  #runningApart = 0;
  #idleWaiters: (() => void)[] = [];

  constructor(parallel: number, queuedMax: number, isApart: (key: string) => boolean = () => false) {
    this.#parallel = parallel;
    this.#isApart = isApart;
    this.#queuedMax = queuedMax;
  }

  get running(): number {
    return this.#running + this.#runningApart;
  }

  isBusy(key: string): boolean {
    return this.#lanes.has(key);
  }

  isFull(key: string): boolean {
    const lane = this.#lanes.get(key);
    return lane === undefined ? this.#lanes.size >= LANES_MAX : lane.queue.size >= this.#queuedMax;
  }

  /** Returns false if the queue of this key is full. The first job of an idle key starts at once if there is room. */
  push(key: string, job: Job): boolean {
    const lane = this.#lane(key);
    if (!lane.queue.push(job)) return false;
    if (lane.state === 'idle') this.#makeReady(key, lane);
    return true;
  }

  /** Occupies a lane without running anything in it. */
  hold(key: string): void {
    const lane = this.#lane(key);
    if (lane.state === 'idle') lane.state = 'held';
  }

  /** Continues in a held lane, before anything queued behind it; in a free lane at once. */
  resume(key: string, job: Job): void {
    const lane = this.#lane(key);
    lane.next = job;
    if (lane.state === 'held' || lane.state === 'idle') this.#makeReady(key, lane);
  }

  /** Resolves when nothing runs and nothing can start. */
  whenIdle(): Promise<void> {
    if (this.running === 0 && this.#ready.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #lane(key: string): Lane {
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = { queue: new BoundedQueue<Job>(this.#queuedMax), next: null, state: 'idle' };
      this.#lanes.set(key, lane);
    }
    return lane;
  }

  #makeReady(key: string, lane: Lane): void {
    lane.state = 'ready';
    this.#ready.push(key);
    this.#startReady();
  }

  #startReady(): void {
    for (let key = this.#nextReady(); key !== undefined; key = this.#nextReady()) {
      const lane = this.#lanes.get(key);
      if (lane !== undefined) this.#start(key, lane);
    }
    if (this.running === 0 && this.#ready.length === 0) this.#wakeIdle();
  }

  /**
   * The first lane that may start now. Exempt lanes may start even at the limit, because a turn that waits for its subagents must not
   * occupy their place.
   */
  #nextReady(): string | undefined {
    if (this.#running < this.#parallel) return this.#ready.shift();
    const at = this.#ready.findIndex((key) => this.#isApart(key));
    return at === -1 ? undefined : this.#ready.splice(at, 1)[0];
  }

  #count(key: string, change: 1 | -1): void {
    if (this.#isApart(key)) this.#runningApart += change;
    else this.#running += change;
  }

  #start(key: string, lane: Lane): void {
    const job = lane.next ?? lane.queue.shift();
    lane.next = null;
    if (job === undefined) {
      this.#lanes.delete(key);
      return;
    }
    lane.state = 'running';
    this.#count(key, 1);
    void job().then((state) => {
      this.#finished(key, lane, state);
    });
  }

  #finished(key: string, lane: Lane, state: LaneState): void {
    this.#count(key, -1);
    if (lane.next !== null || (state === 'free' && lane.queue.size > 0)) this.#makeReady(key, lane);
    else if (state === 'held') lane.state = 'held';
    else this.#lanes.delete(key);
    this.#startReady();
  }

  #wakeIdle(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const wake of waiters) wake();
  }
}
