// Tasks from agents on other machines. Each is a turn of a session that only its owner can reach. It continues while the owner is
// disconnected, is found again by its message id, and its text is untrusted content. Knows no wire format.

import { Deferred } from '../../base/deferred.ts';
import { titleOf } from '../../base/session-title.ts';
import type { Claw } from '../../contracts/claw.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft, type AnyEvent, type EventBodies } from '../../contracts/events.ts';
import { taskSessionPrefix, type PeerState } from '../../contracts/features/a2a.ts';
import type { Usage } from '../../contracts/llm.ts';
import { narrow, wholeBounds, type TurnBounds } from '../../contracts/turn-bounds.ts';
import type { ArtifactRef } from '../../contracts/tools.ts';
import type { Spine } from '../feature.ts';
import type { CarriedWork } from './carried.ts';
import type { A2aRows, TaskRow } from './rows.ts';

export const a2aChannel = 'a2a';

/** The owner of a task: a door token, or a group of nodes. */
export interface TaskOwner {
  readonly ownerId: string;
  readonly name: string;
  /** The bounds of the turns it begins. */
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

export type TaskChange = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'state'; readonly view: TaskView };

export interface TaskDeps extends Pick<Spine, 'log' | 'ids' | 'turns' | 'artifacts' | 'logger' | 'safety'> {
  readonly claw: Claw;
  readonly rows: A2aRows;
  readonly config: Pick<Spine['config'], 'a2a' | 'helpers'>;
  readonly agents: {
    has(agentId: string): boolean;
    route(from: { readonly channel: string; readonly chatId: string | null }): string;
  };
  /** The id of this machine in lists of hops. */
  readonly nodeId: () => string;
  /** Adds the cost of a task to its owner's spending. */
  spend(ownerId: string, usd: number | null): void;
}

const CONTEXT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,90}$/;
const LIVE_CHARS_MAX = 256 * 1024;

