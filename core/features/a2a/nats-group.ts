// A group of nodes that share one queue of subagent calls over NATS JetStream. A call is published once, taken by one node and held while
// it runs; its result is kept for the caller. The log of each node stays the source of truth. Loaded only if config.yaml configures a
// group.

import { createHash } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { AckPolicy, jetstream, jetstreamManager, RetentionPolicy, StorageType, type ConsumerMessages } from '@nats-io/jetstream';
import * as z from 'zod';
import { settlesWithin } from '../../base/waits.ts';
import { jsonIn } from '../../base/json.ts';
import type { Logger } from '../../base/logger.ts';
import { AppError, isAppError, toAppError } from '../../contracts/errors.ts';
import { carriedBudgetSchema, peerStateSchema, type A2aConfig } from '../../contracts/features/a2a.ts';
import { usageSchema } from '../../contracts/llm.ts';
import { wholeBounds, type TurnBounds } from '../../contracts/turn-bounds.ts';
import { connectToServer, troubleOf } from './nats-connection.ts';
import { handedTo, handOver, heldBy, type Held } from './nats-held.ts';
import type { OutgoingTask, PeerLink, PeerTask } from './peer-link.ts';
import { isEnd, type TaskDesk, type TaskOwner, type TaskView } from './tasks.ts';

export interface NatsGroupDeps {
  readonly config: NonNullable<A2aConfig['nats']>;
  readonly nodeId: string;
  readonly logger: Logger;
  readonly resolve: (ref: string) => Promise<string>;
  /** Aborted when the instance closes. From then on no task is taken and no result is returned. */
  readonly closing: AbortSignal;
  /** True during a panic stop. No further task is started here. */
  readonly isStopped: () => boolean;
}

/** The node that started a task, and the delivery count of the task when that node last received it. */
const claimSchema = z.object({ nodeId: z.string(), deliveries: z.number() });
type Claim = z.infer<typeof claimSchema>;

const jobSchema = z.object({
  messageId: z.string().min(1).max(200),
  text: z.string().min(1),
  hops: z.array(z.string()).max(32),
  budget: carriedBudgetSchema,
  agent: z.string(),
});
const resultSchema = z.object({
  taskId: z.string(),
  state: peerStateSchema,
  text: z.string(),
  note: z.string(),
  spent: z.object({ costUsd: z.number().nullable(), usage: usageSchema }).nullable(),
});

const NS_PER_MS = 1_000_000;
const KEEP_MS = 7 * 86_400_000;
const DUPLICATE_MS = 10 * 60_000;
const ASK_MS = 3_000;
const LOOK_AGAIN_MS = 5_000;
const AT_ONCE = 16;
const CLOSE_MS = 1_000;
const decoder = new TextDecoder();

export class NatsGroup {
  readonly #deps: NatsGroupDeps;
  readonly #owner: TaskOwner;
  readonly #ending = new AbortController();
  readonly #consuming: ConsumerMessages[] = [];
  #connecting: Promise<NatsConnection> | null = null;

