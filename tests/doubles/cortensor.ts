// For tests only: a Cortensor router on loopback, as its documentation describes it, and the hosted portal. Strict: it refuses a wrong key,
// a body without the documented fields, malformed tools, and an unknown session. Counts POSTs and the tasks that would be paid for.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CortensorKnobs {
  key?: string;
  sessions?: readonly number[];
  /** Where the session id is accepted; the other form gets a 404. */
  sessionIn?: 'body' | 'path';
  /** Number of polls until a completion or validation is ready. */
  pending?: number;
  /** Returns an off-chain pointer instead of text until the task was polled this many times. */
  urn?: number;
  /** Omits the task id, so that the result cannot be polled. */
  hidesTask?: boolean;
  error?: unknown;
  status?: number;
  verdict?: string;
  votes?: readonly string[];
  text?: string;
  /** Interleaves the output of a second miner. */
  streams?: boolean;
  /** Ends a stream without its final event. */
  breaksOff?: boolean;
  /** Requires this X-PAYMENT header. */
  payment?: string;
  /** The portal refuses this many requests with a rate limit before it answers. */
  limited?: number;
  delayMs?: number;
}

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly payment: string | undefined;
}

export class Cortensor {
  knobs: CortensorKnobs = {};
  readonly seen: Seen[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #tasks = new Map<number, { left: number; result: Record<string, unknown> }>();
  #nextTask = 41;

  static async start(): Promise<Cortensor> {
    const double = new Cortensor();
    await new Promise<void>((resolve) => double.#server.listen(0, '127.0.0.1', resolve));
    return double;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The number of POSTs that ran a paid task. */
  get paid(): number {
    return this.#nextTask - 41;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString('utf8');
    const path = request.url ?? '';
    const payment = request.headers['x-payment'];
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    this.seen.push({ method: request.method ?? '', path, body, payment: typeof payment === 'string' ? payment : undefined });
    const send = (status: number, answer: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
    };
    if (this.knobs.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, this.knobs.delayMs));
    if (path === '/api/v1/ping') return send(200, { status: 'ok' });
    if (request.headers.authorization !== `Bearer ${this.knobs.key ?? 'default-dev-token'}`) return send(401, { error: 'Unauthorized' });
    if (request.method === 'GET') return this.#get(path, send);
    if (this.knobs.payment !== undefined && payment !== this.knobs.payment) return send(402, terms);
    if (this.knobs.error !== undefined) return send(this.knobs.status ?? 200, this.knobs.error);
    this.#post(path, body, { response, send });
  }

  #post(
    path: string,
    body: Record<string, unknown>,
    { response, send }: { response: ServerResponse; send: (status: number, answer: unknown) => void },
  ): void {
    const completions = /^\/api\/v[123]\/completions(?:\/(\d+))?$/.exec(path);
    if (completions !== null) return this.#complete(completions[1], body, { response, send });
    const judged = /^\/api\/(v[123])\/(validate|delegate)$/.exec(path);
    if (judged !== null) return this.#judge(judged[1] ?? '', judged[2] ?? '', body, send);
    if (path === '/api/v1/factcheck' || path === '/api/v1/fact-check') return this.#factcheck(body, send);
    if (path === '/v1/chat/completions') return this.#chat(body, { response, send });
    send(404, { error: 'Not found' });
  }

  #get(path: string, send: (status: number, answer: unknown) => void): void {
    if (path !== '/v1/models') return this.#task(path, send);
    send(200, { object: 'list', data: [{ id: 'oss-20b', object: 'model' }] });
  }

  #task(path: string, send: (status: number, answer: unknown) => void): void {
    const [, sessionId, taskId] = /^\/api\/v1\/tasks\/(\d+)\/(\d+)$/.exec(path) ?? [];
    const task = this.#tasks.get(Number(taskId));
    if (task === undefined || !this.#sessions.includes(Number(sessionId))) return send(404, { error: 'No such task' });
    task.left -= 1;
    if (task.left > 0) return send(200, { status: 1, assigned_miners: ['0x1'], results: { data: [], miners: [] } });
    send(200, { status: 4, assigned_miners: ['0x1'], ...task.result });
  }

