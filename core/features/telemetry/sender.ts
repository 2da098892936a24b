// Decides when a queue of traces is sent: every few seconds while it is not empty, with growing delays while the receiver fails, and not
// while the panic stop is engaged.

import type { TelemetryTarget } from '../../contracts/features/telemetry.ts';
import type { PanicState } from '../../guard/panic/panic.ts';
import type { Spine } from '../feature.ts';
import type { ExportQueue, Progress, QueueState } from './export-queue.ts';

export interface SenderDeps extends Pick<Spine, 'later' | 'closing'> {
  readonly queue: ExportQueue;
  readonly panic: Pick<PanicState, 'engaged'>;
}

const LOOK_MS = 5_000;
const WAIT_MAX_MS = 5 * 60_000;

export class Sender {
  readonly #deps: SenderDeps;
  readonly #stopped = new AbortController();
  #cancel: (() => void) | null = null;
  #waitMs = LOOK_MS;
  /** The step in progress. There is only one at a time; a flush waits for it. */
  #running: Promise<unknown> = Promise.resolve();

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  begin(): void {
    this.#deps.queue.begin();
    this.#lookAfter(0);
  }

  state(): ReturnType<typeof stateOf> {
    return stateOf(this.#deps.queue);
  }

  /** Sends everything pending, until the queue is empty or the receiver fails. */
  async flush(signal: AbortSignal): Promise<{ sent: number; pending: number; problem: string | null }> {
    const { queue } = this.#deps;
    queue.begin();
    const before = queue.state.sent;
    for (;;) {
      const progress = await this.#step(signal);
      if (progress.kind !== 'more' || signal.aborted) break;
    }
    return { sent: queue.state.sent - before, pending: queue.pending(), problem: queue.state.problem };
  }

  async dispose(): Promise<void> {
    this.#cancel?.();
    this.#stopped.abort();
    await this.#running;
  }

  #lookAfter(delayMs: number): void {
    if (this.#stopped.signal.aborted) return;
    this.#cancel = this.#deps.later(delayMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    if (this.#deps.panic.engaged) return this.#lookAfter(LOOK_MS);
    const progress = await this.#step(this.#deps.closing);
    if (progress.kind === 'failed') {
      this.#lookAfter(Math.max(this.#waitMs, progress.waitMs ?? 0));
      this.#waitMs = Math.min(WAIT_MAX_MS, this.#waitMs * 2);
      return;
    }
    this.#waitMs = LOOK_MS;
    this.#lookAfter(progress.kind === 'more' ? 0 : LOOK_MS);
  }

  #step(signal: AbortSignal): Promise<Progress> {
    const either = AbortSignal.any([signal, this.#stopped.signal]);
    const step = this.#running.then(() => this.#deps.queue.step(either));
    this.#running = step;
    return step;
  }
}

function stateOf(queue: ExportQueue): Omit<QueueState, 'sent'> & { readonly name: TelemetryTarget; readonly pending: number } {
  return { ...queue.state, name: queue.name, pending: queue.pending() };
}
