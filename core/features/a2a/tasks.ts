// Tasks from agents on other machines. Each is a turn of a session that only its owner can reach. It continues while the owner is
// disconnected, is found again by its message id, and its text is untrusted content. Knows no wire format.

import { titleOf } from '../../base/session-title.ts';
import type { Claw } from '../../contracts/claw.ts';
import type { DoorCaller } from '../../contracts/door-route.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft, type AnyEvent, type EventBodies } from '../../contracts/events.ts';
import type { PeerState } from '../../contracts/features/a2a.ts';
import { ownSessions } from '../../contracts/system-session.ts';
import type { Usage } from '../../contracts/llm.ts';
import { narrow, wholeBounds, type TurnBounds } from '../../contracts/turn-bounds.ts';
import type { ArtifactRef } from '../../contracts/tools.ts';
import { waitingAhead } from '../../runtime/turns/turns.ts';
import type { TurnRow } from '../../store/session/session.ts';
import type { Spine } from '../feature.ts';
import type { CarriedWork } from './carried.ts';
import type { A2aRows, TaskRow } from './rows.ts';

export const a2aChannel = 'a2a';

/** The owner of a task: a door token, or a group of nodes. */
export interface TaskOwner extends Pick<DoorCaller, 'begins'> {
  readonly ownerId: string;
  readonly name: string;
  /** The agent for a task that names this one, or none. Fails with invalid_params if the owner may not use it. */
  agentFor(named: string | null): string;
  bounds(): TurnBounds;
}

export interface GivenFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

export interface GivenTask extends CarriedWork {
  readonly messageId: string;
  /** The conversation to continue. Null starts a new one. */
  readonly contextId: string | null;
  readonly text: string;
  readonly files: readonly GivenFile[];
}

export interface TaskView {
  readonly taskId: string;
  readonly contextId: string;
  readonly messageId: string;
  readonly state: PeerState;
  readonly atMs: number;
  /** The text of the task. */
  readonly asked: string;
  /** The answer; empty until it exists. */
  readonly text: string;
  /** Why the task waits or failed. */
  readonly note: string | null;
  readonly spent: { readonly usage: Usage; readonly costUsd: number | null } | null;
}

/** A task in a list. Its view reads the whole turn. */
export interface ListedTask extends Pick<TaskView, 'taskId' | 'contextId' | 'messageId' | 'state'> {
  readonly view: () => TaskView;
}

export type TaskChange = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'state'; readonly view: TaskView };

export interface TaskDeps extends Pick<Spine, 'log' | 'ids' | 'turns' | 'artifacts' | 'logger' | 'safety'> {
  readonly claw: Claw;
  readonly rows: A2aRows;
  readonly config: Pick<Spine['config'], 'a2a' | 'helpers'>;
  readonly agents: { has(agentId: string): boolean };
  /** The id of this machine in lists of hops. */
  readonly nodeId: () => string;
}

const CONTEXT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,90}$/;
const LIVE_CHARS_MAX = 256 * 1024;

const stateOf: Readonly<Record<TurnRow['status'], PeerState>> = {
  queued: 'submitted',
  running: 'working',
  waiting: 'waiting',
  done: 'completed',
  cancelled: 'canceled',
  stopped: 'canceled',
  failed: 'failed',
  over_budget: 'failed',
};

const endStates: ReadonlySet<PeerState> = new Set(['completed', 'failed', 'canceled', 'rejected']);

export function isEnd(state: PeerState): boolean {
  return endStates.has(state);
}

export class TaskDesk {
  readonly #deps: TaskDeps;
  #stopListening: (() => void) | null = null;

  constructor(deps: TaskDeps) {
    this.#deps = deps;
  }

  /** Ends the tasks of a token when it is revoked. */
  listen(): void {
    this.#stopListening ??= this.#deps.log.onCommitted((events) => this.#hear(events));
  }

  dispose(): void {
    this.#stopListening?.();
  }

