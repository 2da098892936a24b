// A model server on loopback that answers from a script, in four wire formats: OpenAI chat completions and responses and Anthropic messages
// (all as server-sent events), and Ollama's NDJSON. It records its requests and refuses those that the imitated vendor refuses. For tests
// only.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPlainObject, parseJson } from '../../core/base/json.ts';
import type { ConfigInput } from '../../core/contracts/config.ts';
import { encodeRefusal, type Refusal } from './scripted-model-refusals.ts';
import { readRequest, type ModelRequestSeen, type WireFormat } from './scripted-model-requests.ts';
import { encodeReply, type Reply } from './scripted-model-replies.ts';
import { refusalWords, vendorRefusal, type Vendor } from './vendors/vendors.ts';

export type { ModelRequestSeen, WireFormat } from './scripted-model-requests.ts';
export type { Reply, ScriptedCall, Trouble } from './scripted-model-replies.ts';
export type { Refusal, RefusalKind } from './scripted-model-refusals.ts';

export type Answer =
  | Reply
  | Refusal
  /** Accepts the request and never sends anything, not even headers. */
  | { readonly silent: true }
  /** Sent byte for byte; `ending: 'hang'` leaves the connection open, 'drop' cuts it. */
  | {
      readonly raw: string | Buffer;
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly ending?: 'end' | 'drop' | 'hang';
    };

export interface Rule {
  /** Text or pattern in the newest user message, the number of tool results after it, or any other condition. */
  readonly user?: string | RegExp;
  readonly results?: number;
  readonly when?: (request: ModelRequestSeen) => boolean;
  /** How many times the rule may answer; no limit by default. */
  readonly times?: number;
  readonly answer: Answer | ((request: ModelRequestSeen) => Answer);
}

export interface ScriptedModelOptions {
  /** Requests with another key are refused with 401. */
  readonly key?: string;
  /** The vendor whose rules apply to requests in the OpenAI chat format; OpenAI by default. */
  readonly vendor?: Exclude<Vendor, 'anthropic' | 'ollama' | 'responses'>;
}

const paths: Readonly<Record<string, WireFormat>> = {
  '/v1/chat/completions': 'openai',
  '/v1/responses': 'responses',
  '/v1/messages': 'anthropic',
  '/api/chat': 'ollama',
};

export class ScriptedModel {
  /** Every model request, in order of arrival. */
  readonly requests: ModelRequestSeen[] = [];
  /** Requests that a vendor would have refused. A test that expects well-formed conversations asserts that this is empty. */
  readonly violations: string[] = [];
  readonly #server: Server;
  readonly #options: ScriptedModelOptions;
  readonly #closing = new AbortController();
  #rules: { readonly rule: Rule; used: number }[] = [];
  #turns = 0;

  private constructor(options: ScriptedModelOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#handle(request, response));
    this.#server.keepAliveTimeout = 1_000;
  }

