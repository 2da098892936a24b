// Sends POST requests over keep-alive connections to one origin and passes on the answer bytes as they arrive (undici Pool.dispatch, no web
// streams). Must not know any vendor's format. The HTTP client is imported at first use, because it costs start-up time and idle memory.

import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher, Pool } from 'undici';
import { relays } from '../../base/proxy-rules.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { connectorThrough, environmentProxy, proxyHeaders, withSystemAuthorities, type ProxyChoice } from '../../guard/egress/egress.ts';
import { mapNetworkError } from './network-errors.ts';

const CONNECTIONS_MAX = 32;
const KEEP_ALIVE_MS = 30_000;
/** How long a server may keep its answer open after everything needed has been read, before the connection is dropped. */
const DRAIN_MS = 1_000;

export interface PostRequest {
  readonly path: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** Reads one answer. If it throws, the request ends and the error becomes the rejection. */
export interface ResponseReader {
  head(status: number, headers: IncomingHttpHeaders): void;
  /** Returns true if the answer is complete; the rest is ignored. */
  data(chunk: Buffer): boolean;
  /** Called when the server ended the answer normally. */
  end(): void;
}

export interface HttpTransportOptions {
  readonly provider: string;
  readonly origin: string;
  readonly connectTimeoutMs: number;
  /** Defaults to the proxy that the environment names. */
  readonly proxy?: ProxyChoice;
}

export class HttpTransport {
  readonly #options: HttpTransportOptions;
  readonly #proxy: URL | null;
  /** The headers for a proxy that takes the whole address of each request, because the server has no TLS; null without one. */
  readonly #relayHeaders: readonly string[] | null;
  #pool: Promise<Pool> | null = null;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    const origin = new URL(options.origin);
    this.#proxy = (options.proxy ?? environmentProxy)(origin);
    this.#relayHeaders = this.#proxy !== null && relays(this.#proxy, origin) ? Object.entries(proxyHeaders(this.#proxy)).flat() : null;
  }

  /**
   * Resolves when the reader has everything. Rejects with the reader's error, with the signal's reason when aborted, or with
   * `model_unavailable`, `model_timeout` (connecting) or `model_cut_off`.
   */
  async post(request: PostRequest, reader: ResponseReader, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw abortReason(signal);
    const pool = await (this.#pool ??= this.#open());
    return withSystemAuthorities(() => this.#send(pool, request, reader, signal));
  }

  #send(pool: Pool, request: PostRequest, reader: ResponseReader, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(reader, signal, this.#options, { resolve, reject });
      const relayed = this.#relayHeaders;
      const headers = relayed === null ? (request.headers as string[]) : [...request.headers, ...relayed];
      const path = relayed === null ? request.path : this.#options.origin + request.path;
      pool.dispatch({ path, method: 'POST', headers, body: request.body }, exchange);
    });
  }

  async close(): Promise<void> {
    const pool = await this.#pool;
    this.#pool = null;
    await pool?.destroy();
  }

  async #open(): Promise<Pool> {
    const undici = await import('undici');
    const timeout = this.#options.connectTimeoutMs;
    return new undici.Pool(this.#options.origin, {
      connections: CONNECTIONS_MAX,
      pipelining: 1,
      allowH2: false,
      useMilo: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: this.#proxy === null ? { timeout } : connectorThrough(this.#proxy, timeout),
      // The router enforces the time limits; a slow local model may think for longer than the client's own defaults.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }
}

interface Outcome {
  readonly resolve: () => void;
  readonly reject: (error: AppError) => void;
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #reader: ResponseReader;
  readonly #signal: AbortSignal;
  readonly #options: HttpTransportOptions;
  readonly #outcome: Outcome;
  readonly #onAbort = (): void => this.#fail(abortReason(this.#signal));
  #controller: Dispatcher.DispatchController | null = null;
  #unpacker: UnpackedAnswer | null = null;
  #hasAnswered = false;
  #isSettled = false;
  #drainTimer: NodeJS.Timeout | null = null;

