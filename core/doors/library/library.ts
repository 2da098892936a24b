// Agents as programs use them: a single answer, a streamed answer, a conversation, and arrivals. Built only on the port that every door
// uses, so it works with the runtime in this process and with a client of another.

import { NewestMap } from '../../base/newest-map.ts';
import type { Claw } from '../../contracts/claw.ts';
import { AppError } from '../../contracts/errors.ts';
import type { AnyEvent, DeltaNotice } from '../../contracts/events.ts';
import type {
  Agent,
  AgentArrival,
  AgentOptions,
  AgentSession,
  AgentUpdate,
  AskOptions,
  ReceiveOptions,
  RunOptions,
} from '../../contracts/library.ts';
import type { AskResult } from '../../contracts/op-results.ts';
import { ownSessions } from '../../contracts/system-session.ts';
import { assertKnownOptions } from './known-options.ts';

export { assertHome, assertKnownOptions } from './known-options.ts';

interface Started {
  readonly sessionId: string;
  readonly turnId: string;
}

/** Creates an agent of a runtime, in this or another process. */
export function createAgent(claw: Claw, options: AgentOptions = {}): Agent {
  assertKnownOptions('agent', options);
  const talk = new Talk(claw, options);
  const agentId = options.agentId ?? 'main';
  return {
    agentId,
    run: (text, run) => talk.run(null, text, run),
    stream: (text, run) => talk.stream(null, text, run),
    receive: (receive) => talk.receive(null, receive),
    session: async (wanted = {}): Promise<AgentSession> => {
      assertKnownOptions('session', wanted);
      const id = await talk.open(wanted.sessionId);
      return {
        sessionId: id,
        run: (text, run) => talk.run(id, text, run),
        stream: (text, run) => talk.stream(id, text, run),
        receive: (receive) => talk.receive(id, receive),
      };
    },
  };
}

/** Sends one message and waits for its answer, in a new or an existing conversation. */
export async function ask(claw: Claw, text: string, options: AskOptions): Promise<AskResult> {
  assertKnownOptions('ask', options);
  const { signal, sessionId, agentId, onText } = options;
  const talk = new Talk(claw, agentId === undefined ? {} : { agentId });
  return talk.run(sessionId ?? null, text, signal === undefined ? {} : { signal }, onText);
}

/** How many turns with a delivered end are remembered. */
const OWN_MAX = 1_000;

class Talk {
  readonly #claw: Claw;
  readonly #options: AgentOptions;
  readonly #sending = new Set<Promise<unknown>>();
  /** The turns awaited here, and the log position up to which their events were delivered to the caller. */
  readonly #own = new NewestMap<string, number>(OWN_MAX);

  constructor(claw: Claw, options: AgentOptions) {
    this.#claw = claw;
    this.#options = options;
  }

