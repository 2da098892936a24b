// The part of the composition that starts by itself: schedules, heartbeat, signals from outside. Read it after compose.ts.

import { join } from 'node:path';
import { systemLater } from './base/later.ts';
import { AppError } from './contracts/errors.ts';
import { systemSessionId, type AnyEvent } from './contracts/events.ts';
import { jobBoundsSchema, type JobBounds, type ScheduleFired } from './contracts/schedule.ts';
import { tellSignals } from './contracts/signal-words.ts';
import type { TaintSource } from './contracts/tools.ts';
import { wholeBounds, type TurnBounds } from './contracts/turn-bounds.ts';
import {
  Agenda,
  Clockwork,
  Deliveries,
  DueTimes,
  Heartbeat,
  readHeartbeatFile,
  Schedules,
  type KeptSchedule,
  type Notice,
} from './runtime/schedule/schedule.ts';
import type { PromptBook } from './mind/identity/identity.ts';
import { FileWatch, HookGate, SignalHub, type SignalBook } from './runtime/signals/signals.ts';
import type { Outbox } from './runtime/outbox/outbox.ts';
import type { NotePort, TurnRuntime } from './runtime/turns/turns.ts';
import type { Base, Store } from './compose-base.ts';
import type { Guard } from './compose-guard.ts';

const MINUTE_MS = 60_000;
const APPROVAL_MS = 30 * MINUTE_MS;
/** What is made by a turn that nobody watches calls no further helpers than this. */
const HELPER_DEPTH = 1;

/** What is declared beforehand, as the bounds of a turn nobody sits at. */
function boundsOf(job: JobBounds, approvalMs: number): TurnBounds {
  return { ...wholeBounds, ...job, depth: HELPER_DEPTH, unattended: { approvalMs } };
}

/** What stands in config.yaml about a signal or the heartbeat. */
function narrowed(given: { readonly tools?: readonly string[] | undefined; readonly perTurnUsd?: number | undefined }): JobBounds {
  return jobBoundsSchema.parse({ tools: given.tools ?? null, usd: given.perTurnUsd ?? null });
}

/** Making and showing schedules needs no runtime: tools use it as well. */
export function composeSchedules({ clock, ids }: Base, { log, schedules: book, marks }: Store) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const dueTimes = new DueTimes(zone);
  const schedules = new Schedules({
    log,
    clock,
    ids,
    book,
    dueTimes,
    defaultAgentId: 'main',
    approvalMs: APPROVAL_MS,
    assertSession: (sessionId) => {
      if (sessionId === systemSessionId || log.index.session(sessionId) === null) {
        throw new AppError('not_found', `There is no session ${sessionId}.`);
      }
    },
  });
  const sourcesOf = (sessionId: string): readonly TaintSource[] => marks.session(sessionId)?.sources ?? [];
  const agenda = new Agenda({ log, clock, book, schedules, sourcesOf });
  return { schedules, dueTimes, zone, agenda };
}
type ComposedSchedules = ReturnType<typeof composeSchedules>;

/** Signals that wait for the next turn of their session. */
export function composeNotes({ config }: Base, { log, signals: book }: Store): NotePort {
  return {
    waiting: (sessionId) => {
      const signals = book.waiting(sessionId);
      if (signals.length === 0) return undefined;
      return {
        drafts: (turnId) => tellSignals(turnId, signals, config.signals.limits.textMax),
        delivered: (turnId) => {
          const signalIds = signals.map(({ signalId }) => signalId);
          log.append(systemSessionId, [{ type: 'signal.delivered', body: { signalIds, sessionId, turnId } }]);
        },
      };
    },
  };
}

/** Queues a text for a chat: the one used last, or a known one by `channel:chat`. */
function tell({ chats }: Store, outbox: Outbox, to: string, { text, sessionId, turnId, key }: Notice): string | null {
  const [channel = '', chatId = '', threadId] = to.split(':');
  const named = { channel, chatId, ...(threadId === undefined ? {} : { threadId }) };
  const chat = to === 'last' ? chats.lastUsed() : chats.chat(named);
  if (chat === null) return null;
  const address = { channel: chat.channel, chatId: chat.chatId, ...(chat.threadId === undefined ? {} : { threadId: chat.threadId }) };
  outbox.queue({ to: address, kind: 'notice', text, files: [], idempotencyKey: key, sessionId, turnId });
  return `${address.channel}:${address.chatId}`;
}

/** What the parts below are made of. */
interface Ground extends ComposedSchedules {
  readonly base: Base;
  readonly store: Store;
  readonly guard: Guard;
  readonly turns: TurnRuntime;
  readonly outbox: Outbox;
  readonly prompts: Pick<PromptBook, 'own'>;
}

