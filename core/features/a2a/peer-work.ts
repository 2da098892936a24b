// A task for a peer, from the first request to the answer. It is sent once under one message id, followed across lost connections and
// restarts of either side, and cancelled with its turn. The answer is untrusted content. Knows no wire format.

import { sleep } from '../../base/waits.ts';
import { AppError, isAppError, toAppError } from '../../contracts/errors.ts';
import { systemSessionId, type EventBodies } from '../../contracts/events.ts';
import { groupAgentOf, type PeerState } from '../../contracts/features/a2a.ts';
import { ownSessions } from '../../contracts/system-session.ts';
import { noUsage, type DeltaSink, type ModelReply } from '../../contracts/llm.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { Spine } from '../feature.ts';
import type { CarriedWork } from './carried.ts';
import type { PeerLink, PeerTask } from './peer-link.ts';
import type { A2aRows, SentRow } from './rows.ts';

export interface PeerWorkDeps extends Pick<Spine, 'log' | 'turns' | 'clock' | 'config' | 'closing' | 'sources'> {
  readonly rows: A2aRows;
  readonly nodeId: () => string;
  /** Fails as PeerLinks.to and the group do. */
  readonly linkTo: (peer: string, signal: AbortSignal) => Promise<PeerLink>;
}

export interface PeerCall {
  readonly peer: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly text: string;
  readonly sink: DeltaSink;
  readonly signal: AbortSignal;
}

type Start = EventBodies['turn.started'];

/** How long a peer may be unreachable: before it has taken the task, and while it works on it. */
const UNTAKEN_MS = 10_000;
const TAKEN_MS = 5 * 60_000;
const WAIT_FIRST_MS = 200;
const WAIT_MOST_MS = 5_000;
const CANCEL_MS = 5_000;
const ANSWER_MAX = 200_000;
const CLIMB_MAX = 50;
const ends: ReadonlySet<PeerState> = new Set(['completed', 'failed', 'canceled', 'rejected']);
const undone: ReadonlySet<PeerState | null> = new Set(['failed', 'canceled', 'rejected']);

export class PeerWork {
  readonly #deps: PeerWorkDeps;

  constructor(deps: PeerWorkDeps) {
    this.#deps = deps;
  }

  /** Fails with denied, model_unavailable, model_auth, model_rejected or tool_failed, or with cancelled once the signal aborts. */
  async run(call: PeerCall): Promise<ModelReply & { firstTokenMs: number | null }> {
    const { clock } = this.#deps;
    const startedMs = clock.monotonicMs();
    const sent = this.#open(call);
    let firstTokenMs: number | null = null;
    const say = (text: string): void => {
      firstTokenMs ??= clock.monotonicMs() - startedMs;
      call.sink.text(text);
    };
    const following: Following = { ...call, sent, say, taskId: sent.row?.taskId ?? null };
    try {
      const task = await this.#carry(following);
      return { ...this.#settle(call, sent.messageId, task, clock.monotonicMs() - startedMs), firstTokenMs };
    } catch (cause) {
      if (call.signal.aborted) throw await this.#giveUp(following, clock.monotonicMs() - startedMs);
      if (isAppError(cause)) this.#mark(call, cause.untrusted);
      throw cause;
    }
  }

  /** Marks the session before words of the peer become part of the turn. */
  #mark({ sessionId, turnId }: PeerCall, told: readonly TaintSource[]): void {
    const { turns, sources } = this.#deps;
    const known = new Set(sources.ofSession(sessionId).map(({ where }) => where));
    const fresh = told.filter(({ where }) => !known.has(where));
    if (fresh.length === 0) return;
    turns.appendToTurn(sessionId, turnId, [
      { type: 'taint.marked', turnId, phase: 'observe', body: { callId: null, sources: fresh, paths: [] } },
    ]);
  }

