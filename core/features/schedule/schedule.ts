// Schedules, the heartbeat and the task list: work that starts at a time. A due time or heartbeat becomes a signal, and the signal a turn.

import { join } from 'node:path';
import type { DoorCaller } from '../../contracts/door-route.ts';
import { noSession } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft, type AnyEvent } from '../../contracts/events.ts';
import type { Schedule, ScheduledTask, ScheduleFired } from '../../contracts/features/schedule.ts';
import type { Caller } from '../../contracts/ops.ts';
import type { Outsider } from '../../contracts/outsider.ts';
import type { PromptText } from '../../contracts/own-prompts.ts';
import { ownSessions } from '../../contracts/system-session.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import { jobBoundsOf, narrow, unattendedBounds, type TurnBounds } from '../../contracts/turn-bounds.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { Agenda } from './agenda.ts';
import { scheduleChecks } from './checks.ts';
import { Clockwork } from './clockwork.ts';
import { Deliveries } from './deliveries.ts';
import { DueTimes } from './due-times.ts';
import { readHeartbeatFile } from './heartbeat-file.ts';
import { Heartbeat } from './heartbeat.ts';
import { machineZone } from './local-time.ts';
import { assertKnownAgent } from '../../agent/registry/registry.ts';
import { createScheduleOps } from './ops.ts';
import { ScheduleBook, scheduleMigrations, type KeptSchedule } from './rows.ts';
import { Schedules } from './schedules.ts';
import { createAgendaTools } from './tools.ts';

export { Agenda } from './agenda.ts';
export { Clockwork } from './clockwork.ts';
export { DueTimes } from './due-times.ts';
export { ScheduleBook, scheduleMigrations } from './rows.ts';
export { Schedules } from './schedules.ts';

const MINUTE_MS = 60_000;
const APPROVAL_MS = 30 * MINUTE_MS;

type Taken = Pick<Spine, 'config' | 'clock' | 'later' | 'ids' | 'logger' | 'log' | 'facts' | 'panic' | 'outbox' | 'sources' | 'turns'> & {
  /** The program's own instructions, as edited by the person. */
  readonly prompt: PromptText;
  readonly signals: SignalPort;
  readonly work: WorkPort;
  readonly tokens: TokenPort;
};

interface TokenPort {
  /** The program behind an outsider, with its present scopes and budget; null if it has no token. Fails with denied after a revocation. */
  callerFor(outsider: Outsider): Pick<DoorCaller, 'bounds' | 'begins'> | null;
}

/** Starts work with criteria instead of a turn. */
interface WorkPort {
  /** Fails with invalid_params, not_found or denied. */
  read(given: { readonly file?: string | undefined; readonly task?: ScheduledTask | undefined }, caller: Caller): ScheduledTask;
  /** Begins the work and returns its session. `alongside` runs in the same transaction. Fails with the errors of sending a message. */
  begin(
    task: ScheduledTask,
    about: {
      readonly taskId: string;
      readonly by: string;
      readonly bounds: TurnBounds;
      readonly untrusted: readonly TaintSource[];
      alongside(sessionId: string): void;
    },
  ): string;
  /** Null if there is no such work. */
  statusOf(taskId: string): string | null;
}

interface SignalPort {
  /** Returns the turn that the signal started. Fails with the errors of sending a message. */
  receive(signal: {
    readonly source: 'schedule' | 'heartbeat';
    readonly name: string;
    readonly dedupeKey: string;
    readonly text: string;
    readonly data: null;
    readonly attention: 'run';
    readonly session: { readonly sessionId: string; readonly title: string };
    readonly agentId: string;
    readonly untrusted: readonly TaintSource[];
    readonly bounds: TurnBounds;
    also?(turnId: string): readonly AnyDraft[];
  }): { readonly turnId?: string | undefined };
}

export const schedule = defineBuiltInFeature({
  name: 'schedule',
  migrations: scheduleMigrations,
  rows: ({ db }) => new ScheduleBook(db),
  create: (spine: Taken, book: ScheduleBook) => {
    const { work, clock, logger, log, outbox, sources } = spine;
    const dueTimes = new DueTimes(machineZone);
    const schedules = new Schedules({
      ...spine,
      statusOf: ({ turnId, taskId }) =>
        taskId === undefined ? (turnId === undefined ? null : (log.index.turn(turnId)?.status ?? null)) : work.statusOf(taskId),
      book,
      dueTimes,
      defaultAgentId: 'main',
      approvalMs: APPROVAL_MS,
      assertSession: (sessionId) => assertSession(log, sessionId),
      assertAgent: (agentId) => assertKnownAgent(spine.config.agents, agentId),
    });
    const agenda = new Agenda({ log, clock, book, schedules, sourcesOf: (sessionId) => sources.ofSession(sessionId) });
    const heartbeat = createHeartbeat(spine, book);
    const fire = (kept: KeptSchedule, entry: ScheduleFired): { sessionId: string; turnId: string } =>
      kept.schedule.task === undefined
        ? start(spine, kept, entry)
        : startTask(spine, { ...kept.schedule, task: kept.schedule.task }, entry);
    const clockwork = new Clockwork({
      ...spine,
      book,
      dueTimes,
      alarms: [heartbeat],
      isOpen: (id) => isOpen(log.index.turn(id)?.status ?? work.statusOf(id)),
      fire: (kept, entry) => void fire(kept, entry),
      record: (entries) => schedules.record(entries),
      rewind: (fromMs, toMs) => schedules.rewind(fromMs, toMs),
    });
    const deliveries = new Deliveries({ log, logger, book, turns: spine.turns, tell: (to, notice) => outbox.tell(to, notice) });
    const stopListening = log.onCommitted((events) => {
      let isNews = false;
      for (const event of events) {
        const ended = scheduleEndedBy(book, event);
        if (ended !== null) deliveries.deliver(event, ended);
        isNews ||= ended !== null || event.type === 'schedule.created' || event.type === 'schedule.changed';
      }
      if (isNews) clockwork.poke();
    });
    return {
      handlers: createScheduleOps({ schedules, heartbeat, clockwork, fire, work, sources }),
      tools: createAgendaTools(agenda),
      checks: [
        scheduleChecks({
          schedules: () => schedules.list(),
          nowMs: () => clock.nowMs(),
          deliver: spine.config.heartbeat.everyMinutes === 0 ? null : spine.config.heartbeat.deliver,
          knowsChat: (name) => outbox.knows(name),
        }),
      ],
      begin: () => {
        heartbeat.settle();
        deliveries.settle();
        clockwork.start();
      },
      dispose: () => {
        stopListening();
        clockwork.dispose();
        heartbeat.dispose();
      },
    };
  },
});