  async open(sessionId: string | undefined): Promise<string> {
    const { agentId = 'main', model } = this.#options;
    if (sessionId === undefined)
      return (await this.#claw.op('session.create', { agentId, ...(model === undefined ? {} : { model }) })).sessionId;
    const { session } = await this.#claw.op('session.get', { sessionId, limit: 1 });
    if (session.agentId !== agentId) throw new AppError('conflict', `The session ${sessionId} is one with the agent ${session.agentId}.`);
    if (model !== undefined && session.model !== model) await this.#claw.op('session.configure', { sessionId, model });
    return sessionId;
  }

  async run(sessionId: string | null, text: string, options: RunOptions = {}, onText?: (delta: string) => void): Promise<AskResult> {
    assertKnownOptions('run', options);
    if (onText === undefined) return this.#settle(await this.#send(sessionId, text, options), options);
    const stream = new TurnDeltas((delta) => {
      if (delta.kind === 'text') onText(delta.text);
    });
    const end = this.#claw.onDelta((delta) => stream.take(delta));
    try {
      const started = await this.#send(sessionId, text, options);
      stream.follow(started.turnId);
      return await this.#settle(started, options);
    } finally {
      end();
    }
  }

  async *stream(sessionId: string | null, text: string, options: RunOptions = {}): AsyncGenerator<AgentUpdate, void, undefined> {
    assertKnownOptions('stream', options);
    const over = new AbortController();
    const line = new UpdateLine();
    const deltas = new TurnDeltas((delta) => line.delta(delta));
    const endDeltas = this.#claw.onDelta((delta) => deltas.take(delta));
    try {
      // Subscribes before the message is sent, so that no event of its turn is missed.
      const events = this.#claw.events({ after: 'latest', signal: over.signal, ...(sessionId === null ? {} : { sessionId }) });
      const started = await this.#send(sessionId, text, options);
      deltas.follow(started.turnId);
      const ended = this.#settle(started, options).finally(() => endDeltas());
      const told = this.#tell(events, { started, ended, line, over });
      // A caller that stops early gets no error.
      told.catch(() => undefined);
      for (;;) {
        const update = await line.take();
        if (update === null) break;
        yield update;
      }
      await told;
      yield { kind: 'answer', answer: await ended };
    } finally {
      endDeltas();
      line.close();
      over.abort();
    }
  }

  async *receive(sessionId: string | null, options: ReceiveOptions = {}): AsyncGenerator<AgentArrival, void, undefined> {
    assertKnownOptions('receive', options);
    const { after, signal } = options;
    const query = { after: after ?? ('latest' as const), ...(signal === undefined ? {} : { signal }) };
    for await (const event of this.#claw.events(sessionId === null ? query : { ...query, sessionId })) {
      if (event.type !== 'turn.finished' && event.type !== 'turn.waiting') continue;
      // The message may have been sent from here while the id of its turn is still unknown.
      await Promise.allSettled(this.#sending);
      if (event.turnId === null || event.seq <= (this.#own.get(event.turnId) ?? 0)) continue;
      if (sessionId === null && !(await this.#isMine(event.sessionId))) continue;
      const arrival = await this.#arrivalOf(event, event.turnId);
      if (arrival !== null) yield arrival;
    }
  }

  /** Fails with `cancelled` if the signal was aborted before: then nothing is sent. */
  async #send(sessionId: string | null, text: string, { signal }: RunOptions): Promise<Started> {
    if (signal?.aborted === true) throw new AppError('cancelled', 'The signal was aborted before the message was sent.');
    const sending = this.#start(sessionId, text).then((started) => {
      this.#own.set(started.turnId, Number.MAX_SAFE_INTEGER);
      return started;
    });
    this.#sending.add(sending);
    void Promise.allSettled([sending]).then(() => this.#sending.delete(sending));
    return sending;
  }

  async #start(sessionId: string | null, text: string): Promise<Started> {
    const { agentId, model } = this.#options;
    if (sessionId !== null) return this.#claw.op('message.send', { text, sessionId });
    if (model !== undefined) return this.#claw.op('message.send', { text, sessionId: await this.open(undefined) });
    return this.#claw.op('message.send', { text, ...(agentId === undefined ? {} : { agentId }) });
  }

  /** Waits until the turn ends, or waits for a decision that no handler here makes. */
  async #settle({ sessionId, turnId }: Started, { signal }: RunOptions): Promise<AskResult> {
    const onAbort = (): void => {
      // The turn may end at the same moment.
      void this.#claw.op('turn.cancel', { turnId }).catch(() => undefined);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    try {
      for (;;) {
        const answer = await this.#claw.op('turn.wait', { turnId });
        if (answer.status !== 'waiting') return answer;
        const left = [];
        for (const one of answer.pending ?? []) if (!(await this.#decide(one))) left.push(one);
        if (answer.pending !== undefined && left.length === 0) continue;
        // Asking the handler again would not change its mind.
        this.#own.set(turnId, await this.#lastSeq(sessionId));
        return answer.pending === undefined ? answer : { ...answer, pending: left };
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** False if there is no handler, or it leaves the decision to others. */
  async #decide(pending: Parameters<NonNullable<AgentOptions['onApproval']>>[0]): Promise<boolean> {
    const decision = await this.#options.onApproval?.(pending);
    if (decision === undefined) return false;
    try {
      await this.#claw.op('approval.decide', { approvalId: pending.approvalId, decision });
    } catch (cause) {
      // The approval was decided at another door in the meantime. That decision stands.
      if (!(cause instanceof AppError) || cause.code !== 'approval_not_pending') throw cause;
    }
    return true;
  }

  /** Puts the events of the turn into the queue, including all that were recorded when it ended. */
  async #tell(events: AsyncIterable<AnyEvent>, { started, ended, line, over }: Told): Promise<void> {
    let last = 0;
    let until = Number.MAX_SAFE_INTEGER;
    const known = ended
      .then(() => this.#lastSeq(started.sessionId))
      .then((seq) => {
        until = seq;
        if (last >= until) over.abort();
      })
      .catch((cause: unknown) => {
        over.abort();
        throw cause;
      });
    try {
      for await (const event of events) {
        if (event.turnId === started.turnId) await line.put({ kind: 'event', event });
        last = event.seq;
        if (last >= until) break;
      }
      await known;
    } finally {
      // If the loop fails first, a later failure must not become an unhandled rejection.
      known.catch(() => undefined);
      line.close();
    }
  }

  async #lastSeq(sessionId: string): Promise<number> {
    const { events } = await this.#claw.op('session.get', { sessionId, limit: 1 });
    return events.at(-1)?.seq ?? 0;
  }

  /** True for conversations with the agent itself. As a subagent it answers its caller. */
  async #isMine(sessionId: string): Promise<boolean> {
    if (sessionId.startsWith(ownSessions.helper)) return false;
    try {
      const { session } = await this.#claw.op('session.get', { sessionId, limit: 1 });
      return session.agentId === (this.#options.agentId ?? 'main');
    } catch (cause) {
      // The session was deleted in the meantime.
      if (cause instanceof AppError && cause.code === 'not_found') return false;
      throw cause;
    }
  }

  async #arrivalOf(event: AnyEvent, turnId: string): Promise<AgentArrival | null> {
    const { seq, sessionId } = event;
    if (event.type === 'turn.finished') {
      const { status, text } = event.body;
      // A direct tool call has no text.
      return status === 'done' && text === '' ? null : { kind: 'answer', seq, sessionId, turnId, status, text, pending: [] };
    }
    const { status, text, pending = [] } = await this.#claw.op('turn.wait', { turnId, timeoutMs: 0 });
    // The approval may have been decided in the meantime.
    return status === 'waiting' && pending.length > 0 ? { kind: 'question', seq, sessionId, turnId, status, text, pending } : null;
  }
}

interface Told {
  readonly started: Started;
  readonly ended: Promise<unknown>;
  readonly line: UpdateLine;
  readonly over: AbortController;
}

/**
 * The deltas of one turn. A fast model may start to answer before the sender knows the turn's id, so early deltas are buffered until then.
 */
class TurnDeltas {
  readonly #onDelta: (delta: DeltaNotice) => void;
  #turnId: string | null = null;
  #early: DeltaNotice[] = [];

  constructor(onDelta: (delta: DeltaNotice) => void) {
    this.#onDelta = onDelta;
  }

  take(delta: DeltaNotice): void {
    if (this.#turnId === null) this.#early.push(delta);
    else if (delta.turnId === this.#turnId) this.#onDelta(delta);
  }

  follow(turnId: string): void {
    this.#turnId = turnId;
    for (const delta of this.#early.splice(0)) this.take(delta);
  }
}

// The queue between a turn and a program that reads its updates one by one. Bounded: unread text is merged, and events wait for room.

const WAITING_MAX = 500;

class UpdateLine {
  readonly #waiting: AgentUpdate[] = [];
  #isClosed = false;
  #wakeTaker: (() => void) | null = null;
  #wakeGiver: (() => void) | null = null;

  /** Adds a delta. Text may be dropped if the program reads too slowly. */
  delta({ kind, text, callId }: DeltaNotice): void {
    if (this.#isClosed) return;
    const last = this.#waiting.at(-1);
    if (last?.kind === kind && last.callId === callId) this.#waiting.splice(-1, 1, { ...last, text: last.text + text });
    else if (this.#waiting.length < WAITING_MAX) this.#waiting.push({ kind, text, callId });
    this.#wakeTaker?.();
  }

  /** Waits for room and adds the update. */
  async put(update: AgentUpdate): Promise<void> {
    while (this.#waiting.length >= WAITING_MAX && !this.#isClosed) {
      await new Promise<void>((resolve) => (this.#wakeGiver = resolve));
    }
    if (this.#isClosed) return;
    this.#waiting.push(update);
    this.#wakeTaker?.();
  }

  /** Null if the queue is closed and empty. */
  async take(): Promise<AgentUpdate | null> {
    for (;;) {
      const [update] = this.#waiting.splice(0, 1);
      this.#wakeGiver?.();
      if (update !== undefined) return update;
      if (this.#isClosed) return null;
      await new Promise<void>((resolve) => (this.#wakeTaker = resolve));
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeTaker?.();
    this.#wakeGiver?.();
  }
}