  /** Returns the open message of this work, or a new one that is logged before it is sent. */
  #open({ peer, sessionId, turnId, text }: PeerCall): Sent {
    const { rows, log, config } = this.#deps;
    const start = this.#startOf(sessionId, turnId);
    const workId = start.helper?.jobId ?? this.#firstTry(sessionId, turnId, start);
    const before = rows.sentFor(workId);
    const last = before.at(-1);
    const work = this.#carriedWith({ peer, sessionId, turnId }, start);
    const { hops } = work;
    const contextId = rows.contextOf(sessionId, peer);
    if (last !== undefined && !undone.has(last.state)) return { work, contextId, messageId: last.messageId, row: last };
    if (hops.length > config.a2a.hops)
      throw new AppError('denied', `The task has come through ${hops.length} machines and goes no further (a2a.hops).`);
    const messageId = `${workId}.${before.length + 1}`;
    const body = { peer, messageId, workId, sessionId, turnId, chars: text.length, hops: [...hops] };
    log.append(systemSessionId, [{ type: 'peer.sent', body }], true);
    return { work, contextId, messageId, row: null };
  }

  #carriedWith({ peer, sessionId, turnId }: Pick<PeerCall, 'peer' | 'sessionId' | 'turnId'>, start: Start): CarriedWork {
    const { config, nodeId } = this.#deps;
    const ms = start.bounds?.turnMs ?? start.limits.turnMs;
    const { usd = null, tokens = null } = start.bounds ?? {};
    const above = this.#hopsOf(sessionId, turnId, start);
    const inGroup = groupAgentOf(peer);
    if (inGroup === null) {
      const agent = config.a2a.peers[peer]?.agent ?? null;
      return { hops: [...above, nodeId()], budget: { usd, tokens, ms, depth: null }, agent };
    }
    // Within a group a node may take its own task. The remaining depth ends a loop.
    const depth = start.bounds?.depth ?? config.helpers.depth;
    return { hops: [...above], budget: { usd, tokens, ms, depth }, agent: inGroup };
  }

  /** Retries until the task has ended, or the peer has been unreachable for too long. */
  async #carry(following: Following): Promise<PeerTask> {
    let awaySinceMs: number | null = null;
    let waitMs = WAIT_FIRST_MS;
    for (;;) {
      try {
        const task = await this.#look(following);
        if (task !== null) return task;
        awaySinceMs = null;
        waitMs = WAIT_FIRST_MS;
      } catch (cause) {
        const { code } = toAppError(cause);
        if (code !== 'model_unavailable' || following.signal.aborted) throw cause;
        const nowMs = this.#deps.clock.monotonicMs();
        awaySinceMs ??= nowMs;
        if (nowMs - awaySinceMs > (following.taskId === null ? UNTAKEN_MS : TAKEN_MS)) throw cause;
      }
      if (!(await sleep(waitMs, following.signal))) throw new AppError('cancelled', 'The task was stopped.');
      waitMs = Math.min(WAIT_MOST_MS, waitMs * 2);
    }
  }

  /** Returns the ended task. Null if the stream has ended and the peer is still working. */
  async #look(following: Following): Promise<PeerTask | null> {
    const { peer, signal, say } = following;
    const link = await this.#deps.linkTo(peer, signal);
    const task = await this.#taskAt(link, following);
    if (isOver(task, link)) return task;
    await link.follow(task.taskId, say, signal);
    const after = await link.get(task.taskId, signal);
    return isOver(after, link) ? after : null;
  }

  async #taskAt(link: PeerLink, following: Following): Promise<PeerTask> {
    const { peer, sent, text, signal, taskId } = following;
    const { messageId, contextId, work } = sent;
    if (taskId !== null) return link.get(taskId, signal);
    const wasTried = sent.row !== null || following.wasTried === true;
    following.wasTried = true;
    const found = wasTried && !link.once ? await link.find(messageId, contextId, signal) : null;
    if (wasTried && !link.once && found === null) {
      const hint = 'Look there whether it was done, then ask again if it was not.';
      throw new AppError('tool_failed', `It is unknown whether ${peer} received the task, so it is not sent twice.`, { hint });
    }
    const task = found ?? (await link.send({ ...work, messageId, contextId, text }, signal));
    // A message in place of a task is complete at once and has no id to follow.
    if (task.taskId !== '') {
      following.taskId = task.taskId;
      const body = { messageId, taskId: task.taskId, contextId: task.contextId };
      this.#deps.log.append(systemSessionId, [{ type: 'peer.followed', body }]);
    }
    return task;
  }

  #settle(call: PeerCall, messageId: string, task: PeerTask, tookMs: number): ModelReply {
    const { log } = this.#deps;
    const { peer } = call;
    const costUsd = task.spent?.costUsd ?? null;
    this.#mark(call, [{ kind: 'message', where: `a2a:${peer}` }]);
    log.append(systemSessionId, [{ type: 'peer.ended', body: { messageId, state: task.state, costUsd, tookMs: Math.round(tookMs) } }]);
    const inGroup = groupAgentOf(peer);
    const named = inGroup === null ? `The agent ${peer}` : `The agent ${inGroup} of the group`;
    const note = task.note === '' ? '' : ` It says: ${task.note.slice(0, 2_000)}`;
    if (task.state === 'rejected') throw new AppError('denied', `${named} refused the task.${note}`);
    if (task.state === 'failed' || task.state === 'canceled')
      throw new AppError('tool_failed', `${named} did not complete the task (${task.state}).${note}`);
    const { text } = task;
    const said = text === '' ? (task.note === '' ? `${named} completed the task and said nothing.` : task.note) : text;
    return {
      text: said.length > ANSWER_MAX ? `${said.slice(0, ANSWER_MAX)}\n[cut: the answer of ${peer} was longer]` : said,
      reasoning: '',
      calls: [],
      usage: task.spent?.usage ?? noUsage,
      usageReported: true,
      finishReason: 'stop',
      costUsd: costUsd ?? 0,
    };
  }

  /**
   * Cancels the remote task if the turn was stopped. While the program closes the task continues, and is followed again after the next
   * start.
   */
  async #giveUp({ peer, sent, taskId }: Following, tookMs: number): Promise<AppError> {
    const error = new AppError('cancelled', `The task for ${peer} was stopped.`);
    if (this.#deps.closing.aborted) return error;
    const signal = AbortSignal.any([AbortSignal.timeout(CANCEL_MS), this.#deps.closing]);
    const { messageId } = sent;
    const body = { messageId, state: 'canceled' as const, costUsd: null, tookMs: Math.round(tookMs) };
    this.#deps.log.append(systemSessionId, [{ type: 'peer.ended', body }]);
    try {
      if (taskId !== null) await (await this.#deps.linkTo(peer, signal)).cancel(taskId, signal);
    } catch {
      // The task has ended, or the peer cannot be reached. The task's budget and time limit bound the rest of it.
    }
    return error;
  }

  #startOf(sessionId: string, turnId: string): Start {
    const { log } = this.#deps;
    const row = log.index.turn(turnId);
    const start = row === null ? undefined : log.reads.turn(sessionId, turnId, row.firstSeq).find((event) => event.type === 'turn.started');
    if (start === undefined) throw new AppError('not_found', `There is no turn ${turnId} that could ask a peer.`);
    return start.body;
  }

  /** The id of the turn that was tried first. Its retries are the same work. */
  #firstTry(sessionId: string, turnId: string, start: Start): string {
    let first = turnId;
    let { retries } = start;
    for (let climbed = 0; retries !== undefined && climbed < CLIMB_MAX; climbed++) {
      first = retries;
      ({ retries } = this.#startOf(sessionId, first));
    }
    return first;
  }

  /** The machines that the conversation above this turn passed through. */
  #hopsOf(sessionId: string, turnId: string, start: Start): readonly string[] {
    let place = { sessionId, turnId };
    let { helper } = start;
    for (let climbed = 0; helper !== undefined && climbed < CLIMB_MAX; climbed++) {
      place = helper.from;
      ({ helper } = this.#startOf(place.sessionId, place.turnId));
    }
    if (!place.sessionId.startsWith(ownSessions.task)) return [];
    const { rows } = this.#deps;
    return rows.task(place.turnId)?.hops ?? rows.hopsIn(place.sessionId);
  }
}

interface Sent {
  readonly messageId: string;
  readonly contextId: string | null;
  readonly work: CarriedWork;
  /** Null if the message was not sent before. */
  readonly row: SentRow | null;
}

interface Following extends PeerCall {
  readonly sent: Sent;
  readonly say: (text: string) => void;
  taskId: string | null;
  wasTried?: boolean;
}

/**
 * A TrayClaw that waits is waiting for a person there. Any other agent that waits wants more input, which the calling agent has to provide.
 */
function isOver({ state }: PeerTask, { once }: PeerLink): boolean {
  return ends.has(state) || (state === 'waiting' && !once);
}