const stateOf: Readonly<Record<EventBodies['turn.finished']['status'] | 'running' | 'waiting' | 'queued', PeerState>> = {
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

  /** Starts counting the cost of tasks, and ends the tasks of a revoked token. */
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
    const dedupeKey = `${owner.ownerId}:${given.messageId}`;
    const known = log.index.findInbound(a2aChannel, dedupeKey);
    if (known !== null) return this.view(owner, known.turnId);
    const { sessionId, agentId, isNew } = this.#placeOf(owner, given);
    this.#assertWay(given);
    const own = owner.bounds();
    if (own.usd === 0) throw new AppError('over_budget', 'The budget of this token for today is spent.');
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
      bounds: this.#boundsOf(given, own),
      before: (text) =>
        isNew ? [{ type: 'session.created', body: { title: titleOf(text), agentId, channel: a2aChannel, forkedFrom: null } }] : [],
      alongside: (taskId) => {
        const { messageId, hops } = given;
        const body = { taskId, sessionId, owner: owner.ownerId, client: owner.name, messageId, hops: [...hops] };
        log.append(systemSessionId, [{ type: 'peer.task_accepted', body }]);
      },
    });
    return this.view(owner, turnId);
  }

  /** Adds text to a running task. It approves nothing. Fails with not_found or turn_not_running. */
  async add(owner: TaskOwner, taskId: string, text: string): Promise<TaskView> {
    const { sessionId } = this.#row(owner, taskId);
    // The text is untrusted, like the task.
    const sources: EventBodies['taint.marked']['sources'] = [{ kind: 'message', where: `a2a:${owner.name}` }];
    const mark: AnyDraft = { type: 'taint.marked', turnId: taskId, phase: 'interpret', body: { callId: null, sources, paths: [] } };
    if (isEnd(this.view(owner, taskId).state)) throw new AppError('turn_not_running', 'The task has ended.');
    this.#deps.turns.appendToTurn(sessionId, taskId, [mark]);
    await this.#deps.claw.op('turn.steer', { turnId: taskId, text }, { channel: a2aChannel, actor: `a2a:${owner.name}` });
    return this.view(owner, taskId);
  }

  /** Fails with not_found if the task does not exist or has another owner. */
  view(owner: TaskOwner, taskId: string): TaskView {
    return this.#viewOf(this.#row(owner, taskId));
  }

  /** Newest first, at most 1,000. */
  list(owner: TaskOwner): TaskView[] {
    return this.#deps.rows.tasksOf(owner.ownerId).map((row) => this.#viewOf(row));
  }

  /** Fails with not_found, or with turn_not_running if the task has ended. */
  async cancel(owner: TaskOwner, taskId: string): Promise<TaskView> {
    if (isEnd(this.view(owner, taskId).state)) throw new AppError('turn_not_running', 'The task has ended.');
    await this.#deps.claw.op('turn.cancel', { turnId: taskId }, { channel: a2aChannel, actor: `a2a:${owner.name}` });
    return this.view(owner, taskId);
  }

  /** Yields changes until the task has ended or the signal aborts. */
  async *follow(owner: TaskOwner, taskId: string, signal: AbortSignal): AsyncGenerator<TaskChange, void, undefined> {
    const watch = new TaskWatch(this.#deps, taskId, signal);
    let state: PeerState | null = null;
    try {
      for (;;) {
        const text = watch.take();
        if (text !== '') yield { kind: 'text', text };
        const view = this.view(owner, taskId);
        if (view.state !== state) {
          state = view.state;
          yield { kind: 'state', view };
        }
        if (isEnd(view.state) || signal.aborted) return;
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
    const sessionId = contextId === null ? taskSessionPrefix + ids.next('ses') : taskSessionPrefix + contextId;
    const known = log.index.session(sessionId);
    if (known !== null) {
      if (rows.ownerOf(sessionId) !== owner.ownerId) throw new AppError('not_found', `There is no context ${contextId} of yours.`);
      return { sessionId, agentId: known.agentId, isNew: false };
    }
    const agentId = agent ?? agents.route({ channel: a2aChannel, chatId: null });
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
    const end = events.findLast((event) => event.type === 'turn.finished');
    const finished = end?.type === 'turn.finished' ? end.body : null;
    return {
      taskId,
      contextId: sessionId.slice(taskSessionPrefix.length),
      messageId,
      state: stateOf[turn?.status ?? 'cancelled'],
      atMs: events.at(-1)?.atMs ?? atMs,
      asked: message?.type === 'user.message' ? message.body.text : '',
      text: finished?.status === 'done' ? this.#outward(finished.text) : '',
      note: this.#noteOf(turn?.status, finished),
      spent: finished === null ? null : { usage: finished.usage, costUsd: finished.costUsd },
    };
  }

  #noteOf(status: string | undefined, finished: EventBodies['turn.finished'] | null): string | null {
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
      if (event.type === 'turn.finished' && event.sessionId.startsWith(taskSessionPrefix) && event.turnId !== null) {
        const { costUsd } = event.body;
        const owner = this.#deps.rows.ownerOf(event.sessionId);
        if (owner !== null) this.#deps.spend(owner, costUsd);
      }
      // Revoking a token ends its tasks.
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

/** The streamed text of one turn, and a wake-up whenever its state may have changed. */
class TaskWatch {
  readonly #ends: (() => void)[];
  #text = '';
  #change = new Deferred<void>();

  constructor({ log, claw }: Pick<TaskDeps, 'log' | 'claw'>, taskId: string, signal: AbortSignal) {
    const wake = (): void => this.#change.resolve();
    this.#ends = [
      log.onCommitted((events) => {
        if (events.some(({ turnId, type }) => turnId === taskId && type.startsWith('turn.'))) wake();
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
    this.#change = new Deferred<void>();
  }

  dispose(): void {
    for (const end of this.#ends) end();
    this.#change.resolve();
  }
}
