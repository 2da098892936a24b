// The op client over loopback HTTP: POST per operation, one fetch-streamed event stream that resumes where it stopped.
// Holds the access token in memory only; never puts it into an address. After a restart it trades its token for the new one.
// Each answer says its place in the log, so that what is asked before the stream is open misses no event.

import { placeHeader } from '../../core/contracts/claw.ts';
import type { ErrorBody } from '../../core/contracts/errors.ts';
import type { AnyEvent, DeltaNotice } from '../../core/contracts/events.ts';
import type { OpName, OpParams, OpResult } from '../../core/contracts/ops.ts';
import { sleep } from '../../core/base/deferred.ts';
import { EventStreamParser, type StreamMessage, type StreamSink } from '../../core/base/event-stream.ts';
import { isPlainObject, parseJson } from '../../core/base/json.ts';
import { OpFailure, type OpClient, type StreamHandlers } from './client.ts';

export interface HttpClientOptions {
  /** Scheme, host and port, without a path. */
  readonly origin: string;
  readonly token: string;
  /** The program was restarted and this is the token now. */
  readonly onRenewed?: (token: string) => void;
  readonly fetch?: typeof globalThis.fetch;
  /** Between 0 and 1; spreads reconnects. */
  readonly random?: () => number;
  readonly firstWaitMs?: number;
  readonly waitMsMax?: number;
  /** Without a byte for this long (heartbeats count) the connection is given up and opened again. */
  readonly silenceMsMax?: number;
}

const lineCharsMax = 16_000_000;

type StreamEnd = 'closed' | 'lost' | 'unauthorized';

/** An answer has every event up to its place; 0 where the host does not say it. */
interface Placed {
  readonly reply: Record<string, unknown>;
  readonly place: number;
}

