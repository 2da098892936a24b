// The shell's view of the runtime, kept current from its events: pending approvals, running work, the panic stop. This state is derived;
// the log is authoritative.

import { Emitter } from '../../core/base/emitter.ts';
import type { Logger } from '../../core/base/logger.ts';
import type { Claw } from '../../core/contracts/claw.ts';
import type { AnyEvent } from '../../core/contracts/events.ts';
import type { Approval, PanicStatus } from '../../core/contracts/policy.ts';

/** A part of the runtime that works automatically and can be paused: a channel, the schedules. */
export interface Pausable {
  readonly id: string;
  /** The name in the menu after "Pause". */
  readonly name: string;
  readonly isPaused: boolean;
}

export interface DesktopStatus {
  readonly panic: PanicStatus;
  /** Pending approvals, oldest first. */
  readonly approvals: readonly Approval[];
  readonly runningTurns: number;
}

export type Activity = 'stopped' | 'waiting' | 'working' | 'idle';

/** The single state the tray shows: a panic stop before an approval, an approval before work. */
export function activityOf(status: DesktopStatus): Activity {
  if (status.panic.engaged) return 'stopped';
  if (status.approvals.length > 0) return 'waiting';
  return status.runningTurns > 0 ? 'working' : 'idle';
}

const calm: PanicStatus = { engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null };

export class StatusWatch {
  readonly #claw: Claw;
  readonly #logger: Logger;
  readonly #changed: Emitter<DesktopStatus>;
  readonly #ending = new AbortController();
  /** Ids of running turns; for turns that started before this view, the id of their session. */
  readonly #running = new Set<string>();
  #approvals: readonly Approval[] = [];
  #panic: PanicStatus = calm;
  /** Null if there is no bot. */
  #isTelegramPaused: boolean | null = null;

  constructor(claw: Claw, logger: Logger) {
    this.#claw = claw;
    this.#logger = logger;
    this.#changed = new Emitter((cause) => logger.log('error', 'a part of the shell failed to follow a change', { cause: String(cause) }));
  }

  get status(): DesktopStatus {
    return { panic: this.#panic, approvals: this.#approvals, runningTurns: this.#running.size };
  }

  /** Parts of the runtime that work automatically, and whether they are paused. */
  get pausables(): readonly Pausable[] {
    return this.#isTelegramPaused === null ? [] : [{ id: 'telegram', name: 'Telegram', isPaused: this.#isTelegramPaused }];
  }

  /** The listener is called after every change. Returns the function that removes it. */
  onChange(listener: (status: DesktopStatus) => void): () => void {
    return this.#changed.on(listener);
  }

  async start(): Promise<void> {
    // Take the log position first, so that events during the reads below are applied on top of them.
    const events = this.#claw.events({ after: 'latest', signal: this.#ending.signal });
    const [approvals, panic, sessions, telegram] = await Promise.all([
      this.#claw.op('approval.list', {}),
      this.#claw.op('panic.status', {}),
      this.#claw.op('session.list', { limit: 1000 }),
      this.#claw.op('telegram.status', {}),
    ]);
    this.#approvals = approvals.approvals.toSorted((a, b) => a.createdAtMs - b.createdAtMs);
    this.#panic = panic;
    this.#isTelegramPaused = telegram.state === 'off' ? null : telegram.state === 'paused';
    // A turn that started earlier is known only by its session; its final event names the session too.
    for (const session of sessions.sessions) if (session.status === 'running') this.#running.add(session.sessionId);
    this.#changed.emit(this.status);
    void this.#follow(events).catch((cause: unknown) => {
      if (!this.#ending.signal.aborted) this.#logger.log('error', 'the shell lost sight of the log', { cause: String(cause) });
    });
  }

  /** Shows a panic stop that was pressed here, before it is recorded, which needs the disk. `readPanic` then reads the actual state. */
  showStopping(reason: string): void {
    if (this.#panic.engaged) return;
    this.#panic = { ...calm, engaged: true, reason };
    this.#changed.emit(this.status);
  }

  /** Reads the state of a stop that could not be recorded and so has no event. Throws an AppError on failure. */
  async readPanic(): Promise<void> {
    this.#panic = await this.#claw.op('panic.status', {});
    this.#changed.emit(this.status);
  }

  dispose(): void {
    this.#ending.abort();
  }

  async #follow(events: AsyncIterable<AnyEvent>): Promise<void> {
    for await (const event of events) {
      if (this.#apply(event)) this.#changed.emit(this.status);
    }
  }

  #apply(event: AnyEvent): boolean {
    switch (event.type) {
      case 'turn.started':
      case 'turn.resumed':
        this.#running.delete(event.sessionId);
        this.#running.add(event.turnId ?? event.sessionId);
        return true;
      case 'turn.waiting':
      case 'turn.finished': {
        const wasKnown = this.#running.delete(event.turnId ?? event.sessionId);
        return this.#running.delete(event.sessionId) || wasKnown;
      }
      case 'approval.requested': {
        const { approval } = event.body;
        if (this.#approvals.some((known) => known.approvalId === approval.approvalId)) return false;
        this.#approvals = [...this.#approvals, approval];
        return true;
      }
      case 'approval.decided': {
        const left = this.#approvals.filter((approval) => approval.approvalId !== event.body.approvalId);
        const isChanged = left.length !== this.#approvals.length;
        this.#approvals = left;
        return isChanged;
      }
      case 'panic.engaged':
        this.#panic = { ...calm, engaged: true, sinceMs: event.atMs, reason: event.body.reason };
        return true;
      case 'panic.measured':
        this.#panic = { ...this.#panic, killed: event.body.killed, tookMs: event.body.tookMs };
        return true;
      case 'panic.released':
        this.#panic = calm;
        return true;
      default:
        return this.#applyPause(event);
    }
  }

  #applyPause(event: AnyEvent): boolean {
    if (this.#isTelegramPaused === null || (event.type !== 'channel.paused' && event.type !== 'channel.resumed')) return false;
    if (event.body.channel !== 'telegram') return false;
    this.#isTelegramPaused = event.type === 'channel.paused';
    return true;
  }
}