  constructor(deps: NatsGroupDeps) {
    this.#deps = deps;
    const { group } = deps.config;
    const bounds: TurnBounds = { ...wholeBounds, outsider: { id: `group:${group}`, name: `a2a:group ${group}`, sees: ['files'] } };
    this.#owner = {
      ownerId: `group:${group}`,
      name: `group ${group}`,
      bounds: () => bounds,
      begins: () => undefined,
      // A job always names its agent.
      agentFor: (named) => named ?? '',
    };
  }

  /** Takes tasks for these agents until the group is closed. Fails if the server cannot be reached; the caller retries. */
  async serve(desk: TaskDesk, agentIds: readonly string[]): Promise<void> {
    const connection = await this.#connected();
    const { ackSeconds } = this.#deps.config;
    const manager = await jetstreamManager(connection, { timeout: ASK_MS });
    for (const agentId of agentIds) {
      const durable = `agent-${agentId}`;
      await manager.consumers.add(this.#jobs, {
        durable_name: durable,
        ack_policy: AckPolicy.Explicit,
        ack_wait: ackSeconds * 1000 * NS_PER_MS,
        // No limit on the server, because it also counts deliveries that ended with a restart of a node or of the server. `#work` counts
        // the failed ones.
        max_deliver: -1,
        filter_subject: this.#subject('jobs', agentId),
      });
      const consumer = await jetstream(connection, { timeout: ASK_MS }).consumers.get(this.#jobs, durable);
      const consuming = await consumer.consume({
        max_messages: AT_ONCE,
        callback: (message) => this.#take(connection, desk, heldBy(connection, message)),
      });
      this.#consuming.push(consuming);
    }
    connection.subscribe(this.#subject('handed', tokenOf(this.#deps.nodeId)), {
      callback: (error, message) => {
        if (error === null) this.#take(connection, desk, handedTo(connection, message));
      },
    });
    connection.subscribe(this.#subject('cancel', '*'), {
      callback: (error, message) => {
        if (error === null) void this.#cancelHere(desk, decoder.decode(message.data));
      },
    });
    await connection.flush();
  }

  /** The group as a peer: any node that has the agent performs the task. Fails with model_unavailable. */
  link(): PeerLink {
    return {
      once: true,
      send: (task) => this.#send(task),
      find: () => Promise.resolve(null),
      get: async (taskId) => (await this.#resultOf(taskId)) ?? working(taskId),
      follow: (taskId, _say, signal) => this.#follow(taskId, signal),
      cancel: async (taskId) => {
        const connection = await this.#connected();
        connection.publish(this.#subject('cancel', tokenOf(taskId)), taskId);
        await connection.flush();
      },
    };
  }

  /** Counts the waiting tasks. Fails with model_unavailable if the server cannot be reached. */
  async look(): Promise<{ readonly waiting: number }> {
    return this.#asked(async (connection) => {
      const { state } = await (await jetstreamManager(connection, { timeout: ASK_MS })).streams.info(this.#jobs);
      return { waiting: state.messages };
    });
  }

  async close(): Promise<void> {
    this.#ending.abort();
    for (const consuming of this.#consuming) consuming.stop();
    const connection = (await this.#connecting?.catch(() => null)) ?? null;
    if (connection === null || connection.isClosed()) return;
    // Flushes pending writes first, since the client fails on writes after the connection ends. An unreachable server does not delay
    // closing for long.
    await settlesWithin(
      connection.drain().catch(() => undefined),
      CLOSE_MS,
    );
    await connection.close();
  }

  async #send(task: OutgoingTask): Promise<PeerTask> {
    const known = await this.#resultOf(task.messageId);
    if (known !== null) return known;
    const { messageId, text, hops, budget, agent } = task;
    const job: z.infer<typeof jobSchema> = { messageId, text, hops: [...hops], budget, agent: agent ?? '' };
    await this.#asked((connection) => {
      const payload = JSON.stringify(job);
      if (!fits(connection, payload)) {
        const hint = 'Ask for less at once, or raise max_payload in the configuration of the NATS server.';
        throw new AppError('tool_failed', 'The task is larger than the NATS server of the group takes.', { hint });
      }
      return jetstream(connection, { timeout: ASK_MS }).publish(this.#subject('jobs', job.agent), payload, { msgID: messageId });
    });
    return working(messageId);
  }

  /** Returns when the result arrives, or after a time limit. */
  async #follow(taskId: string, signal: AbortSignal): Promise<void> {
    await this.#asked(async (connection) => {
      const over = Promise.withResolvers<void>();
      const end = (): void => over.resolve();
      const watching = connection.subscribe(this.#subject('results', tokenOf(taskId)), { callback: end });
      const timer = setTimeout(end, LOOK_AGAIN_MS);
      signal.addEventListener('abort', end, { once: true });
      try {
        if ((await this.#resultOf(taskId)) !== null || signal.aborted) return;
        await over.promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        watching.unsubscribe();
      }
    });
  }

  async #resultOf(messageId: string): Promise<PeerTask | null> {
    const kept = await this.#asked(async (connection) =>
      (await jetstreamManager(connection, { timeout: ASK_MS })).streams.getMessage(this.#records, {
        last_by_subj: this.#subject('results', tokenOf(messageId)),
      }),
    );
    if (kept === null) return null;
    const read = resultSchema.safeParse(kept.json());
    return read.success ? { ...read.data, taskId: messageId, contextId: '' } : null;
  }

  #take(connection: NatsConnection, desk: TaskDesk, message: Held): void {
    this.#work(connection, desk, message).catch((cause: unknown) => this.#report('a task of the group could not be worked on', cause));
  }

  /**
   * Holds the message until the task has ended, however long a person takes to decide. Stores the result before it acknowledges the
   * message.
   */
  async #work(connection: NatsConnection, desk: TaskDesk, message: Held): Promise<void> {
    const job = jobSchema.safeParse(jsonIn(decoder.decode(message.data)));
    if (!job.success) {
      message.term();
      return;
    }
    const { messageId } = job.data;
    const claim = await (this.#deps.isStopped() ? this.#claimOf(connection, messageId) : this.#claim(connection, messageId, message));
    if (claim === null) return;
    if (claim.nodeId !== this.#deps.nodeId) {
      // Another node started the task, so running it here would run it twice.
      const forNothing = message.deliveries - claim.deliveries;
      if (forNothing >= this.#deps.config.deliveries) await this.#bury(connection, messageId, { message, forNothing });
      else handOver(connection, this.#subject('handed', tokenOf(claim.nodeId)), message);
      return;
    }
    if (claim.deliveries < message.deliveries) await this.#putClaim(connection, messageId, message);
    const holding = setInterval(() => message.working(), (this.#deps.config.ackSeconds * 1000) / 3);
    try {
      const result = await this.#run(desk, job.data);
      if (result === null) return;
      await this.#keepResult(connection, messageId, result);
      message.ack();
    } finally {
      clearInterval(holding);
    }
  }

  async #run(
    desk: TaskDesk,
    { messageId, text, hops, budget, agent }: z.infer<typeof jobSchema>,
  ): Promise<z.infer<typeof resultSchema> | null> {
    const { closing } = this.#deps;
    const signal = AbortSignal.any([closing, this.#ending.signal]);
    try {
      let task = desk.begin(this.#owner, { messageId, text, hops, budget, agent, contextId: null, files: [] });
      for await (const change of desk.follow(this.#owner, task.taskId, signal)) if (change.kind === 'state') task = change.view;
      return isEnd(task.state) ? resultFrom(task) : null;
    } catch (cause) {
      const { code, message } = toAppError(cause);
      if (signal.aborted || code === 'shutting_down' || code === 'panic_engaged' || code === 'queue_full') return null;
      return { taskId: '', state: 'rejected', text: '', note: message, spent: null };
    }
  }

  /** Claims the task for this node, or returns the claim of the node that took it first. */
  async #claim(connection: NatsConnection, messageId: string, message: Held): Promise<Claim> {
    try {
      return await this.#putClaim(connection, messageId, message, { lastSubjectSequence: 0 });
    } catch (cause) {
      const kept = await this.#claimOf(connection, messageId);
      if (kept === null) throw cause;
      return kept;
    }
  }

  async #claimOf(connection: NatsConnection, messageId: string): Promise<Claim | null> {
    const manager = await jetstreamManager(connection, { timeout: ASK_MS });
    const kept = await manager.streams.getMessage(this.#records, { last_by_subj: this.#subject('claims', tokenOf(messageId)) });
    return kept === null ? null : claimSchema.parse(kept.json());
  }

  async #putClaim(
    connection: NatsConnection,
    messageId: string,
    { deliveries }: Held,
    expect: { readonly lastSubjectSequence?: number } = {},
  ): Promise<Claim> {
    const claim: Claim = { nodeId: this.#deps.nodeId, deliveries };
    const subject = this.#subject('claims', tokenOf(messageId));
    await jetstream(connection, { timeout: ASK_MS }).publish(subject, JSON.stringify(claim), { expect });
    return claim;
  }

  async #keepResult(connection: NatsConnection, messageId: string, result: z.infer<typeof resultSchema>): Promise<void> {
    const subject = this.#subject('results', tokenOf(messageId));
    const whole = JSON.stringify(result);
    const note = 'Its answer is larger than the NATS server of the group takes (max_payload); it is in the log of the node that gave it.';
    const payload = fits(connection, whole) ? whole : JSON.stringify({ ...result, text: '', note });
    await jetstream(connection, { timeout: ASK_MS }).publish(subject, payload, { msgID: `result-${messageId}` });
  }

  /** Ends a task whose node was unreachable at every delivery: stores a failure for the caller and removes the task from the queue. */
  async #bury(
    connection: NatsConnection,
    messageId: string,
    { message, forNothing }: { readonly message: Held; readonly forNothing: number },
  ): Promise<void> {
    if ((await this.#resultOf(messageId)) === null) {
      const note = `It was given out ${forNothing} times while the node that began it is away. What it did is in the log of that node.`;
      await this.#keepResult(connection, messageId, { taskId: '', state: 'failed', text: '', note, spent: null });
    }
    message.term();
  }

  async #cancelHere(desk: TaskDesk, messageId: string): Promise<void> {
    const task = desk.list(this.#owner).find((one) => one.messageId === messageId && !isEnd(one.state));
    // The task may end at the same moment.
    if (task !== undefined) await desk.cancel(this.#owner, task.taskId).catch(() => undefined);
  }

  async #asked<T>(work: (connection: NatsConnection) => Promise<T>): Promise<T> {
    try {
      return await work(await this.#connected());
    } catch (cause) {
      // An error such as a missing secret already has its own message.
      if (isAppError(cause)) throw cause;
      const [message, hint] = troubleOf(cause);
      throw new AppError('model_unavailable', message, { hint, isRetryable: true, cause });
    }
  }

  async #connected(): Promise<NatsConnection> {
    this.#connecting ??= this.#connect();
    try {
      return await this.#connecting;
    } catch (cause) {
      this.#connecting = null;
      throw cause;
    }
  }

  async #connect(): Promise<NatsConnection> {
    const { config, resolve, nodeId } = this.#deps;
    const connection = await connectToServer(config, { name: `trayclaw ${nodeId}`, timeoutMs: ASK_MS, resolve });
    try {
      await this.#addStreams(connection);
    } catch (cause) {
      // The next call opens a new connection. This one would keep reconnecting forever.
      await connection.close();
      throw cause;
    }
    return connection;
  }

  async #addStreams(connection: NatsConnection): Promise<void> {
    const manager = await jetstreamManager(connection, { timeout: ASK_MS });
    const storage = StorageType.File;
    await manager.streams.add({
      name: this.#jobs,
      subjects: [this.#subject('jobs', '*')],
      retention: RetentionPolicy.Workqueue,
      storage,
      duplicate_window: DUPLICATE_MS * NS_PER_MS,
      max_age: KEEP_MS * NS_PER_MS,
    });
    await manager.streams.add({
      name: this.#records,
      subjects: [this.#subject('claims', '*'), this.#subject('results', '*')],
      retention: RetentionPolicy.Limits,
      storage,
      max_msgs_per_subject: 1,
      duplicate_window: DUPLICATE_MS * NS_PER_MS,
      max_age: KEEP_MS * NS_PER_MS,
    });
  }

  get #jobs(): string {
    return `TRAYCLAW_${this.#deps.config.group}_JOBS`;
  }

  get #records(): string {
    return `TRAYCLAW_${this.#deps.config.group}_RECORDS`;
  }

  #subject(kind: 'jobs' | 'handed' | 'claims' | 'results' | 'cancel', of: string): string {
    return `trayclaw.${this.#deps.config.group}.${kind}.${of}`;
  }

  #report(what: string, cause: unknown): void {
    if (this.#ending.signal.aborted || this.#deps.closing.aborted) return;
    this.#deps.logger.log('error', what, { cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) });
  }
}

function working(messageId: string): PeerTask {
  return { taskId: messageId, contextId: '', state: 'working', text: '', note: '', spent: null };
}

function resultFrom({ taskId, state, text, note, spent }: TaskView): z.infer<typeof resultSchema> {
  return { taskId, state, text, note: note ?? '', spent };
}

function fits({ info }: NatsConnection, payload: string): boolean {
  return info === undefined || Buffer.byteLength(payload) <= info.max_payload;
}

/** Hashes the id into a valid subject token, without dots and wildcards. */
function tokenOf(messageId: string): string {
  return createHash('sha256').update(messageId).digest('base64url').slice(0, 32);
}
