// The op client over loopback HTTP: a POST per operation, and one fetch-streamed event stream that resumes where it stopped. Keeps the
// access token in memory only and never puts it into an address. After a lost connection it sends the token only to a server that has shown
// that it knows it; after a restart it exchanges the token for the new one. Each answer states its position in the log, so that a request
// made before the stream is open misses no event.

import { placeHeader } from '../../core/contracts/claw.ts';
import type { ErrorBody } from '../../core/contracts/errors.ts';
import type { AnyEvent, DeltaNotice } from '../../core/contracts/events.ts';
import type { OpName, OpParams, OpResult } from '../../core/contracts/ops.ts';
import { sleep } from '../../core/base/waits.ts';
import { EventStreamParser, type StreamMessage, type StreamSink } from '../../core/base/event-stream.ts';
import { isPlainObject, parseJson, objectIn } from '../../core/base/json.ts';
import type { Proof, ProveServer } from './prove-server.ts';
import { OpFailure, type OpClient, type StreamHandlers } from './client.ts';

export interface HttpClientOptions {
  /** Scheme, host and port, without a path. */
  readonly origin: string;
  readonly token: string;
  /** Called with the token to store: a new one after a restart, null while another program answers at the address. */
  readonly onKept?: (token: string | null) => void;
  readonly fetch?: typeof globalThis.fetch;
  /** A random number between 0 and 1, for spreading reconnects. */
  readonly random?: () => number;
  readonly firstWaitMs?: number;
  readonly waitMsMax?: number;
  /** If no byte (including heartbeats) arrives for this long, the connection is closed and reopened. */
  readonly silenceMsMax?: number;
}

const lineCharsMax = 16_000_000;

/** An answer includes every event up to its position; 0 if the host does not state one. */
interface Placed {
  readonly reply: Record<string, unknown>;
  readonly place: number;
}

export class HttpClient implements OpClient {
  readonly #origin: string;
  readonly #onKept: (token: string | null) => void;
  #token: string;
  #renewing: Promise<void> | null = null;
  /** True if the host has refused the token and has no newer one. */
  #isRefused = false;
  /** Not `proven` after a lost connection: another program may listen on the port by now. */
  #proof: Proof = 'proven';
  #proving: Promise<Proof> | null = null;
  /** Loaded while the connection is good, because a stranger could answer a later request with other code. */
  #prover: Promise<ProveServer> | null = null;
  /** Answers requested in advance, by operation and parameters. */
  readonly #ahead = new Map<string, Promise<Placed>>();
  /** The lowest position of all answers returned so far. */
  #oldestPlace = Infinity;
  /** The stream delivers all events after this position; null until it was open. */
  #streamPlace: number | null = null;
  #tellMissed: () => void = () => undefined;
  readonly #fetch: typeof globalThis.fetch;
  readonly #random: () => number;
  readonly #firstWaitMs: number;
  readonly #waitMsMax: number;
  readonly #silenceMsMax: number;

  constructor(options: HttpClientOptions) {
    this.#origin = options.origin;
    this.#token = options.token;
    this.#onKept = options.onKept ?? (() => undefined);
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.#random = options.random ?? Math.random;
    this.#firstWaitMs = options.firstWaitMs ?? 250;
    this.#waitMsMax = options.waitMsMax ?? 2000;
    this.#silenceMsMax = options.silenceMsMax ?? 70_000;
  }