  constructor(reader: ResponseReader, signal: AbortSignal, options: HttpTransportOptions, outcome: Outcome) {
    this.#reader = reader;
    this.#signal = signal;
    this.#options = options;
    this.#outcome = outcome;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Aborted while waiting for a connection, so the request is not sent at all.
    if (this.#isSettled) controller.abort(new Error('no longer wanted'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isSettled || status < 200) return;
    this.#hasAnswered = true;
    const target = {
      data: (chunk: Buffer) => this.#data(chunk),
      end: () => this.#end(),
      failed: (error: AppError) => this.#fail(error),
    };
    this.#unpacker = unpackerFor(headers['content-encoding'], this.#options.provider, target);
    this.#guard(() => this.#reader.head(status, headers));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    if (this.#unpacker === null) this.#data(chunk);
    else this.#unpacker.data(chunk);
  }

  onResponseEnd(): void {
    if (this.#drainTimer !== null) clearTimeout(this.#drainTimer);
    if (this.#isSettled) return;
    if (this.#unpacker === null) this.#end();
    else this.#unpacker.end();
  }

  #data(chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#guard(() => {
      if (!this.#reader.data(chunk)) return;
      this.#settle();
      this.#drainTimer = setTimeout(() => this.#controller?.abort(new Error('answer was complete')), DRAIN_MS);
      this.#drainTimer.unref();
      this.#outcome.resolve();
    });
  }

  #end(): void {
    if (this.#isSettled) return;
    this.#guard(() => {
      this.#reader.end();
      this.#settle();
      this.#outcome.resolve();
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    if (this.#drainTimer !== null) clearTimeout(this.#drainTimer);
    if (this.#isSettled) return;
    this.#settle();
    const { provider, origin } = this.#options;
    this.#outcome.reject(mapNetworkError(cause, { provider, origin, hasAnswered: this.#hasAnswered }));
  }

  #guard(step: () => void): void {
    try {
      step();
    } catch (cause) {
      this.#fail(toAppError(cause));
    }
  }

  #fail(error: AppError): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#controller?.abort(error);
    this.#outcome.reject(error);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#unpacker?.drop();
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

/** Returns why a call was stopped: the signal's reason if it is an AppError (such as a timeout), else `cancelled`. */
export function abortReason(signal: AbortSignal): AppError {
  const reason: unknown = signal.reason;
  return reason instanceof AppError ? reason : new AppError('cancelled', 'The model call was stopped.');
}

// Decompresses an answer that a server or a proxy compressed although the request did not ask for it. Passes on each piece when it arrives.

interface UnpackedAnswer {
  data(chunk: Buffer): void;
  end(): void;
  /** Stops decompressing: the target gets no further calls. */
  drop(): void;
}

interface UnpackedTarget {
  data(chunk: Buffer): void;
  end(): void;
  failed(error: AppError): void;
}

const GZIP_START = 0x1f;

/** Null for an answer that is not compressed. If the header says gzip but the bytes are not gzip, they are passed on unchanged. */
function unpackerFor(encoding: unknown, provider: string, target: UnpackedTarget): UnpackedAnswer | null {
  if (encoding === 'br') return new Unpacker(createBrotliDecompress(), provider, target);
  if (encoding === 'deflate') return new Unpacker(createInflate(), provider, target);
  if (encoding !== 'gzip' && encoding !== 'x-gzip') return null;
  let chosen: UnpackedAnswer | null = null;
  return {
    data: (chunk) => {
      chosen ??= chunk[0] === GZIP_START ? new Unpacker(createGunzip(), provider, target) : { ...target, drop: () => undefined };
      chosen.data(chunk);
    },
    end: () => (chosen ?? target).end(),
    drop: () => chosen?.drop(),
  };
}

class Unpacker implements UnpackedAnswer {
  readonly #stream: Transform;

  constructor(stream: Transform, provider: string, target: UnpackedTarget) {
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => target.data(chunk));
    stream.on('end', () => target.end());
    stream.on('error', (cause) => {
      const message = `${provider} broke off in the middle of its answer.`;
      target.failed(new AppError('model_cut_off', message, { data: { provider }, cause, isRetryable: true }));
    });
  }

  data(chunk: Buffer): void {
    if (!this.#stream.destroyed) this.#stream.write(chunk);
  }

  end(): void {
    if (!this.#stream.destroyed) this.#stream.end();
  }

  drop(): void {
    this.#stream.destroy();
  }
}