  /**
   * Returns the existing task if the message id is known. Fails with not_found, denied, over_budget, queue_full, panic_engaged or
   * invalid_params.
   */
  begin(owner: TaskOwner, given: GivenTask): TaskView {
    const { turns, artifacts, log } = this.#deps;
    const dedupeKey = keyOf(owner, given.messageId);
    const known = log.index.findInbound(a2aChannel, dedupeKey);
    if (known !== null) return this.view(owner, known.turnId);
    const { sessionId, agentId, isNew } = this.#placeOf(owner, given);
    this.#assertWay(given);
    const bounds = this.#boundsOf(given, owner.bounds());
    const files = given.files.map(({ name, mediaType, bytes }): ArtifactRef =>
      artifacts.put(Buffer.from(bytes), { name, mediaType, sessionId }),
    );
    const { turnId } = turns.submit({
      sessionId,
      agentId,
      text: given.text,
      channel: a2aChannel,
      sender: owner.name,
      dedupeKey,
      untrusted: [{ kind: 'message', where: `a2a:${owner.name}` }],
      attached: { files, sources: files.map(({ name }) => ({ kind: 'file', where: `attached:${name}` })) },
      bounds,
      before: (text) =>
        isNew ? [{ type: 'session.created', body: { title: titleOf(text), agentId, channel: a2aChannel, forkedFrom: null } }] : [],
      alongside: (taskId) => {
        owner.begins({ sessionId, turnId: taskId, bounds });
        const { messageId, hops } = given;
        const body = { taskId, sessionId, owner: owner.ownerId, client: owner.name, messageId, hops: [...hops] };
        log.append(systemSessionId, [{ type: 'peer.task_accepted', body }]);
      },
    });
    return this.view(owner, turnId);
  }

  /** Whether the owner sent this message before. */
  knows(owner: TaskOwner, messageId: string): boolean {
    return this.#deps.log.index.findInbound(a2aChannel, keyOf(owner, messageId)) !== null;
  }

