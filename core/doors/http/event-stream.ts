// Server-sent events: committed events with their sequence as id, deltas without an id. A slow reader first loses deltas, then its
// connection. It reconnects with the last id it received and misses no event. Format: WHATWG HTML, 9.2 (server-sent events).

import type { ServerResponse } from 'node:http';
import { untilAborted } from '../../base/waits.ts';
import type { Claw } from '../../contracts/claw.ts';
import type { AnyEvent, DeltaNotice } from '../../contracts/events.ts';

export interface EventStreamQuery {
  readonly after: number | 'latest';
  readonly sessionId: string | null;
  readonly withEvents: boolean;
  readonly withDeltas: boolean;
}

/** Shorter than the interval at which a window redraws its text. */
const deltasTogetherMs = 30;

export interface EventStreamLimits {
  readonly heartbeatMs: number;
  /** A reader that accepts nothing for this long is disconnected. */
  readonly stallMsMax: number;
  /** Deltas are dropped while more than this is waiting to be sent. */
  readonly backlogBytesMax: number;
}

export const defaultEventStreamLimits: EventStreamLimits = { heartbeatMs: 15_000, stallMsMax: 30_000, backlogBytesMax: 256 * 1024 };

/** Last-Event-ID overrides `after`. A string result describes the error in the query. */
export function parseEventStreamQuery(query: URLSearchParams, lastEventId: string | undefined): EventStreamQuery | string {
  const after = lastEventId !== undefined && lastEventId !== '' ? lastEventId : (query.get('after') ?? '0');
  if (after !== 'latest' && !/^\d{1,15}$/.test(after)) return 'after must be a sequence number or "latest".';
  return {
    after: after === 'latest' ? 'latest' : Number(after),
    sessionId: query.get('session'),
    withEvents: query.get('events') !== '0',
    withDeltas: query.get('deltas') !== '0',
  };
}

/** Streams until the reader disconnects, the signal aborts or the instance ends. Never rejects because of the reader. */
export async function streamEvents(
  claw: Claw,
  response: ServerResponse,
  query: EventStreamQuery,
  options: EventStreamLimits & { readonly signal: AbortSignal },
): Promise<void> {
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, options.signal]);
  response.once('close', () => gone.abort());
  response.once('error', () => gone.abort());
  // Subscribes before the reader learns that the stream is open, so that it misses no later event.
  const events = query.withEvents ? claw.events({ after: query.after, signal, ...sessionOf(query) })[Symbol.asyncIterator]() : null;
  let next = events?.next();
  const deltas = new DeltaWriter(response, options.backlogBytesMax);
  const isAsked = (delta: DeltaNotice): boolean => query.sessionId === null || delta.sessionId === query.sessionId;
  const stopDeltas = query.withDeltas ? claw.onDelta((delta) => isAsked(delta) && deltas.write(delta)) : null;
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
  response.write('retry: 1000\n\n');
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': beat\n\n');
  }, options.heartbeatMs);
  try {
    if (events === null) await untilAborted(signal);
    while (events !== null && next !== undefined && !signal.aborted) {
      const item = await next;
      if (item.done === true || signal.aborted) break;
      deltas.flush();
      if (!(await writeFrame(response, eventFrame(item.value), options.stallMsMax))) break;
      next = events.next();
    }
  } finally {
    clearInterval(heartbeat);
    stopDeltas?.();
    deltas.flush();
    gone.abort();
    await events?.return?.();
    // A stalled reader never drains the rest, so a graceful end would keep the connection open forever.
    if (response.writableNeedDrain) response.destroy();
    else response.end();
  }
}

function sessionOf(query: EventStreamQuery): { sessionId?: string } {
  return query.sessionId === null ? {} : { sessionId: query.sessionId };
}

function eventFrame(event: AnyEvent): string {
  return `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Writes the first delta at once and batches those that follow closely, because each write costs both sides a task. */
class DeltaWriter {
  readonly #response: ServerResponse;
  readonly #backlogBytesMax: number;
  #waiting = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(response: ServerResponse, backlogBytesMax: number) {
    this.#response = response;
    this.#backlogBytesMax = backlogBytesMax;
  }

  write(delta: DeltaNotice): void {
    const { headersSent, writableLength } = this.#response;
    if (!headersSent || writableLength + this.#waiting.length > this.#backlogBytesMax) return;
    this.#waiting += `event: delta\ndata: ${JSON.stringify(delta)}\n\n`;
    if (this.#timer === undefined) this.flush();
  }

  /** Sends the batched deltas. Must be called before anything that has to come after them. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting === '') return;
    if (!this.#response.destroyed) this.#response.write(this.#waiting);
    this.#waiting = '';
    this.#timer = setTimeout(() => this.flush(), deltasTogetherMs);
  }
}

/** Resolves to false if the reader has disconnected or accepts nothing for too long. */
function writeFrame(response: ServerResponse, frame: string, stallMsMax: number): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(false);
  if (response.write(frame)) return Promise.resolve(true);
  return new Promise((resolve) => {
    const finish = (isDrained: boolean): void => {
      clearTimeout(timer);
      response.off('drain', onDrain);
      response.off('close', onClose);
      resolve(isDrained);
    };
    const onDrain = (): void => finish(true);
    const onClose = (): void => finish(false);
    const timer = setTimeout(() => finish(false), stallMsMax);
    response.once('drain', onDrain);
    response.once('close', onClose);
  });
}
