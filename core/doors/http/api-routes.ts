// The API behind the token: operations, ask, events. The runtime's own table validates the parameters.

import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import type { Logger } from '../../base/logger.ts';
import { placeHeader, type Claw } from '../../contracts/claw.ts';
import { parseGiven } from '../../contracts/parse-given.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { isOpName, type Caller, type OpName, type OpParams } from '../../contracts/ops.ts';
import { type AskResult } from '../../contracts/op-results.ts';
import { defaultEventStreamLimits, parseEventStreamQuery, streamEvents, type EventStreamLimits } from './event-stream.ts';
import { readJsonBody } from './request-body.ts';
import { refusal, sendRefusal, sendResult, type Refusal } from './reply.ts';

const streamsMax = 64;

export interface ApiOptions {
  readonly claw: Claw;
  readonly logger: Logger;
  readonly streamLimits?: Partial<EventStreamLimits>;
  /** Listens on loopback TCP as well, for a command line on the local socket. */
  readonly serve?: (port?: number) => Promise<{ readonly url: string }>;
}

export interface ApiRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly channel: Caller['channel'];
}

/** Only the fields that this route needs. `message.send` validates the rest. */
const askParamsSchema = z.strictObject({ text: z.string(), sessionId: z.string().optional(), agentId: z.string().optional() });
const serveParamsSchema = z.strictObject({ port: z.number().int().min(0).max(65_535).optional() });
const askedWords = { says: 'The request is not valid', whole: 'the body' };

export class ApiRoutes {
  readonly #options: ApiOptions;
  readonly #closing = new AbortController();
  readonly #idleListeners = new Set<() => void>();
  #openStreams = 0;
  #openRequests = 0;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  /** The number of operations in flight; event streams do not count. */
  get openRequests(): number {
    return this.#openRequests;
  }

  /** Resolves when no operation is in flight. */
  async whenIdle(): Promise<void> {
    while (this.#openRequests > 0) await new Promise<void>((resolve) => this.#idleListeners.add(resolve));
  }

  /** Ends every event stream. Operations in flight continue. */
  close(): void {
    this.#closing.abort();
  }

  async handle(api: ApiRequest): Promise<void> {
    const { path } = api;
    if (path === '/api/events') return this.#onMethod(api, 'GET', () => this.#streamEvents(api));
    if (path === '/api/ask') return this.#onMethod(api, 'POST', () => this.#run(api, (body, caller) => this.#ask(body, caller)));
    const { serve } = this.#options;
    if (path === '/api/serve' && serve !== undefined && api.channel === 'cli')
      return this.#onMethod(api, 'POST', () => this.#run(api, async (body) => serve(parseGiven(serveParamsSchema, body, askedWords).port)));
    if (path.startsWith('/api/ops/')) return this.#onMethod(api, 'POST', () => this.#runOp(api, path.slice('/api/ops/'.length)));
    return refuse(api, refusal(new AppError('not_found', 'There is nothing at this address.')));
  }

  #onMethod(api: ApiRequest, method: 'GET' | 'POST', serve: () => Promise<void>): Promise<void> {
    if (api.request.method === method) return serve();
    const error = new AppError('invalid_params', `This address answers ${method} only.`);
    return refuse(api, refusal(error, { allow: method }, 405));
  }

  #runOp(api: ApiRequest, name: string): Promise<void> {
    if (!isOpName(name) && /^[a-z][a-z0-9-]*\.[a-z]\w*$/.test(name)) {
      const call = async (params: unknown, caller: Caller): Promise<unknown> =>
        (await this.#options.claw.op('plugin.call', { operation: name, params }, caller)).result;
      return this.#run(api, call);
    }
    if (!isOpName(name))
      return refuse(api, refusal(new AppError('unknown_op', `There is no operation with the name ${JSON.stringify(name.slice(0, 100))}.`)));
    // The table's own schema validates the body: claw.op accepts any value and rejects an invalid one.
    return this.#run(api, (body, caller) => this.#options.claw.op(name, body as OpParams<OpName>, caller));
  }

  async #ask(body: unknown, caller: Caller): Promise<AskResult> {
    const { text, sessionId, agentId } = parseGiven(askParamsSchema, body, askedWords);
    const params = { text, ...(sessionId === undefined ? {} : { sessionId }), ...(agentId === undefined ? {} : { agentId }) };
    // A named session must exist, so that a mistyped id does not start a new conversation.
    if (sessionId !== undefined) await this.#options.claw.op('session.get', { sessionId, limit: 1 }, caller);
    const { turnId } = await this.#options.claw.op('message.send', params, caller);
    return this.#options.claw.op('turn.wait', { turnId }, caller);
  }

  async #run(api: ApiRequest, perform: (body: unknown, caller: Caller) => Promise<unknown>): Promise<void> {
    const body = await readJsonBody(api.request);
    if (!body.ok) return refuse(api, body.error);
    const gone = new AbortController();
    api.response.once('close', () => gone.abort());
    this.#openRequests += 1;
    this.#sayPlace(api);
    try {
      const result = await perform(body.value, { channel: api.channel, actor: api.channel, signal: gone.signal });
      await sendResult(api.response, result);
    } catch (cause) {
      sendRefusal(api.request, api.response, refusal(this.#outward(cause)));
    } finally {
      this.#openRequests -= 1;
      if (this.#openRequests === 0) this.#tellIdle();
    }
  }

  async #streamEvents(api: ApiRequest): Promise<void> {
    const query = parseEventStreamQuery(api.query, api.request.headersDistinct['last-event-id']?.[0]);
    if (typeof query === 'string') return refuse(api, refusal(new AppError('invalid_params', query)));
    if (this.#openStreams >= streamsMax) return refuse(api, refusal(new AppError('queue_full', 'Too many event streams are open.')));
    this.#openStreams += 1;
    try {
      this.#sayPlace(api);
      const limits = { ...defaultEventStreamLimits, ...this.#options.streamLimits };
      await streamEvents(this.#options.claw, api.response, query, { ...limits, signal: this.#closing.signal });
    } finally {
      this.#openStreams -= 1;
    }
  }

  /** Sends the log position. The response includes every event up to it, and a stream from `latest` every later one. */
  #sayPlace({ response }: ApiRequest): void {
    const { lastSeq } = this.#options.claw;
    if (lastSeq !== undefined) response.setHeader(placeHeader, lastSeq);
  }

  /** The message of an unexpected error may name anything, so it goes to the log and is not sent to the client. */
  #outward(cause: unknown): AppError {
    if (isAppError(cause)) return cause;
    this.#options.logger.log('error', 'an operation failed unexpectedly', {
      cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
    });
    return new AppError('internal', 'Something unexpected happened inside; the log has the details.');
  }

  #tellIdle(): void {
    for (const listener of this.#idleListeners) listener();
    this.#idleListeners.clear();
  }
}

function refuse(api: ApiRequest, refused: Refusal): Promise<void> {
  sendRefusal(api.request, api.response, refused);
  return Promise.resolve();
}