  /** Adds text to a running task, once for each message id. It approves nothing. Fails with not_found or turn_not_running. */
  add(owner: TaskOwner, { taskId, messageId, text }: Pick<TaskView, 'taskId' | 'messageId' | 'text'>): TaskView {
    const { log, turns, safety } = this.#deps;
    const { sessionId } = this.#row(owner, taskId);
    // The text is untrusted, like the task.
    const sources: EventBodies['taint.marked']['sources'] = [{ kind: 'message', where: `a2a:${owner.name}` }];
    if (isEnd(this.#stateOf(taskId))) throw new AppError('turn_not_running', 'The task has ended.');
    const drafts: AnyDraft[] = [
      { type: 'taint.marked', turnId: taskId, phase: 'interpret', body: { callId: null, sources, paths: [] } },
      { type: 'turn.steered', turnId: taskId, body: { text: safety.redact(text).text, sender: `a2a:${owner.name}` } },
    ];
    turns.appendToTurn(sessionId, taskId, drafts, () => log.index.putInbound(a2aChannel, keyOf(owner, messageId), sessionId, taskId));
    return this.view(owner, taskId);
  }

  /** Fails with not_found if the task does not exist or has another owner. */
  view(owner: TaskOwner, taskId: string): TaskView {
    return this.#viewOf(this.#row(owner, taskId));
  }

  /** Newest first, at most 1,000. */
  list(owner: TaskOwner): ListedTask[] {
    return this.#deps.rows.tasksOf(owner.ownerId).map((row) => {
      const { taskId, sessionId, messageId } = row;
      return { taskId, messageId, contextId: contextOf(sessionId), state: this.#stateOf(taskId), view: () => this.#viewOf(row) };
    });
  }

  /** Fails with not_found, or with turn_not_running if the task has ended. */
  async cancel(owner: TaskOwner, taskId: string): Promise<TaskView> {
    if (isEnd(this.view(owner, taskId).state)) throw new AppError('turn_not_running', 'The task has ended.');
    await this.#deps.claw.op('turn.cancel', { turnId: taskId }, { channel: a2aChannel, actor: `a2a:${owner.name}` });
    return this.view(owner, taskId);
  }

  /** Yields changes until the task has ended or the signal aborts. */
  async *follow(owner: TaskOwner, taskId: string, signal: AbortSignal): AsyncGenerator<TaskChange, void, undefined> {
    const watch = new TaskWatch(this.#deps, this.#row(owner, taskId), signal);
    let state: PeerState | null = null;
    try {
      for (;;) {
        const text = watch.take();
        if (text !== '') yield { kind: 'text', text };
        // The events of the turn are read for a new state only, not for every piece of text.
        const now = this.#stateOf(taskId);
        if (now !== state) {
          state = now;
          yield { kind: 'state', view: this.view(owner, taskId) };
        }
        if (isEnd(now) || signal.aborted) return;
        await watch.next();
      }
    } finally {
      watch.dispose();
    }
  }

  #row(owner: TaskOwner, taskId: string): TaskRow {
    const row = this.#deps.rows.task(taskId);
    // The same answer as for an unknown task, so that the existence of another owner's task is not revealed.
    if (row === null || row.owner !== owner.ownerId) throw new AppError('not_found', `There is no task ${taskId.slice(0, 100)}.`);
    return row;
  }

  #placeOf(owner: TaskOwner, { contextId, agent }: GivenTask): { sessionId: string; agentId: string; isNew: boolean } {
    const { log, rows, agents, ids } = this.#deps;
    if (contextId !== null && !CONTEXT_ID.test(contextId))
      throw new AppError('invalid_params', 'A context id has up to 91 letters, digits, dots, dashes and underscores.');
    const sessionId = contextId === null ? ownSessions.task + ids.next('ses') : ownSessions.task + contextId;
    const known = log.index.session(sessionId);
    if (known !== null) {
      if (rows.ownerOf(sessionId) !== owner.ownerId) throw new AppError('not_found', `There is no context ${contextId} of yours.`);
      return { sessionId, agentId: owner.agentFor(known.agentId), isNew: false };
    }
    const agentId = owner.agentFor(agent);
    if (!agents.has(agentId)) throw new AppError('not_found', `There is no agent ${JSON.stringify(agentId)} here.`);
    return { sessionId, agentId, isNew: true };
  }

  /** Rejects a task that has been on this machine before, since it would loop forever, and a task that passed through too many machines. */
  #assertWay({ hops }: GivenTask): void {
    const most = this.#deps.config.a2a.hops;
    if (hops.includes(this.#deps.nodeId()))
      throw new AppError('denied', 'This task has been on this machine already: agents on different machines are calling each other.');
    if (hops.length > most)
      throw new AppError('denied', `This task has come through ${hops.length} machines, and this one takes ${most} at most (a2a.hops).`);
  }

  #boundsOf({ hops, budget }: GivenTask, ofOwner: TurnBounds): TurnBounds {
    const carried = { ...wholeBounds, usd: budget.usd, tokens: budget.tokens, turnMs: budget.ms };
    // Each machine on the way has used up one level of subagents.
    const own = this.#deps.config.helpers.depth;
    const depth = budget.depth === null ? Math.max(0, own - hops.length) : Math.min(own, budget.depth);
    return narrow(carried, { ...ofOwner, depth });
  }

