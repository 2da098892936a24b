// Schedules, heartbeat and task list from the host, reloaded whenever the log has an event about one. A removal is delayed a moment and
// happens only while this window is open.

import type { AnyEvent } from '../../../core/contracts/events.ts';
import type { OpParams } from '../../../core/contracts/ops.ts';
import type { HeartbeatState, ScheduleView, Task } from '../../../core/contracts/features/schedule.ts';
import type { OpClient } from '../client.ts';
import { soon } from './soon.ts';

const undoMs = 8000;

export class Schedules {
  list = $state.raw<readonly ScheduleView[]>([]);
  clockJump = $state.raw<{ readonly atMs: number; readonly byMs: number } | null>(null);
  heartbeat = $state.raw<HeartbeatState | null>(null);
  tasks = $state.raw<readonly Task[]>([]);
  loaded = $state(false);
  /** The schedule that is about to be removed. */
  leaving = $state<string | null>(null);
  readonly #client: OpClient;
  readonly #onError: (cause: unknown) => void;
  readonly #loadSoon: () => void;
  #removal: ReturnType<typeof setTimeout> | undefined;

  constructor(client: OpClient, onError: (cause: unknown) => void) {
    this.#client = client;
    this.#onError = onError;
    this.#loadSoon = soon(() => this.load(), onError);
  }

  async load(): Promise<void> {
    const [{ schedules, clockJump }, heartbeat, { tasks }] = await Promise.all([
      this.#client.op('schedule.list', {}),
      this.#client.op('heartbeat.get', {}),
      this.#client.op('task.list', {}),
    ]);
    this.list = schedules;
    this.clockJump = clockJump;
    this.heartbeat = heartbeat;
    this.tasks = tasks;
    this.loaded = true;
  }

  async create(wanted: OpParams<'schedule.create'>): Promise<void> {
    await this.#client.op('schedule.create', wanted);
    await this.load();
  }

  async change(changed: OpParams<'schedule.update'>): Promise<void> {
    await this.#client.op('schedule.update', changed);
    await this.load();
  }

  async run(scheduleId: string): Promise<void> {
    await this.#client.op('schedule.run', { scheduleId });
    await this.load();
  }

  async beat(): Promise<void> {
    this.heartbeat = await this.#client.op('heartbeat.run', {});
  }

  async addTask(text: string): Promise<void> {
    await this.#client.op('task.add', { text });
    await this.load();
  }

  async closeTask(taskId: string, how: 'done' | 'dropped'): Promise<void> {
    await this.#client.op('task.close', { taskId, how });
    await this.load();
  }

  /** Only one removal is pending at a time: an earlier one happens now. */
  removeSoon(scheduleId: string): void {
    this.removeNow();
    this.leaving = scheduleId;
    this.#removal = setTimeout(() => this.removeNow(), undoMs);
  }

  keep(): void {
    clearTimeout(this.#removal);
    this.leaving = null;
  }

  removeNow(): void {
    const scheduleId = this.leaving;
    if (scheduleId === null) return;
    clearTimeout(this.#removal);
    this.#remove(scheduleId).catch(this.#onError);
  }

  apply({ type }: AnyEvent): void {
    if (!this.loaded) return;
    if (/^(?:schedule|heartbeat|task)\./.test(type) || type === 'turn.finished' || type === 'config.changed') this.#loadSoon();
  }

  async #remove(scheduleId: string): Promise<void> {
    try {
      await this.#client.op('schedule.remove', { scheduleId });
      await this.load();
    } finally {
      if (this.leaving === scheduleId) this.leaving = null;
    }
  }
}
