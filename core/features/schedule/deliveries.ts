// Delivers the answers of scheduled turns to their chats and files, each exactly once: when a turn ends, and at start for turns that ended
// while the program was not running. A file is written by a call of the tool, behind the gate.

import type { AnyEvent, EventBodies } from '../../contracts/events.ts';
import { answerChannel } from '../../contracts/system-session.ts';
import type { Schedule } from '../../contracts/features/schedule.ts';
import { jobBoundsSchema, unattendedBounds } from '../../contracts/turn-bounds.ts';
import type { Notice } from '../../runtime/outbox/outbox.ts';
import type { Spine } from '../feature.ts';
import { localDay, machineZone } from './local-time.ts';
import type { ScheduleBook } from './rows.ts';

export interface DeliveriesDeps extends Pick<Spine, 'log' | 'logger' | 'turns'> {
  readonly book: ScheduleBook;
  /**
   * Queues the notice within the current transaction. Returns the chat, or null if there is no such chat. Fails with queue_full or a store
   * error.
   */
  tell(to: string, notice: Notice): string | null;
}

/** The number of firings of each schedule that are checked at start. */
const RECENT = 3;

export class Deliveries {
  readonly #deps: DeliveriesDeps;

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
  }

  settle(): void {
    const { book, log } = this.#deps;
    for (const { schedule, changedSeq } of book.all()) {
      if ((schedule.deliver ?? schedule.appendTo ?? schedule.writeTo ?? null) === null) continue;
      // An answer from before the schedule named this chat or file was not meant for it.
      const deliver = (event: AnyEvent): void => (event.seq > changedSeq ? this.deliver(event, schedule) : undefined);
      for (const { turnId, taskId, sessionId } of book.fires(schedule.scheduleId, RECENT)) {
        if (taskId !== undefined && sessionId !== undefined) {
          for (const event of log.reads.slice(sessionId, { types: ['work.finished'], limit: 1, newest: true })) deliver(event);
        }
        const row = turnId === undefined ? null : log.index.turn(turnId);
        if (row === null || turnId === undefined || sessionId === undefined) continue;
        for (const event of log.reads.turn(sessionId, turnId, row.firstSeq)) deliver(event);
      }
    }
  }

  /** Handles the end of a turn or of work that `schedule` started. */
  deliver(event: AnyEvent, schedule: Schedule): void {
    const { sessionId } = event;
    if (event.type === 'work.finished') {
      const { taskId, status, reason } = event.body;
      this.#hand(event, schedule, { text: `${status.toUpperCase()}: ${reason}`, sessionId, turnId: taskId });
    } else if (event.type === 'turn.finished' && event.turnId !== null) {
      const { turnId, body } = event;
      this.#hand(event, schedule, { text: [wordsOf(body), ...this.#refused(sessionId, turnId)].join('\n\n'), sessionId, turnId });
    }
  }

  #hand(event: AnyEvent, schedule: Schedule, about: Omit<Notice, 'key'>): void {
    const { turnId } = about;
    const { deliver, appendTo, writeTo } = schedule;
    if (deliver !== null) this.#attempt(turnId, () => void this.#deps.tell(deliver, { ...about, key: `schedule ${turnId}` }));
    // The words about a failed turn must not replace an earlier answer.
    if (event.type === 'turn.finished' && event.body.status !== 'done') return;
    this.#save({ tool: 'append_file', file: appendTo, content: `${about.text}\n\n` }, event, { schedule, turnId });
    this.#save({ tool: 'write_file', file: writeTo, content: `${about.text}\n` }, event, { schedule, turnId });
  }

  #save({ tool, file = null, content }: Saving, { sessionId, atMs }: AnyEvent, { schedule, turnId }: Saved): void {
    if (file === null) return;
    const { spec, agentId, approvalMs } = schedule;
    const day = localDay(atMs, ('zone' in spec ? spec.zone : undefined) ?? machineZone());
    const args = JSON.stringify({ path: file.replaceAll('{date}', day), content });
    // The person named the file, so their grants cover it; the limits of the turn are those of the agent.
    const bounds = unattendedBounds(jobBoundsSchema.parse({ grants: true }), approvalMs);
    const place = { sessionId, agentId, channel: answerChannel, bounds, before: [] };
    this.#attempt(turnId, () => void this.#deps.turns.runTool({ ...place, tool, args, dedupeKey: `${tool} ${turnId}` }));
  }

  #attempt(turnId: string, work: () => void): void {
    try {
      work();
    } catch (cause) {
      // The answer stays unread in its session.
      this.#deps.logger.log('warn', 'the answer of a scheduled turn could not be delivered', { turnId, cause: String(cause) });
    }
  }

  /** Lists the denied calls of the turn, so that the answer names them whatever the model says. */
  #refused(sessionId: string, turnId: string): string[] {
    const { log } = this.#deps;
    const row = log.index.turn(turnId);
    const lines = row === null ? [] : refusalsIn(log.reads.turn(sessionId, turnId, row.firstSeq));
    if (lines.length === 0) return [];
    const more = lines.length > TOLD_MAX ? [`- and ${lines.length - TOLD_MAX} more`] : [];
    return [['Not done, because it was not allowed:', ...lines.slice(0, TOLD_MAX), ...more].join('\n')];
  }
}

interface Saving {
  readonly tool: 'append_file' | 'write_file';
  readonly file: string | null | undefined;
  readonly content: string;
}

interface Saved {
  readonly schedule: Schedule;
  readonly turnId: string;
}

const TOLD_MAX = 5;
const LINE_MAX = 200;

function refusalsIn(events: readonly AnyEvent[]): string[] {
  const asked = new Map<string, string>();
  const refused = new Map<string, string>();
  for (const { type, body } of events) {
    if (type === 'approval.requested') asked.set(body.approval.approvalId, body.approval.summary);
    if (type === 'policy.decided' && body.decision === 'deny') refused.set(body.callId, `${body.tool}: ${body.reason}`);
    if (type !== 'approval.decided' || body.decision !== 'deny') continue;
    const why = body.by === 'timeout' ? 'no answer in time' : `${body.by} denied it`;
    refused.set(body.callId, `${asked.get(body.approvalId) ?? 'a call'} (${why})`);
  }
  return [...refused.values()].map((line) => `- ${line.slice(0, LINE_MAX)}`);
}

function wordsOf({ status, text, error }: EventBodies['turn.finished']): string {
  if (status === 'done' && text !== '') return text;
  return `The scheduled turn ended as ${status}${error === null ? '' : `: ${error.message}`}.`;
}
