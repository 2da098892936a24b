// A group of nodes that share one queue of subagent calls over NATS JetStream: a call is published once, taken by one node, held while it runs, and its
// result kept for the caller. The log of each node stays the truth: this carries tasks and forgets nothing that a node needs. Loaded only when
// config.yaml names it.

import { createHash } from 'node:crypto';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import {
  AckPolicy,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type ConsumerMessages,
  type JsMsg,
} from '@nats-io/jetstream';
import * as z from 'zod';
import { Deferred, sleep } from '../../base/deferred.ts';
import { parseJson } from '../../base/json.ts';
import type { Logger } from '../../base/logger.ts';
import { AppError, isAppError, toAppError } from '../../contracts/errors.ts';
import { carriedBudgetSchema, peerStateSchema, type A2aConfig } from '../../contracts/features/a2a.ts';
import { usageSchema } from '../../contracts/llm.ts';
import { connectToServer, troubleOf } from './nats-connection.ts';
import type { OutgoingTask, PeerLink, PeerTask } from './peer-link.ts';
import { isEnd, type TaskDesk, type TaskOwner, type TaskView } from './tasks.ts';

export interface NatsGroupDeps {
  readonly config: NonNullable<A2aConfig['nats']>;
  readonly nodeId: string;
  readonly logger: Logger;
  readonly resolve: (ref: string) => Promise<string>;
  /** Aborted when the instance closes: from then on nothing is taken and nothing is given back. */
  readonly closing: AbortSignal;
}

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
const REPLY = 'Trayclaw-Reply';
const decoder = new TextDecoder();

export class NatsGroup {
  readonly #deps: NatsGroupDeps;
  readonly #owner: TaskOwner;
  readonly #ending = new AbortController();
  readonly #consuming: ConsumerMessages[] = [];
  #connecting: Promise<NatsConnection> | null = null;

  constructor(deps: NatsGroupDeps) {
    this.#deps = deps;
    this.#owner = { ownerId: `group:${deps.config.group}`, name: `group ${deps.config.group}`, leftUsd: () => null };
  }