export function composeSignals(ground: Ground) {
  const { base, store, turns } = ground;
  const { clock, ids, logger, config, lifetimes } = base;
  const { log, signals: book } = store;
  const { panic, facts, secrets } = ground.guard;
  const { limits, webhooks, watch: watched } = config.signals;
  const unwatched = (given: Parameters<typeof narrowed>[0]): TurnBounds => boundsOf(narrowed(given), limits.approvalMinutes * MINUTE_MS);
  const hub = new SignalHub({ log, clock, ids, book, limits, turns });
  const fire = (kept: KeptSchedule, entry: ScheduleFired): { sessionId: string; turnId: string } => startScheduled(hub, kept, entry);
  const heartbeat = lifetimes.add(composeHeartbeat(ground, hub, unwatched));
  const clockwork = lifetimes.add(
    new Clockwork({
      clock,
      logger,
      panic,
      book: store.schedules,
      dueTimes: ground.dueTimes,
      alarms: [heartbeat],
      isOpen: (turnId) => isOpen(log.index.turn(turnId)?.status),
      fire: (kept, entry) => void fire(kept, entry),
      record: (entries) => {
        ground.schedules.record(entries);
      },
      rewind: (fromMs, toMs) => {
        ground.schedules.rewind(fromMs, toMs);
      },
      later: systemLater,
    }),
  );
  const deliveries = lifetimes.add(
    new Deliveries({ log, logger, book: store.schedules, tell: (to, notice) => tell(store, ground.outbox, to, notice) }),
  );
  const hooks = new HookGate({ hub, clock, webhooks, secret: (ref) => secrets.resolve(ref), boundsOf: unwatched });
  const { home, workspace } = facts;
  const watch = lifetimes.add(
    new FileWatch({ hub, clock, logger, home, workspace, watch: watched, later: systemLater, boundsOf: unwatched }),
  );
  lifetimes.defer(
    log.onCommitted((events) => {
      if (events.some((event) => concernsClock(store, event))) clockwork.poke();
    }),
  );
  return {
    hub,
    hooks,
    heartbeat,
    clockwork,
    fire,
    unwatched,
    list: (query: Parameters<SignalBook['page']>[0]) => book.page(query),
    /** From here on things start by themselves; not for a look at the data. */
    begin: (resumes = true) => {
      if (!resumes) return;
      heartbeat.settle();
      deliveries.settle();
      clockwork.start();
      watch.start();
    },
  };
}

function startScheduled(hub: SignalHub, { schedule }: KeptSchedule, entry: ScheduleFired): { sessionId: string; turnId: string } {
  const { scheduleId, name, prompt, agentId, untrusted } = schedule;
  const sessionId = sessionOf(schedule, entry.dueMs);
  const { turnId } = hub.receive({
    source: 'schedule',
    name: scheduleId,
    dedupeKey: `${entry.dueMs}${entry.by === undefined ? '' : ' by hand'}`,
    text: prompt,
    data: null,
    attention: 'run',
    session: { sessionId, title: name },
    agentId,
    untrusted,
    bounds: boundsOf(schedule.bounds, schedule.approvalMs),
    also: (started) => [{ type: 'schedule.fired', body: { ...entry, turnId: started, sessionId } }],
  });
  return { sessionId, turnId: turnId ?? '' };
}

function composeHeartbeat(
  { base, store, guard, zone, outbox, prompts }: Ground,
  hub: SignalHub,
  unwatched: (given: Parameters<typeof narrowed>[0]) => TurnBounds,
): Heartbeat {
  const { clock, logger, config } = base;
  const path = join(guard.facts.workspace, 'HEARTBEAT.md');
  return new Heartbeat({
    clock,
    logger,
    zone,
    log: store.log,
    book: store.schedules,
    panic: guard.panic,
    config: config.heartbeat,
    instructions: () => prompts.own('trayclaw-heartbeat'),
    file: {
      path,
      read: async () => {
        const text = await readHeartbeatFile(path);
        // Written by an agent that had read words of others: then these may be theirs.
        return { text, untrusted: store.marks.writerOf(path) === null ? [] : [{ kind: 'file', where: path }] };
      },
    },
    beat: ({ prompt, sessionId, title, ...about }) => {
      hub.receive({
        ...about,
        source: 'heartbeat',
        name: 'heartbeat',
        text: prompt,
        data: null,
        attention: 'run',
        session: { sessionId, title },
        agentId: config.heartbeat.agent,
        bounds: unwatched(config.heartbeat),
      });
    },
    tell: (to, notice) => tell(store, outbox, to, notice),
  });
}

/** A schedule that changed, or the end of a turn that one of them may wait for. */
function concernsClock({ schedules }: Store, { type, turnId }: AnyEvent): boolean {
  if (type === 'schedule.created' || type === 'schedule.changed') return true;
  return type === 'turn.finished' && turnId !== null && schedules.ofTurn(turnId) !== null;
}

function isOpen(status: string | undefined): boolean {
  return status === 'queued' || status === 'running' || status === 'waiting';
}

function sessionOf({ session, scheduleId }: KeptSchedule['schedule'], dueMs: number): string {
  if (session === 'own') return `schedule-${scheduleId}`;
  return session === 'new' ? `schedule-${scheduleId}-${dueMs}` : session;
}