  #viewOf({ taskId, sessionId, messageId, atMs }: TaskRow): TaskView {
    const { log } = this.#deps;
    const turn = log.index.turn(taskId);
    const events = turn === null ? [] : log.reads.turn(sessionId, taskId, turn.firstSeq);
    const message = events.find((event) => event.type === 'user.message');
    const finished = events.findLast((event) => event.type === 'turn.finished')?.body ?? null;
    const status = this.#statusOf(taskId);
    return {
      taskId,
      contextId: contextOf(sessionId),
      messageId,
      state: stateOf[status],
      atMs: events.at(-1)?.atMs ?? atMs,
      asked: message?.body.text ?? '',
      text: finished?.status === 'done' ? this.#outward(finished.text) : '',
      note: this.#noteOf(status, finished),
      spent: finished === null ? null : { usage: finished.usage, costUsd: finished.costUsd },
    };
  }

  #stateOf(taskId: string): PeerState {
    return stateOf[this.#statusOf(taskId)];
  }

  /** A task behind one that waits for a person waits as well. */
  #statusOf(taskId: string): TurnRow['status'] {
    const { log } = this.#deps;
    const row = log.index.turn(taskId);
    if (row === null) return 'cancelled';
    return waitingAhead(log, row) === null ? row.status : 'waiting';
  }

  #noteOf(status: TurnRow['status'], finished: EventBodies['turn.finished'] | null): string | null {
    const error = finished?.error ?? null;
    if (error !== null) return this.#outward(error.message);
    if (status === 'waiting') return 'A person decides about an approval on the machine of this agent. Nothing needs to be sent.';
    if (status === 'over_budget') return 'The task reached its budget.';
    if (status === 'stopped') return 'Everything was stopped on the machine of this agent.';
    return null;
  }

  #outward(text: string): string {
    return this.#deps.safety.redact(text).text;
  }

  #hear(events: readonly AnyEvent[]): void {
    for (const event of events) {
      if (event.type === 'door.token_revoked') queueMicrotask(() => this.#cancelAll(event.body.tokenId));
    }
  }

  #cancelAll(owner: string): void {
    for (const { taskId } of this.#deps.rows.tasksOf(owner)) {
      const status = this.#deps.log.index.turn(taskId)?.status;
      if (status === undefined || isEnd(stateOf[status])) continue;
      try {
        this.#deps.turns.cancel(taskId, 'The token it came with was revoked.', 'person');
      } catch (cause) {
        // The task has ended in the meantime.
        const { code, message } = toAppError(cause);
        if (code !== 'turn_not_running')
          this.#deps.logger.log('error', 'a task of a revoked token could not be cancelled', { taskId, code, message });
      }
    }
  }
}

function keyOf({ ownerId }: TaskOwner, messageId: string): string {
  return `${ownerId}:${messageId}`;
}

function contextOf(sessionId: string): string {
  return sessionId.slice(ownSessions.task.length);
}

/** The streamed text of one turn, and a wake-up whenever its state may have changed. */
class TaskWatch {
  readonly #ends: (() => void)[];
  #text = '';
  #change = Promise.withResolvers<void>();

  constructor({ log, claw, turns }: Pick<TaskDeps, 'log' | 'claw' | 'turns'>, { taskId, sessionId }: TaskRow, signal: AbortSignal) {
    // A reader who joins while the answer is written gets it from its beginning.
    for (const { kind, text } of turns.liveTexts(taskId)) if (kind === 'text') this.#text += text;
    const wake = (): void => this.#change.resolve();
    this.#ends = [
      log.onCommitted((events) => {
        // An earlier task of the conversation may begin to wait for a person.
        if (events.some((event) => event.sessionId === sessionId && event.type.startsWith('turn.'))) wake();
      }),
      claw.onDelta(({ kind, turnId, text }) => {
        if (kind !== 'text' || turnId !== taskId) return;
        // A slow reader misses pieces. The complete answer follows at the end.
        if (this.#text.length < LIVE_CHARS_MAX) this.#text += text;
        wake();
      }),
      () => signal.removeEventListener('abort', wake),
    ];
    signal.addEventListener('abort', wake, { once: true });
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  async next(): Promise<void> {
    await this.#change.promise;
    this.#change = Promise.withResolvers<void>();
  }

  dispose(): void {
    for (const end of this.#ends) end();
    this.#change.resolve();
  }
}