  /** Takes tasks for these agents until it is closed. Tries again while the server cannot be reached. */
  async serve(desk: TaskDesk, agentIds: readonly string[]): Promise<void> {
    const connection = await this.#connected();
    const { ackSeconds, deliveries } = this.#deps.config;
    const manager = await jetstreamManager(connection, { timeout: ASK_MS });
    for (const agentId of agentIds) {
      const durable = `agent-${agentId}`;
      await manager.consumers.add(this.#jobs, {
        durable_name: durable,
        ack_policy: AckPolicy.Explicit,
        ack_wait: ackSeconds * 1000 * NS_PER_MS,
        max_deliver: deliveries,
        filter_subject: this.#subject('jobs', agentId),
      });
      const consumer = await jetstream(connection, { timeout: ASK_MS }).consumers.get(this.#jobs, durable);
      const consuming = await consumer.consume({
        max_messages: AT_ONCE,
        callback: (message) => this.#take(connection, desk, heldAt(connection, message.data, replyOf(message))),
      });
      this.#consuming.push(consuming);
    }
    connection.subscribe(this.#subject('handed', tokenOf(this.#deps.nodeId)), {
      callback: (error, message) => {
        if (error === null) this.#take(connection, desk, heldAt(connection, message.data, message.headers?.get(REPLY) ?? ''));
      },
    });
    connection.subscribe(this.#subject('cancel', '*'), {
      callback: (error, message) => {
        if (error === null) void this.#cancelHere(desk, decoder.decode(message.data));
      },
    });
    connection.subscribe(`$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.${this.#jobs}.*`, {
      callback: (error, message) => {
        if (error === null) void this.#buryOrReport(connection, message.json());
      },
    });
    await connection.flush();
  }

  /** The group as a peer: any node that has the agent does the task. Fails with model_unavailable. */
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

  /** The tasks that wait, and whether the server can be reached. Fails with model_unavailable. */
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
    // Pending writes go first: the client fails on writes after its end. A server that is away is not waited for.
    const drained = connection.drain().catch(() => undefined);
    await Promise.race([drained, sleep(CLOSE_MS)]);
    await connection.close();
  }

  async #send(task: OutgoingTask): Promise<PeerTask> {
    const known = await this.#resultOf(task.messageId);
    if (known !== null) return known;
    const { messageId, text, hops, budget, agent } = task;
    const job: z.infer<typeof jobSchema> = { messageId, text, hops: [...hops], budget, agent: agent ?? '' };
    await this.#asked((connection) =>
      jetstream(connection, { timeout: ASK_MS }).publish(this.#subject('jobs', job.agent), JSON.stringify(job), { msgID: messageId }),
    );
    return working(messageId);
  }

  /** Ends when the result arrives, or after a while. */
  async #follow(taskId: string, signal: AbortSignal): Promise<void> {
    await this.#asked(async (connection) => {
      const over = new Deferred<void>();
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

  /** Held until the task has ended, however long a person decides; then the result is kept, and only then the task given back. */
  async #work(connection: NatsConnection, desk: TaskDesk, message: Held): Promise<void> {
    const given = parseJson(decoder.decode(message.data));
    const job = jobSchema.safeParse(given.ok ? given.value : null);
    if (!job.success) {
      message.term();
      return;
    }
    const { messageId } = job.data;
    const claimant = await this.#claim(connection, messageId);
    if (claimant !== this.#deps.nodeId) {
      // On another node it would run twice. The one that began it holds it from now on; if that is away, the task is given out again.
      // The server takes no message that has such a reply subject.
      const handed = headers();
      handed.set(REPLY, message.reply);
      connection.publish(this.#subject('handed', tokenOf(claimant)), message.data, { headers: handed });
      return;
    }
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

  /** The node that took it first. */
  async #claim(connection: NatsConnection, messageId: string): Promise<string> {
    const subject = this.#subject('claims', tokenOf(messageId));
    try {
      await jetstream(connection, { timeout: ASK_MS }).publish(subject, this.#deps.nodeId, { expect: { lastSubjectSequence: 0 } });
      return this.#deps.nodeId;
    } catch (cause) {
      const manager = await jetstreamManager(connection, { timeout: ASK_MS });
      const kept = await manager.streams.getMessage(this.#records, { last_by_subj: subject });
      if (kept === null) throw cause;
      return kept.string();
    }
  }

  async #keepResult(connection: NatsConnection, messageId: string, result: z.infer<typeof resultSchema>): Promise<void> {
    const subject = this.#subject('results', tokenOf(messageId));
    await jetstream(connection, { timeout: ASK_MS }).publish(subject, JSON.stringify(result), { msgID: `result-${messageId}` });
  }

  async #buryOrReport(connection: NatsConnection, advisory: unknown): Promise<void> {
    try {
      await this.#bury(connection, advisory);
    } catch (cause) {
      this.#report('a dead letter was not kept', cause);
    }
  }

  /** Delivered too often without an end: the caller learns it, and the queue is free of it. */
  async #bury(connection: NatsConnection, advisory: unknown): Promise<void> {
    const { stream_seq: seq, deliveries } = z.object({ stream_seq: z.number(), deliveries: z.number() }).parse(advisory);
    const manager = await jetstreamManager(connection, { timeout: ASK_MS });
    const kept = await manager.streams.getMessage(this.#jobs, { seq });
    if (kept === null) return;
    const job = jobSchema.safeParse(kept.json());
    if (job.success && (await this.#resultOf(job.data.messageId)) === null) {
      const note = `It was given out ${deliveries} times and not ended: the node that began it is away. What it did is in the log of that node.`;
      await this.#keepResult(connection, job.data.messageId, { taskId: '', state: 'failed', text: '', note, spent: null });
    }
    await manager.streams.deleteMessage(this.#jobs, seq);
  }

  async #cancelHere(desk: TaskDesk, messageId: string): Promise<void> {
    const task = desk.list(this.#owner).find((one) => one.messageId === messageId && !isEnd(one.state));
    // It may end at the same moment.
    if (task !== undefined) await desk.cancel(this.#owner, task.taskId).catch(() => undefined);
  }

  async #asked<T>(work: (connection: NatsConnection) => Promise<T>): Promise<T> {
    try {
      return await work(await this.#connected());
    } catch (cause) {
      // A secret that is missing says so itself.
      if (isAppError(cause)) throw cause;
      const [message, hint] = troubleOf(cause);
      throw new AppError('model_unavailable', message, { data: { hint }, isRetryable: true, cause });
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
    return connection;
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

/** A task that was given to this node, by the server or by the node that was given it at first. */
interface Held {
  readonly data: Uint8Array;
  readonly reply: string;
  /** It ended. */
  ack(): void;
  /** It takes longer. */
  working(): void;
  /** It is not given out again. */
  term(): void;
}

/** Any node may acknowledge it: the words go to its reply subject. */
function heldAt(connection: NatsConnection, data: Uint8Array, reply: string): Held {
  const say = (word: string) => (): void => {
    // Pending writes of a closed connection are of no use: the task is given out again.
    if (!connection.isClosed()) connection.publish(reply, word);
  };
  return { data, reply, ack: say('+ACK'), working: say('+WPI'), term: say('+TERM') };
}

/** Left out of the type of the client. */
function replyOf(message: JsMsg): string {
  return 'reply' in message && typeof message.reply === 'string' ? message.reply : '';
}

/** As a part of a subject: no dots, no wildcards. */
function tokenOf(messageId: string): string {
  return createHash('sha256').update(messageId).digest('base64url').slice(0, 32);
}
