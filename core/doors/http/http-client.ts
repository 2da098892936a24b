// The Claw port over HTTP: uses a running instance as if it were in this process. Holds no state except open streams.

import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { sleep } from '../../base/waits.ts';
import { isPlainObject, parseJson } from '../../base/json.ts';
import { placeHeader, type Claw, type EventsQuery } from '../../contracts/claw.ts';
import { AppError, errorBodySchema, isAppError, toAppError, type ErrorData } from '../../contracts/errors.ts';
import { eventEnvelopeSchema, type AnyEvent, type DeltaNotice } from '../../contracts/events.ts';
import { opSchemas, type Caller, type OpName, type OpParams, type OpResult } from '../../contracts/ops.ts';
import { readText, sendExchange, type Exchange, type ServerAddress } from './http-exchange.ts';
import { EventStreamParser, type StreamMessage } from '../../base/event-stream.ts';

export type { ServerAddress } from './http-exchange.ts';

const reconnectsMax = 5;
const firstReconnectMs = 50;
const servedSchema = z.object({ url: z.string() });

export interface HttpClawOptions {
  readonly address: ServerAddress;
  readonly token: string;
}

export class HttpClaw implements Claw {
  readonly #address: ServerAddress;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #closing = new AbortController();
  readonly #opening = new Set<Promise<unknown>>();
  readonly #deltaListeners = new Set<(delta: DeltaNotice) => void>();
  #deltaStream: AbortController | null = null;

  constructor(options: HttpClawOptions) {
    this.#address = options.address;
    this.#headers = { authorization: `Bearer ${options.token}` };
  }

