// The heartbeat: regularly asks the agent to do the tasks in HEARTBEAT.md. If the file has no tasks, no model is asked and nothing is
// recorded. Decides when to beat and how to handle the answer; the runtime runs the turn, and a port delivers the report.

import { hash } from 'node:crypto';
import type { Config } from '../../contracts/config.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft, type AnyEvent, type EventBodies } from '../../contracts/events.ts';
import type { HeartbeatState, Task } from '../../contracts/features/schedule.ts';
import { ownSessions } from '../../contracts/system-session.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { Clock } from '../../base/clock.ts';
import type { Alarm } from './clockwork.ts';
import type { DeliveriesDeps } from './deliveries.ts';
import { heartbeatPrompt, isActive, isQuiet, tasksIn } from './heartbeat-text.ts';
import { localDay } from './local-time.ts';
import type { BeatRow } from './rows.ts';

export interface HeartbeatDeps extends DeliveriesDeps {
  readonly clock: Clock;
  readonly config: Pick<Config['heartbeat'], 'everyMinutes' | 'activeHours' | 'deliver'>;
  /** The time zone of this machine. */
  readonly zone: () => string;
  readonly panic: { readonly engaged: boolean };
  /**
   * The text of the file, which is created if missing. `untrusted` are the untrusted sources the text may derive from. Rejects if the file
   * is unreadable.
   */
  readonly file: { readonly path: string; read(): Promise<{ readonly text: string; readonly untrusted: readonly TaintSource[] }> };
  /** The instructions that precede the tasks. */
  instructions(): string;
  /** Starts the turn of a beat. Fails with the errors of sending a message. */
  beat(about: {
    readonly sessionId: string;
    readonly title: string;
    readonly prompt: string;
    readonly dedupeKey: string;
    readonly untrusted: readonly TaintSource[];
  }): void;
}

const MINUTE_MS = 60_000;
/** The delay of the first beat, so that a start does not cause one at once. */
const FIRST_MS = 60_000;
const SAME_AGAIN_MS = 86_400_000;
const TASKS_TOLD = 50;