  /** The first matching rule answers. A request that no rule matches gets a 400 with that explanation. */
  static async start(rules: readonly Rule[] = [], options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
    const model = new ScriptedModel(options);
    model.script(rules);
    await new Promise<void>((resolve) => model.#server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  script(rules: readonly Rule[]): void {
    this.#rules = rules.map((rule) => ({ rule, used: 0 }));
  }

  /** Config of a runtime that uses this server; with a key, the key's value is read from the environment variable MODEL_KEY. */
  config(format: WireFormat): Pick<ConfigInput, 'providers' | 'models'> {
    const key = this.#options.key === undefined ? {} : { apiKey: 'env:MODEL_KEY' };
    const providers: Readonly<Record<WireFormat, NonNullable<ConfigInput['providers']>[string]>> = {
      openai: { kind: 'openai-compatible', baseUrl: `${this.origin}/v1`, ...key },
      responses: { kind: 'openai-compatible', format: 'responses', baseUrl: `${this.origin}/v1`, ...key },
      anthropic: { kind: 'anthropic', baseUrl: this.origin, apiKey: 'env:MODEL_KEY' },
      ollama: { kind: 'ollama', baseUrl: this.origin },
    };
    return { providers: { lab: providers[format] }, models: { default: 'lab/scripted' } };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const path = new URL(request.url ?? '/', 'http://loopback').pathname;
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const format = paths[path];
      if (format === undefined || request.method !== 'POST') this.#other(path, request, response);
      else await this.#answer(format, request, Buffer.concat(parts).toString('utf8'), response);
    } catch (cause) {
      // The client disconnected or the test ended; other errors must be visible.
      if (this.#closing.signal.aborted || response.destroyed || request.destroyed) return;
      response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: String(cause) } }));
    }
  }

  async #answer(format: WireFormat, request: IncomingMessage, bodyText: string, response: ServerResponse): Promise<void> {
    const parsed = parseJson(bodyText);
    if (!parsed.ok || !isPlainObject(parsed.value)) {
      sendRefusal(response, format, { refuse: 'rejected', message: 'The request is not a JSON object.' });
      return;
    }
    const seen = readRequest(format, this.requests.length, { headers: request.headers, body: parsed.value, bodyBytes: bodyText.length });
    this.requests.push(seen);
    const no = vendorRefusal(format === 'openai' ? (this.#options.vendor ?? 'openai') : format, parsed.value);
    if (no !== null) {
      this.violations.push(refusalWords(no));
      response.writeHead(no.status, { 'content-type': 'application/json' }).end(JSON.stringify(no.body));
      return;
    }
    if (this.#options.key !== undefined && seen.key !== this.#options.key) {
      sendRefusal(response, format, { refuse: 'unauthorized' });
      return;
    }
    await this.#send(this.#choose(seen), seen, response);
  }

  #choose(seen: ModelRequestSeen): Answer {
    const entry = this.#rules.find(({ rule, used }) => used < (rule.times ?? Infinity) && matches(rule, seen));
    if (entry === undefined) {
      const message = `No rule of the script matches: ${seen.toolResults.length} results after "${seen.userText.slice(0, 80)}".`;
      this.violations.push(message);
      return { refuse: 'rejected', message };
    }
    entry.used += 1;
    const { answer } = entry.rule;
    return typeof answer === 'function' ? answer(seen) : answer;
  }

  async #send(answer: Answer, seen: ModelRequestSeen, response: ServerResponse): Promise<void> {
    if ('silent' in answer) return;
    if ('refuse' in answer) {
      sendRefusal(response, seen.format, answer);
      return;
    }
    if ('raw' in answer) {
      response.writeHead(answer.status ?? 200, { 'content-type': 'text/event-stream', ...answer.headers });
      response.write(answer.raw);
      endAs(response, answer.ending ?? 'end');
      return;
    }
    this.#turns += 1;
    await this.#stream(answer, seen, response);
  }

  async #stream(reply: Reply, seen: ModelRequestSeen, response: ServerResponse): Promise<void> {
    const { contentType, frames, ending } = encodeReply(seen, reply, this.#turns);
    const { signal } = this.#closing;
    if (reply.firstDelayMs !== undefined) await sleep(reply.firstDelayMs, undefined, { signal });
    response.writeHead(200, { 'content-type': contentType });
    for (const [at, frame] of frames.entries()) {
      if (response.destroyed) return;
      await writeFrame(response, frame, reply.chunkBytes);
      if (reply.delayMs !== undefined) await sleep(reply.delayMs, undefined, { signal });
      await reply.holds?.find(({ afterFrames }) => afterFrames === at + 1)?.until;
    }
    endAs(response, ending);
  }

  /** Other client requests: model lists, which need the key as well. */
  #other(path: string, request: IncomingMessage, response: ServerResponse): void {
    const { authorization, 'x-api-key': apiKey } = request.headers;
    const { key } = this.#options;
    if (key !== undefined && authorization !== `Bearer ${key}` && apiKey !== key) {
      sendRefusal(response, apiKey === undefined ? 'openai' : 'anthropic', { refuse: 'unauthorized' });
      return;
    }
    const document =
      path === '/v1/models'
        ? { object: 'list', data: [{ id: 'scripted', object: 'model', owned_by: 'tests' }] }
        : path === '/api/tags'
          ? { models: [{ name: 'scripted', model: 'scripted', size: 1 }] }
          : null;
    response.writeHead(document === null ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document ?? { error: { message: `There is nothing at ${path}.`, type: 'not_found_error' } }));
  }
}

function matches(rule: Rule, seen: ModelRequestSeen): boolean {
  if (typeof rule.user === 'string' && !seen.userText.includes(rule.user)) return false;
  if (rule.user instanceof RegExp && !rule.user.test(seen.userText)) return false;
  if (rule.results !== undefined && rule.results !== seen.toolResults.length) return false;
  return rule.when?.(seen) ?? true;
}

function sendRefusal(response: ServerResponse, format: WireFormat, refusal: Refusal): void {
  const { status, headers, body } = encodeRefusal(format, refusal);
  response.writeHead(status, headers).end(body);
}

/** Writes one frame at once, or in pieces cut anywhere: in a line, a word or a character. */
async function writeFrame(response: ServerResponse, frame: string, chunkBytes: number | undefined): Promise<void> {
  const bytes = Buffer.from(frame);
  const size = chunkBytes ?? bytes.length;
  for (let at = 0; at < bytes.length; at += size) {
    const isTaken = response.write(bytes.subarray(at, at + size));
    if (chunkBytes !== undefined) await new Promise<void>((resolve) => setImmediate(resolve));
    else if (!isTaken && !response.destroyed) await drained(response);
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

function endAs(response: ServerResponse, ending: 'end' | 'drop' | 'hang'): void {
  if (ending === 'end') response.end();
  // Send the written bytes first, then cut the connection.
  else if (ending === 'drop') setImmediate(() => response.destroy());
}
