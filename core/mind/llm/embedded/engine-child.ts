// The child process of the engine. Holds one model, processes one order at a time, and reports over the channel it was started with. It
// exits with its parent. A damaged file crashes this process and nothing else.

import { setPriority } from 'node:os';
import { openModel, type EngineModel } from './engine-library.ts';
import type { EngineOrder, EngineReport } from './engine-messages.ts';
import { AnswerWriter, JobFailure } from './write-answer.ts';

type Job = Extract<EngineOrder, { kind: 'complete' | 'embed' }>;
type Load = Extract<EngineOrder, { kind: 'load' }>;

/** Electron's utility processes have a port, Node's child processes a channel. */
interface Channel {
  send(report: EngineReport): void;
  listen(onOrder: (order: EngineOrder) => void): void;
}

class EngineChild {
  readonly #channel: Channel;
  readonly #open = new Map<number, AbortController>();
  #model: { readonly model: EngineModel; readonly writer: AnswerWriter } | null = null;
  #last: Promise<void> = Promise.resolve();

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  take(order: EngineOrder): void {
    if (order.kind === 'cancel') {
      this.#open.get(order.id)?.abort();
      return;
    }
    if (order.kind === 'load') {
      this.#last = this.#load(order);
      return;
    }
    const called = new AbortController();
    this.#open.set(order.id, called);
    this.#last = this.#last.then(() => this.#run(order, called.signal)).finally(() => this.#open.delete(order.id));
  }

  async #load(order: Load): Promise<void> {
    try {
      const model = await openModel(order);
      this.#model = { model, writer: new AnswerWriter(model) };
      this.#channel.send({ kind: 'loaded', contextTokens: model.contextTokens });
    } catch (cause) {
      this.#channel.send({ kind: 'not-loaded', message: messageOf(cause) });
    }
  }

  async #run(job: Job, signal: AbortSignal): Promise<void> {
    const { id } = job;
    const send = (report: EngineReport): void => this.#channel.send(report);
    if (signal.aborted) return send({ kind: 'cancelled', id });
    try {
      send(await (job.kind === 'embed' ? this.#embed(job, signal) : this.#complete(job, signal)));
    } catch (cause) {
      const failure = cause instanceof JobFailure ? cause.failure : { why: 'failed' as const, message: messageOf(cause) };
      send({ kind: 'failed', id, failure });
    }
  }

  async #complete(job: Extract<Job, { kind: 'complete' }>, signal: AbortSignal): Promise<EngineReport> {
    const { id } = job;
    const send = (report: EngineReport): void => this.#channel.send(report);
    const sink = {
      text: (text: string) => send({ kind: 'text', id, text }),
      reasoning: (text: string) => send({ kind: 'reasoning', id, text }),
      calling: () => send({ kind: 'calling', id }),
      alive: () => send({ kind: 'alive', id }),
    };
    const answer = await this.#loaded().writer.write(job, sink, signal);
    return answer === null ? { kind: 'cancelled', id } : { kind: 'answered', id, answer };
  }

  async #embed({ id, texts }: Extract<Job, { kind: 'embed' }>, signal: AbortSignal): Promise<EngineReport> {
    const { model } = this.#loaded();
    const vectors: (readonly number[])[] = [];
    let tokens = 0;
    for (const text of texts) {
      if (signal.aborted) return { kind: 'cancelled', id };
      const made = await model.embed(text);
      vectors.push(made.vector);
      tokens += made.tokens;
    }
    return { kind: 'embedded', id, vectors, tokens };
  }

  #loaded(): { readonly model: EngineModel; readonly writer: AnswerWriter } {
    if (this.#model === null) throw new Error('no model is loaded');
    return this.#model;
  }
}

function messageOf(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).slice(0, 500);
}

interface ParentPort {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (event: { readonly data: unknown }) => void): void;
}

function channelOf(host: NodeJS.Process & { readonly parentPort?: ParentPort }): Channel {
  const { parentPort } = host;
  if (parentPort !== undefined) {
    return {
      send: (report) => parentPort.postMessage(report),
      listen: (onOrder) => parentPort.on('message', ({ data }) => onOrder(data as EngineOrder)),
    };
  }
  host.once('disconnect', () => host.exit());
  return {
    send: (report) => void host.send?.(report),
    listen: (onOrder) => host.on('message', (order) => onOrder(order as EngineOrder)),
  };
}

try {
  // The person's other programs have priority.
  setPriority(10);
} catch {
  // If the priority cannot be changed, the process runs with the normal one.
}
const channel = channelOf(process);
const child = new EngineChild(channel);
channel.listen((order) => child.take(order));