function createHeartbeat({ config, prompt, signals, ...spine }: Taken, book: ScheduleBook): Heartbeat {
  const { outbox, sources, facts } = spine;
  const path = join(facts.workspace, 'HEARTBEAT.md');
  return new Heartbeat({
    ...spine,
    zone: machineZone,
    book,
    config: config.heartbeat,
    instructions: () => prompt('trayclaw-heartbeat'),
    // If an agent that had read untrusted content wrote the file, the file is untrusted too.
    file: { path, read: async () => ({ text: await readHeartbeatFile(path), untrusted: sources.ofFile(path) }) },
    beat: ({ prompt: text, sessionId, title, ...about }) => {
      signals.receive({
        ...about,
        source: 'heartbeat',
        name: 'heartbeat',
        text,
        data: null,
        attention: 'run',
        session: { sessionId, title },
        agentId: config.heartbeat.agent,
        bounds: unattendedBounds(jobBoundsOf(config.heartbeat), config.signals.limits.approvalMinutes * MINUTE_MS),
      });
    },
    tell: (to, notice) => outbox.tell(to, notice),
  });
}

function start(
  { signals, tokens }: Pick<Taken, 'signals' | 'tokens'>,
  { schedule: wanted }: KeptSchedule,
  entry: ScheduleFired,
): { sessionId: string; turnId: string } {
  const { scheduleId, name, prompt, agentId, untrusted, outsider } = wanted;
  const sessionId = sessionOf(wanted, entry.dueMs);
  const own = { ...unattendedBounds(wanted.bounds, wanted.approvalMs), ...(outsider === undefined ? {} : { outsider }) };
  const program = outsider === undefined ? null : tokens.callerFor(outsider);
  const bounds = program === null ? own : narrow(own, program.bounds('schedule'));
  const { turnId } = signals.receive({
    source: 'schedule',
    name: scheduleId,
    dedupeKey: `${entry.dueMs}${entry.by === undefined ? '' : ' by hand'}`,
    text: prompt,
    data: null,
    attention: 'run',
    session: { sessionId, title: name },
    agentId,
    untrusted,
    bounds,
    also: (started) => {
      program?.begins({ sessionId, turnId: started, bounds });
      return [{ type: 'schedule.fired', body: { ...entry, turnId: started, sessionId } }];
    },
  });
  return { sessionId, turnId: turnId ?? '' };
}

function startTask(
  { work, log }: Pick<Taken, 'work' | 'log'>,
  { scheduleId, task, bounds, approvalMs, untrusted }: Schedule & { readonly task: ScheduledTask },
  entry: ScheduleFired,
): { sessionId: string; turnId: string } {
  // The work and its record are stored in one transaction, so that a due time starts it once.
  const taskId = `wrk_${scheduleId}_${entry.dueMs}`;
  const sessionId = work.begin(task, {
    taskId,
    by: `schedule ${scheduleId}`,
    bounds: unattendedBounds(bounds, approvalMs),
    untrusted,
    alongside: (begun) => void log.append(systemSessionId, [{ type: 'schedule.fired', body: { ...entry, taskId, sessionId: begun } }]),
  });
  return { sessionId, turnId: taskId };
}

function assertSession(log: Spine['log'], sessionId: string): void {
  if (sessionId === systemSessionId || log.index.session(sessionId) === null) {
    throw noSession(sessionId);
  }
}

/** The schedule whose turn or work this event ends, or null. */
function scheduleEndedBy(book: ScheduleBook, { type, turnId, body }: AnyEvent): Schedule | null {
  if (type === 'work.finished') return book.ofTurn(body.taskId);
  return type === 'turn.finished' && turnId !== null ? book.ofTurn(turnId) : null;
}

function isOpen(status: string | null): boolean {
  return status !== null && openStatuses.includes(status);
}

/** The states of turns and of work that has not ended. */
const openStatuses = ['queued', 'running', 'waiting', 'working', 'checking'];

function sessionOf({ session, scheduleId }: KeptSchedule['schedule'], dueMs: number): string {
  const own = ownSessions.schedule + scheduleId;
  if (session === 'own') return own;
  return session === 'new' ? `${own}-${dueMs}` : session;
}