export class Heartbeat implements Alarm {
  readonly #deps: HeartbeatDeps;
  readonly #stopListening: () => void;
  #nextMs: number | null;
  #isReading = false;
  #idle = 0;
  #idleSinceEnd = 0;
  #outcome: { readonly text: string; readonly atMs: number } | null = null;

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
    const nowMs = deps.clock.nowMs();
    const last = deps.book.lastBeat();
    this.#nextMs = this.#everyMs === 0 ? null : Math.max(nowMs + FIRST_MS, (last?.atMs ?? 0) + this.#everyMs);
    this.#stopListening = deps.log.onCommitted((events) => this.#watch(events));
  }

  dispose(): void {
    this.#stopListening();
  }

  nextMs(): number | null {
    return this.#nextMs;
  }

  /** Called by the clockwork. Does nothing if no beat is due. */
  wake(nowMs: number): void {
    if (this.#nextMs === null) return;
    // If the clock was set back, the next beat must not be out of reach.
    if (this.#nextMs - nowMs > this.#everyMs + MINUTE_MS) this.#nextMs = nowMs + this.#everyMs;
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + this.#everyMs;
    if (!isActive(this.#deps.config.activeHours, nowMs, this.#deps.zone)) {
      this.#rest('It was outside of its active hours.');
      return;
    }
    // A failure is the outcome that its state shows.
    this.run().catch(() => undefined);
  }

  /** Runs one beat. Does nothing while another one is running. Fails with panic_engaged, tool_failed, or an error of `beat`. */
  async run(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      await this.#beat();
    } catch (cause) {
      const error = isAppError(cause) ? cause : new AppError('tool_failed', 'HEARTBEAT.md could not be read.', { cause });
      this.#rest(error.message);
      this.#deps.logger.log('warn', 'the heartbeat could not beat', { cause: String(cause) });
      throw error;
    } finally {
      this.#isReading = false;
    }
  }

  /** Settles turns that ended while the program was not running. Called once at start. */
  settle(): void {
    for (const beat of this.#deps.book.openBeats()) this.#settleEnded(beat);
  }

  state(): HeartbeatState {
    const { book, config, file } = this.#deps;
    const last = book.lastBeat();
    return {
      enabled: this.#nextMs !== null,
      everyMinutes: config.everyMinutes,
      nextMs: this.#nextMs,
      file: file.path,
      lastOutcome: this.#outcome?.text ?? wordsOf(last),
      lastAtMs: this.#outcome?.atMs ?? last?.atMs ?? null,
      lastTurnId: last?.turnId ?? null,
      idle: this.#idle,
    };
  }

  get #everyMs(): number {
    return this.#deps.config.everyMinutes * MINUTE_MS;
  }

  async #beat(): Promise<void> {
    const { book, clock, file, panic } = this.#deps;
    if (panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped by the panic stop.');
    const open = book.openBeats().filter(({ turnId }) => this.#isOpen(turnId));
    if (open.length > 0) return this.#rest('The beat before it had not ended.');
    const { text, untrusted } = await file.read();
    const wanted = tasksIn(text);
    if (wanted === null) return this.#rest('HEARTBEAT.md asks for nothing.');
    const nowMs = clock.nowMs();
    const zone = this.#deps.zone();
    const listed = book.tasks('open', TASKS_TOLD);
    const day = localDay(nowMs, zone);
    const sessionId = ownSessions.heartbeat + day;
    this.#archiveEarlier(sessionId);
    this.#deps.beat({
      sessionId,
      title: `Heartbeat ${day}`,
      prompt: heartbeatPrompt({ instructions: this.#deps.instructions(), nowMs, zone, wanted, tasks: listed.map((task) => task.text) }),
      dedupeKey: String(nowMs),
      untrusted: [...untrusted, ...listed.flatMap((task: Task) => task.untrusted)],
    });
    this.#outcome = { text: 'A turn was started.', atMs: nowMs };
  }

  /** Counts a beat without a turn. It is not logged, because a log that grows while nothing happens would be a leak. */
  #rest(why: string): void {
    this.#idle += 1;
    this.#idleSinceEnd += 1;
    this.#outcome = { text: why, atMs: this.#deps.clock.nowMs() };
  }

  /** Archives the conversation of an earlier day once it has been read. */
  #archiveEarlier(sessionId: string): void {
    const { book, log } = this.#deps;
    const last = book.lastBeat();
    if (last === null || last.sessionId === sessionId) return;
    const session = log.index.session(last.sessionId);
    if (session !== null && !session.archived && session.unread === 0) {
      log.append(last.sessionId, [{ type: 'session.archived', body: { archived: true } }]);
    }
  }

  #watch(events: readonly AnyEvent[]): void {
    const ended = events.filter((event) => event.type === 'turn.finished' && event.sessionId.startsWith(ownSessions.heartbeat));
    if (ended.length > 0) this.settle();
  }

  #settleEnded(beat: BeatRow): void {
    const { log, book, clock, config } = this.#deps;
    const { turnId, sessionId } = beat;
    if (this.#isOpen(turnId)) return;
    const finished = this.#finishedOf(beat);
    const text = finished?.text.trim() ?? '';
    const textHash = hash('sha256', text, 'hex').slice(0, 16);
    const nowMs = clock.nowMs();
    const failed = finished?.status !== 'done';
    const outcome = failed ? 'failed' : isQuiet(text) ? 'quiet' : book.wasTold(textHash, nowMs - SAME_AGAIN_MS) ? 'repeated' : 'told';
    try {
      log.transact(() => {
        const to =
          outcome === 'told' && config.deliver !== 'none'
            ? this.#deps.tell(config.deliver, { text, sessionId, turnId, key: `heartbeat ${turnId}` })
            : null;
        const body: EventBodies['heartbeat.ended'] = { turnId, outcome, textHash, to, idle: this.#idleSinceEnd };
        log.append(systemSessionId, [{ type: 'heartbeat.ended', body }]);
        // Marks the session as read unless there is news.
        if (outcome === 'quiet' || outcome === 'repeated') log.append(sessionId, [seen(log.lastSeq)]);
      }, true);
      this.#idleSinceEnd = 0;
      this.#outcome = { text: outcomeWords[outcome], atMs: nowMs };
    } catch (cause) {
      this.#deps.logger.log('error', 'the end of a heartbeat could not be written down', { cause: String(cause) });
    }
  }

  #finishedOf({ sessionId, turnId }: BeatRow): EventBodies['turn.finished'] | null {
    const row = this.#deps.log.index.turn(turnId);
    if (row === null) return null;
    return this.#deps.log.reads.turn(sessionId, turnId, row.firstSeq).find((event) => event.type === 'turn.finished')?.body ?? null;
  }

  #isOpen(turnId: string): boolean {
    const status = this.#deps.log.index.turn(turnId)?.status;
    return status === 'queued' || status === 'running' || status === 'waiting';
  }
}

function seen(seq: number): AnyDraft {
  return { type: 'session.seen', body: { seq } };
}

function wordsOf(last: BeatRow | null): string | null {
  const outcome = last?.outcome ?? null;
  return outcome === null ? null : outcomeWords[outcome];
}

const outcomeWords: Readonly<Record<EventBodies['heartbeat.ended']['outcome'], string>> = {
  quiet: 'There was nothing to tell.',
  told: 'It had something to tell.',
  repeated: 'It reported only what was already reported within a day.',
  failed: 'Its turn did not end well.',
};