  /** Sends the operation only after earlier subscriptions are open, so that they miss none of its events. */
  async op<N extends OpName>(name: N, params: OpParams<N>, caller?: Caller): Promise<OpResult<N>> {
    await Promise.all(this.#opening);
    const result = await this.#post(`/api/ops/${name}`, params, this.#signalWith(caller?.signal));
    const parsed = z.safeParse(opSchemas[name].result, result);
    if (!parsed.success) throw new AppError('internal', `The running instance answered ${name} in a form this version does not know.`);
    return parsed.data as OpResult<N>;
  }

  /** Fails with the reason if the stream is refused, or if the instance cannot be reached again; then no event was left out before. */
  events(query: EventsQuery): AsyncIterable<AnyEvent> {
    const first = this.#openStream(query.after, query);
    return this.#followEvents(first, query);
  }

  onDelta(listener: (delta: DeltaNotice) => void): () => void {
    this.#deltaListeners.add(listener);
    if (this.#deltaStream === null) {
      this.#deltaStream = new AbortController();
      // Never rejects, because a lost delta stream is not an error.
      void this.#followDeltas(this.#deltaStream.signal);
    }
    return () => {
      this.#deltaListeners.delete(listener);
      if (this.#deltaListeners.size > 0) return;
      this.#deltaStream?.abort();
      this.#deltaStream = null;
    };
  }

  /** Asks the tray app to listen on loopback TCP. Fails with `port_in_use`. */
  async serve(port?: number): Promise<{ readonly url: string }> {
    return servedSchema.parse(await this.#post('/api/serve', { port }, this.#closing.signal));
  }

  /** Disconnects from the instance, which keeps running. */
  close(): Promise<void> {
    this.#closing.abort();
    return Promise.resolve();
  }

  async #post(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    const exchange = { method: 'POST', path, headers: this.#headers, body: JSON.stringify(body), signal } as const;
    return resultOf(await readText(await sendExchange(this.#address, exchange), signal));
  }

  async *#followEvents(first: Promise<IncomingMessage | AppError>, query: EventsQuery): AsyncGenerator<AnyEvent> {
    let after = query.after;
    let stream = first;
    for (let failures = 0; ; failures += 1) {
      const response = await stream;
      if (!isAppError(response)) {
        failures = 0;
        const place = response.headers[placeHeader];
        if (after === 'latest' && typeof place === 'string') after = Number(place);
        try {
          for await (const event of readEvents(response)) {
            after = event.seq;
            yield event;
          }
        } finally {
          response.destroy();
        }
      }
      if (this.#isOver(query.signal)) return;
      // A later stream from `latest` would leave out the events before it.
      if (isAppError(response) && (after === 'latest' || failures === reconnectsMax)) throw response;
      if (!(await sleep(firstReconnectMs * 2 ** failures, this.#signalWith(query.signal)))) return;
      stream = this.#openStream(after, query);
    }
  }

  async #followDeltas(signal: AbortSignal): Promise<void> {
    for (let failures = 0; failures < reconnectsMax && !this.#isOver(signal); failures++) {
      const response = await this.#openPath('/api/events?after=latest&events=0', signal);
      if (!isAppError(response)) {
        failures = 0;
        for await (const message of readMessages(response)) this.#deliverDelta(message.data);
      }
      await sleep(firstReconnectMs * 2 ** failures, this.#signalWith(signal));
    }
  }

  #deliverDelta(data: string): void {
    const parsed = parseJson(data);
    if (!parsed.ok || !isDelta(parsed.value)) return;
    for (const listener of this.#deltaListeners) listener(parsed.value);
  }

  #openStream(after: number | 'latest', query: EventsQuery): Promise<IncomingMessage | AppError> {
    const session = query.sessionId === undefined ? '' : `&session=${encodeURIComponent(query.sessionId)}`;
    return this.#openPath(`/api/events?after=${after}&deltas=0${session}`, query.signal);
  }

  /** Resolves to the error if the stream could not be opened. */
  #openPath(path: string, signal: AbortSignal | undefined): Promise<IncomingMessage | AppError> {
    const opening = openStream(this.#address, { method: 'GET', path, headers: this.#headers, signal: this.#signalWith(signal) });
    this.#opening.add(opening);
    void opening.finally(() => this.#opening.delete(opening));
    return opening;
  }

  #signalWith(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
  }

  #isOver(signal: AbortSignal | undefined): boolean {
    return this.#closing.signal.aborted || signal?.aborted === true;
  }
}

async function openStream(address: ServerAddress, exchange: Exchange): Promise<IncomingMessage | AppError> {
  try {
    const response = await sendExchange(address, exchange);
    if (response.statusCode !== 200) resultOf(await readText(response, exchange.signal));
    return response;
  } catch (cause) {
    return toAppError(cause);
  }
}

function resultOf(text: string): unknown {
  const parsed = parseJson(text);
  if (parsed.ok && isPlainObject(parsed.value)) {
    if (parsed.value['ok'] === true) return parsed.value['result'];
    const error = errorBodySchema.safeParse(parsed.value['error']);
    if (error.success) {
      const { code, message, hint, data } = error.data;
      throw new AppError(code, message, { data: (data ?? {}) as ErrorData, hint });
    }
  }
  throw new AppError('internal', 'The running instance gave an answer that cannot be read.');
}

async function* readEvents(response: IncomingMessage): AsyncGenerator<AnyEvent> {
  for await (const message of readMessages(response)) {
    const event = message.event === 'message' ? parseEvent(message.data) : null;
    if (event !== null) yield event;
  }
}

function parseEvent(data: string): AnyEvent | null {
  const parsed = parseJson(data);
  if (!parsed.ok) return null;
  const envelope = eventEnvelopeSchema.safeParse(parsed.value);
  // The body was validated when it was written. A newer instance may send event types that this version only passes on.
  return envelope.success ? (envelope.data as AnyEvent) : null;
}

function isDelta(value: unknown): value is DeltaNotice {
  return (
    isPlainObject(value) && typeof value['text'] === 'string' && typeof value['turnId'] === 'string' && typeof value['kind'] === 'string'
  );
}

const lineCharsMax = 64 * 1024 * 1024;

/** Yields complete messages. Ends when the response ends or breaks. */
async function* readMessages(response: IncomingMessage): AsyncGenerator<StreamMessage> {
  response.setEncoding('utf8');
  const whole: StreamMessage[] = [];
  const parser = new EventStreamParser({ message: (message) => void whole.push(message) }, lineCharsMax);
  try {
    for await (const chunk of response) {
      parser.push(String(chunk));
      yield* whole.splice(0);
    }
  } catch {
    // A broken connection ends the stream. The caller reconnects with the last sequence it received.
    return;
  }
}