  #complete(
    inPath: string | undefined,
    body: Record<string, unknown>,
    { response, send }: { response: ServerResponse; send: (status: number, answer: unknown) => void },
  ): void {
    const form = this.knobs.sessionIn ?? 'body';
    if ((form === 'path') !== (inPath !== undefined)) return send(404, { error: 'Not found' });
    const missing = this.#missing(body, ['prompt', 'max_tokens', 'prompt_type', 'timeout', 'precommit_timeout', 'stream']);
    if (missing !== null) return send(422, { error: { code: 'INVALID_ARGUMENT', message: `${missing} is required` } });
    if (Number(body['timeout']) < Number(body['precommit_timeout']) + 60)
      return send(422, { error: { code: 'INVALID_ARGUMENT', message: 'timeout must be at least precommit_timeout + 60' } });
    if (!this.#sessions.includes(Number(inPath ?? body['session_id']))) return send(422, { error: 'No such session' });
    const taskId = this.#nextTask++;
    const text = this.knobs.text ?? 'Hello from a miner.';
    if (body['stream'] === true && this.knobs.streams === true) return this.#stream(taskId, text, response);
    const answer = completion(taskId, text);
    this.#answer(taskId, answer, { results: { data: [text], miners: ['0x1'] } }, send);
  }

  /** The portal. A refused request is not paid. */
  #chat(
    body: Record<string, unknown>,
    { response, send }: { response: ServerResponse; send: (status: number, answer: unknown) => void },
  ): void {
    const refuse = (message: string): void => send(422, envelope({ code: 'INVALID_ARGUMENT', message, details: {} }));
    if (typeof body['model'] !== 'string' || !Array.isArray(body['messages'])) return refuse('model and messages are required');
    const tools = (body['tools'] ?? []) as readonly { type?: unknown; function?: { name?: unknown; parameters?: unknown } }[];
    const isWhole = tools.every(
      ({ type, function: made }) => type === 'function' && typeof made?.name === 'string' && typeof made.parameters === 'object',
    );
    if (!isWhole) return refuse('malformed tools');
    if (!['auto', 'none', 'required', undefined].includes(body['tool_choice'] as string | undefined))
      return refuse('malformed tool_choice');
    const { limited = 0 } = this.knobs;
    if (limited > 0) {
      this.knobs = { ...this.knobs, limited: limited - 1 };
      return send(429, envelope({ code: 'RATE_LIMITED', message: 'slow down', details: {} }));
    }
    const taskId = this.#nextTask++;
    const text = this.knobs.text ?? 'Hello from the portal.';
    if (body['stream'] !== true) {
      const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
      return send(200, { id: `c-${taskId}`, object: 'chat.completion', model: body['model'], choices });
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const say = (delta: object, finish: string | null): void => {
      const choices = [{ index: 0, delta, finish_reason: finish }];
      response.write(`data: ${JSON.stringify({ id: `c-${taskId}`, object: 'chat.completion.chunk', model: body['model'], choices })}\n\n`);
    };
    for (const word of text.match(/\S+\s*/g) ?? []) say({ content: word }, null);
    if (this.knobs.breaksOff === true) return void setTimeout(() => response.destroy(), 50);
    say({}, 'stop');
    response.end('data: [DONE]\n\n');
  }

  #stream(taskId: number, text: string, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const words = text.match(/\S+\s*/g) ?? [];
    for (const word of words) {
      response.write(`data: ${JSON.stringify({ task_id: taskId, choices: [{ text: word }] })}\n\n`);
      response.write(`data: ${JSON.stringify({ task_id: taskId + 1000, content: 'OTHER ' })}\n\n`);
    }
    if (this.knobs.breaksOff === true) return void setTimeout(() => response.destroy(), 50);
    response.write(`data: ${JSON.stringify({ task_id: taskId, choices: [{ text: '', finish_reason: 'stop' }] })}\n\n`);
    response.end('data: [DONE]\n\n');
  }

  #judge(version: string, kind: string, body: Record<string, unknown>, send: (status: number, answer: unknown) => void): void {
    const fields = judgedFields[kind]?.[version] ?? [];
    const missing = this.#missing(body, fields);
    if (missing !== null) return send(422, { error: { code: 'INVALID_ARGUMENT', message: `${missing} is required` } });
    if (body['session_id'] !== undefined && !this.#sessions.includes(Number(body['session_id'])))
      return send(422, { error: 'No such session' });
    const taskId = this.#nextTask++;
    const verdict = this.knobs.verdict ?? 'VALID';
    const votes = (this.knobs.votes ?? [verdict, verdict, verdict]).map((one) => ({ miner: '0x1', verdict: one }));
    const judged = kind === 'validate' ? { verdict, reasons: ['as asked'] } : { answer: this.knobs.text ?? 'done' };
    const result = { ...judged, ...(version === 'v3' ? { replicas: votes, consensus: { strategy: 'majority' } } : {}), echo: body };
    this.#answer(taskId, version === 'v1' ? result : { result }, { results: { data: [JSON.stringify(result)], miners: ['0x1'] } }, send);
  }

  #factcheck(body: Record<string, unknown>, send: (status: number, answer: unknown) => void): void {
    const missing = this.#missing(body, ['claim', 'mode']);
    if (missing !== null) return send(422, { error: { message: `${missing} is required` } });
    if (Number(body['redundancy'] ?? 3) < 3) return send(422, { message: 'redundancy must be at least 3' });
    this.#nextTask += 1;
    const verdict = this.knobs.verdict ?? 'TRUE';
    const runs = (this.knobs.votes ?? [verdict, verdict, verdict]).map((one) => ({ miner: '0x1', verdict: one }));
    send(200, { verdict, confidence: 0.9, explanation: 'three runs', runs });
  }

  #answer(
    taskId: number,
    whole: Record<string, unknown>,
    result: Record<string, unknown>,
    send: (status: number, answer: unknown) => void,
  ): void {
    const { pending = 0, urn = 0, hidesTask = false } = this.knobs;
    if (pending + urn === 0) return send(200, { task_id: taskId, ...whole });
    this.#tasks.set(taskId, { left: pending + urn, result });
    const id = hidesTask ? {} : { task_id: taskId };
    if (urn > 0) return send(200, { status: 'ended', message: 'No content', result_data: 'urn:blob:v2:s3:aws:prod:x_result', ...id });
    send(200, { status: 'pending', ...id });
  }

  get #sessions(): readonly number[] {
    return this.knobs.sessions ?? [1];
  }

  #missing(body: Record<string, unknown>, fields: readonly string[]): string | null {
    return fields.find((field) => body[field] === undefined) ?? null;
  }
}

/** The form of every portal answer that is not a completion. */
function envelope(error: object): object {
  return { request_id: 'r-1', status: 'failed', model: 'oss-20b', router_pool: 'pool', data: null, error };
}

const judgedFields: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  validate: {
    v1: ['task_request_input', 'task_result_output', 'task_domain', 'task_type', 'evaluation_mode'],
    v2: ['session_id', 'claim', 'policy', 'context'],
    v3: ['session_id', 'claim', 'policy', 'context', 'consensus'],
  },
  delegate: {
    v1: ['task_request_input'],
    v2: ['session_id', 'objective', 'input', 'execution', 'policy'],
    v3: ['session_id', 'objective', 'input', 'execution', 'policy', 'consensus'],
  },
};

const terms = {
  x402Version: 1,
  accepts: [{ scheme: 'exact', network: 'arbitrum', maxAmountRequired: '25000', asset: 'COR', payTo: '0xabc' }],
};

function completion(taskId: number, text: string): Record<string, unknown> {
  const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
  const choices = [{ index: 0, text, finish_reason: 'stop', logprobs: null }];
  return { id: `cmpl-${taskId}`, object: 'text_completion', created: 1_780_000_000, model: 'gpt-oss-20b', choices, usage };
}