  async op<N extends OpName>(name: N, params: OpParams<N>, signal?: AbortSignal): Promise<OpResult<N>> {
    const key = keyOf(name, params);
    const ahead = this.#ahead.get(key);
    this.#ahead.delete(key);
    const { reply, place } = await (ahead ?? this.#ask(name, params, signal));
    if (place > 0) this.#given(place);
    // The host validated both against the ops table; the window trusts its own host and does not validate again.
    return reply['result'] as OpResult<N>;
  }

  /** Sends the request at once; the next `op` with the same parameters receives this answer. */
  askAhead<N extends OpName>(name: N, params: OpParams<N>): void {
    const asked = this.#ask(name, params);
    // A failure is reported to the caller that takes the answer.
    asked.catch(() => undefined);
    this.#ahead.set(keyOf(name, params), asked);
  }

  events(after: number | 'latest', handlers: StreamHandlers): () => void {
    const ending = new AbortController();
    this.#tellMissed = () => handlers.onState('online', true);
    void this.#follow(after, handlers, ending.signal);
    return () => ending.abort();
  }

  async #ask(name: OpName, params: unknown, signal?: AbortSignal): Promise<Placed> {
    const used = this.#token;
    let response = await this.#post(`/api/ops/${name}`, params, signal);
    if (response.status === 401 && (await this.#renew(used))) response = await this.#post(`/api/ops/${name}`, params, signal);
    const reply = objectIn(await response.text());
    if (reply === null) throw new OpFailure('internal', `The answer to ${name} is not JSON (HTTP ${response.status}).`);
    if (reply['ok'] === true) return { reply, place: placeOf(response) };
    if (isPlainObject(reply['error'])) throw OpFailure.fromBody(reply['error'] as unknown as ErrorBody);
    throw new OpFailure('internal', `${name} failed without a reason (HTTP ${response.status}).`);
  }

  /** An answer from before the stream lacks the events in between, which are never delivered, so the lists are read again. */
  #given(place: number): void {
    this.#oldestPlace = Math.min(this.#oldestPlace, place);
    if (this.#streamPlace !== null && place < this.#streamPlace) this.#tellMissed();
  }

  /** Resolves to whether there is a newer token than the rejected one. Concurrent callers share one request. */
  async #renew(refused: string): Promise<boolean> {
    if (this.#token === refused) await (this.#renewing ??= this.#askForNewToken().finally(() => (this.#renewing = null)));
    return this.#token !== refused;
  }

  async #askForNewToken(): Promise<void> {
    const response = await this.#post('/api/renew', {}).catch(() => null);
    const parsed = response?.ok === true ? parseJson(await response.text().catch(() => '')) : null;
    const result = parsed?.ok === true && isPlainObject(parsed.value) ? parsed.value['result'] : null;
    const token = isPlainObject(result) ? result['token'] : null;
    if (typeof token === 'string') {
      this.#token = token;
      this.#onKept(token);
    } else this.#isRefused = response !== null;
  }

  /** Fails unless the server is the one that knows the token. Concurrent callers share one request. */
  async #assureServer(): Promise<void> {
    if (this.#proof === 'proven') return;
    this.#proving ??= this.#prove().finally(() => (this.#proving = null));
    this.#proof = await this.#proving;
    if (this.#proof !== 'silent') this.#onKept(this.#proof === 'proven' ? this.#token : null);
    if (this.#proof !== 'proven') throw new Error('The server did not show that it knows the token.');
  }

  async #prove(): Promise<Proof> {
    const proveServer = await this.#loadProver();
    return proveServer(this.#fetch, this.#origin, this.#token);
  }

  #loadProver(): Promise<ProveServer> {
    this.#prover ??= import('./prove-server.ts').then(({ proveServer }) => proveServer);
    // While the host is away, nothing is loaded. The next attempt loads again.
    this.#prover.catch(() => (this.#prover = null));
    return this.#prover;
  }

  #connectionLost(): void {
    if (this.#proof === 'proven') this.#proof = 'silent';
  }

  async #post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
    try {
      await this.#assureServer();
      return await this.#fetch(this.#origin + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        cache: 'no-store',
        ...(signal === undefined ? {} : { signal }),
      });
    } catch {
      if (signal?.aborted) throw new OpFailure('cancelled', 'The request was cancelled.');
      this.#connectionLost();
      // The browser's own message would not help a person.
      throw new OpFailure('offline', 'TrayClaw is not responding.', 'Check that it is still running; this window reconnects on its own.');
    }
  }

  async #follow(start: number | 'latest', handlers: StreamHandlers, signal: AbortSignal): Promise<void> {
    let after = start;
    let failures = 0;
    let wasOnline = false;
    while (!signal.aborted) {
      const resumable = after !== 'latest';
      const isRenewed = await this.#stream(after, signal, {
        opened: (place) => {
          failures = 0;
          void this.#loadProver();
          const isMissing = resumable ? false : wasOnline || this.#oldestPlace < place;
          if (!resumable && place > 0) this.#streamPlace = after = place;
          handlers.onState('online', isMissing);
          wasOnline = true;
        },
        id: (seq) => {
          after = seq;
        },
        message: (message) => deliver(message, handlers),
      });
      if (signal.aborted) return;
      // After several refusals the host says only that there are too many.
      if (this.#isRefused) return handlers.onState('unauthorized', false);
      handlers.onState(this.#proof === 'stranger' ? 'unproven' : wasOnline ? 'reconnecting' : 'connecting', false);
      if (isRenewed) failures = 0;
      const waitMs = Math.min(this.#waitMsMax, this.#firstWaitMs * 2 ** failures) * (0.75 + this.#random() / 2);
      failures = Math.min(failures + 1, 16);
      await sleep(waitMs, signal);
    }
  }

  /** Resolves to whether there is a newer token, with which to try again. */
  async #stream(after: number | 'latest', signal: AbortSignal, on: StreamCallbacks): Promise<boolean> {
    const attempt = new AbortController();
    const stop = (): void => attempt.abort();
    signal.addEventListener('abort', stop, { once: true });
    let silence = setTimeout(stop, this.#silenceMsMax);
    const used = this.#token;
    try {
      await this.#assureServer();
      const response = await this.#fetch(`${this.#origin}/api/events?after=${after}`, {
        headers: { authorization: `Bearer ${this.#token}`, accept: 'text/event-stream' },
        cache: 'no-store',
        signal: attempt.signal,
      });
      if (response.status === 401 || response.status === 403) return await this.#renew(used);
      if (!response.ok || response.body === null) return false;
      on.opened(placeOf(response));
      const sink: StreamSink = { message: (message) => on.message(message), id: (id) => /^\d+$/.test(id) && on.id(Number(id)) };
      const parser = new EventStreamParser(sink, lineCharsMax);
      for await (const chunk of chunksOf(response.body)) {
        clearTimeout(silence);
        silence = setTimeout(stop, this.#silenceMsMax);
        parser.push(chunk);
      }
      this.#connectionLost();
    } catch {
      // A lost connection is expected.
      this.#connectionLost();
    } finally {
      clearTimeout(silence);
      signal.removeEventListener('abort', stop);
      attempt.abort();
    }
    return false;
  }
}

interface StreamCallbacks {
  opened(place: number): void;
  id(seq: number): void;
  message(message: StreamMessage): void;
}

function placeOf(response: Response): number {
  return Number(response.headers.get(placeHeader) ?? 0);
}

function keyOf(name: OpName, params: unknown): string {
  return `${name} ${JSON.stringify(params)}`;
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.releaseLock();
  }
}

function deliver(message: StreamMessage, handlers: StreamHandlers): void {
  const value = objectIn(message.data);
  if (value === null) return;
  if (message.event === 'delta') {
    if (typeof value['text'] === 'string') handlers.onDelta(value as unknown as DeltaNotice);
  } else if (typeof value['seq'] === 'number' && typeof value['type'] === 'string') {
    handlers.onEvent(value as unknown as AnyEvent);
  }
}