export class HttpClient implements OpClient {
  readonly #origin: string;
  readonly #onRenewed: (token: string) => void;
  #token: string;
  #renewing: Promise<boolean> | null = null;
  /** Answers that were asked for before anybody needed them, by their operation and parameters. */
  readonly #ahead = new Map<string, Promise<Placed>>();
  /** The first place of all answers given so far. */
  #oldestPlace = Infinity;
  /** The stream has all events after this place; null until it was open. */
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
    this.#onRenewed = options.onRenewed ?? (() => undefined);
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.#random = options.random ?? Math.random;
    this.#firstWaitMs = options.firstWaitMs ?? 250;
    this.#waitMsMax = options.waitMsMax ?? 8000;
    this.#silenceMsMax = options.silenceMsMax ?? 70_000;
  }

  async op<N extends OpName>(name: N, params: OpParams<N>, signal?: AbortSignal): Promise<OpResult<N>> {
    const key = keyOf(name, params);
    const ahead = this.#ahead.get(key);
    this.#ahead.delete(key);
    const { reply, place } = await (ahead ?? this.#ask(name, params, signal));
    if (place > 0) this.#given(place);
    // The host checked both against the ops table; the window trusts its own host and does not check again.
    return reply['result'] as OpResult<N>;
  }

  /** Asks at once; the next `op` with the same parameters is given this answer. */
  askAhead<N extends OpName>(name: N, params: OpParams<N>): void {
    const asked = this.#ask(name, params);
    // A failure belongs to the one who is given it.
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
    const parsed = parseJson(await response.text());
    if (!parsed.ok || !isPlainObject(parsed.value)) {
      throw new OpFailure('internal', `The host answered ${name} with something that is not JSON (HTTP ${response.status}).`);
    }
    const reply = parsed.value;
    if (reply['ok'] === true) return { reply, place: placeOf(response) };
    if (isPlainObject(reply['error'])) throw OpFailure.fromBody(reply['error'] as unknown as ErrorBody);
    throw new OpFailure('internal', `The host refused ${name} without saying why (HTTP ${response.status}).`);
  }

  /** An answer from before the stream lacks the events in between: no one brings them, so the lists are read again. */
  #given(place: number): void {
    this.#oldestPlace = Math.min(this.#oldestPlace, place);
    if (this.#streamPlace !== null && place < this.#streamPlace) this.#tellMissed();
  }

  /** Whether there is another token than the one that was refused. Asked once for all who meet the refusal. */
  async #renew(refused: string): Promise<boolean> {
    if (this.#token !== refused) return true;
    this.#renewing ??= this.#askForNewToken().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #askForNewToken(): Promise<boolean> {
    const response = await this.#post('/api/renew', {}).catch(() => null);
    const parsed = response?.ok === true ? parseJson(await response.text().catch(() => '')) : null;
    const result = parsed?.ok === true && isPlainObject(parsed.value) ? parsed.value['result'] : null;
    const token = isPlainObject(result) ? result['token'] : null;
    if (typeof token !== 'string') return false;
    this.#token = token;
    this.#onRenewed(token);
    return true;
  }

  async #post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
    try {
      return await this.#fetch(this.#origin + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        cache: 'no-store',
        ...(signal === undefined ? {} : { signal }),
      });
    } catch {
      if (signal?.aborted) throw new OpFailure('cancelled', 'The request was cancelled.');
      // The browser's own words for it say nothing to a person.
      throw new OpFailure('offline', 'TrayClaw is not responding.', 'Check that it is still running; this window reconnects on its own.');
    }
  }

  async #follow(start: number | 'latest', handlers: StreamHandlers, signal: AbortSignal): Promise<void> {
    let after = start;
    let failures = 0;
    let wasOnline = false;
    while (!signal.aborted) {
      const resumable = after !== 'latest';
      const end = await this.#stream(after, signal, {
        opened: (place) => {
          failures = 0;
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
      if (end === 'closed') return;
      handlers.onState(end === 'unauthorized' ? 'unauthorized' : wasOnline ? 'reconnecting' : 'connecting', false);
      if (end === 'unauthorized') return;
      const waitMs = Math.min(this.#waitMsMax, this.#firstWaitMs * 2 ** failures) * (0.75 + this.#random() / 2);
      failures = Math.min(failures + 1, 16);
      await sleep(waitMs, signal);
    }
  }

  async #stream(after: number | 'latest', signal: AbortSignal, on: StreamCallbacks): Promise<StreamEnd> {
    const attempt = new AbortController();
    const stop = (): void => attempt.abort();
    signal.addEventListener('abort', stop, { once: true });
    let silence = setTimeout(stop, this.#silenceMsMax);
    const used = this.#token;
    try {
      const response = await this.#fetch(`${this.#origin}/api/events?after=${after}`, {
        headers: { authorization: `Bearer ${this.#token}`, accept: 'text/event-stream' },
        cache: 'no-store',
        signal: attempt.signal,
      });
      if (response.status === 401 || response.status === 403) return (await this.#renew(used)) ? 'lost' : 'unauthorized';
      if (!response.ok || response.body === null) return 'lost';
      on.opened(placeOf(response));
      const sink: StreamSink = { message: (message) => on.message(message), id: (id) => /^\d+$/.test(id) && on.id(Number(id)) };
      const parser = new EventStreamParser(sink, lineCharsMax);
      for await (const chunk of chunksOf(response.body)) {
        clearTimeout(silence);
        silence = setTimeout(stop, this.#silenceMsMax);
        parser.push(chunk);
      }
      return 'lost';
    } catch {
      // A dropped connection is expected; what matters is whether we were asked to end.
      return signal.aborted ? 'closed' : 'lost';
    } finally {
      clearTimeout(silence);
      signal.removeEventListener('abort', stop);
      attempt.abort();
    }
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
  const parsed = parseJson(message.data);
  if (!parsed.ok || !isPlainObject(parsed.value)) return;
  const value = parsed.value;
  if (message.event === 'delta') {
    if (typeof value['text'] === 'string') handlers.onDelta(value as unknown as DeltaNotice);
  } else if (typeof value['seq'] === 'number' && typeof value['type'] === 'string') {
    handlers.onEvent(value as unknown as AnyEvent);
  }
}
