// A Cortensor router as a service: JSON over HTTP, errors in its three forms, pending answers, verdicts. A POST that may have been paid for
// is never repeated; a task with a known id is polled instead.

import type { Clock } from '../../base/clock.ts';
import { sleep } from '../../base/waits.ts';
import { parseJson } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ProviderConfig } from '../../contracts/config.ts';
import { explainPayment, readError, readText, readVerdict, taskOf, type CortensorVerdict } from './cortensor-answers.ts';
import { mapNetworkError } from './network-errors.ts';
import { requestOnce } from './single-request.ts';

export type { CortensorVerdict } from './cortensor-answers.ts';

export type CortensorConfig = Extract<ProviderConfig, { kind: 'cortensor' }>;

const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const POLL_FIRST_MS = 250;
const POLL_MS_MAX = 4_000;
const portalUrl = 'https://api.cortensor.app';

export interface CortensorRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Record<string, unknown>;
  /** Proof of a payment that a person approved. */
  readonly payment?: string;
  readonly timeoutMs: number;
}

export interface CortensorReply {
  readonly status: number;
  readonly body: unknown;
}

export interface CortensorDeps {
  readonly secrets: { resolve(ref: string): Promise<string> };
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

export class CortensorRouter {
  readonly #provider: string;
  readonly #config: CortensorConfig;
  readonly #secrets: CortensorDeps['secrets'];
  readonly #clock: CortensorDeps['clock'];

  constructor(provider: string, config: CortensorConfig, { secrets, clock }: CortensorDeps) {
    this.#provider = provider;
    this.#config = config;
    this.#secrets = secrets;
    this.#clock = clock;
  }

  get sessionId(): number | null {
    return this.#config.sessionId ?? null;
  }

  get host(): string {
    return new URL(this.#config.baseUrl ?? portalUrl).hostname;
  }

  get hasPayment(): boolean {
    return this.#config.payment !== undefined;
  }

  /** The payment proof from config.yaml, for calls whose payment the person approves; null if there is none. */
  async payment(): Promise<string | null> {
    return this.#config.payment === undefined ? null : (await this.#secrets.resolve(this.#config.payment)).trim();
  }

  /** Asks the network for a verdict. Fails with `model_*`, also if the verdict is not ready in time. */
  async judge(
    question: { readonly api: 'v1' | 'v2' | 'v3' | 'factcheck'; readonly body: Record<string, unknown>; readonly timeoutMs: number },
    signal: AbortSignal,
  ): Promise<CortensorVerdict> {
    const path = question.api === 'factcheck' ? '/api/v1/factcheck' : `/api/${question.api}/validate`;
    const body = await this.result({ method: 'POST', path, body: this.#withSession(question.body), timeoutMs: question.timeoutMs }, signal);
    const verdict = readVerdict(body);
    if (verdict === null)
      throw new AppError('model_bad_reply', `${this.#provider} answered without a verdict.`, { data: { provider: this.#provider } });
    return verdict;
  }

  /** Sends one POST and returns its final answer. A pending answer is polled for; the POST is never repeated. */
  async result(request: CortensorRequest, signal: AbortSignal): Promise<unknown> {
    const untilMs = this.#clock.monotonicMs() + request.timeoutMs;
    const { body } = await this.send(request, signal);
    return this.finish(body, { timeoutMs: untilMs - this.#clock.monotonicMs() }, signal);
  }

  /** Returns the final answer to a POST, polling until it is ready. */
  async finish(body: unknown, { timeoutMs }: { readonly timeoutMs: number }, signal: AbortSignal): Promise<unknown> {
    const untilMs = this.#clock.monotonicMs() + timeoutMs;
    const task = taskOf(body, this.sessionId);
    if (task.isReady) return body;
    if (task.sessionId === null || task.taskId === null) throw this.#notReady('gives no task to wait for');
    const path = `/api/v1/tasks/${task.sessionId}/${task.taskId}`;
    for (let waitMs = POLL_FIRST_MS; this.#clock.monotonicMs() + waitMs < untilMs; waitMs = Math.min(waitMs * 2, POLL_MS_MAX)) {
      if (!(await sleep(waitMs, signal))) throw new AppError('cancelled', 'The call was stopped.');
      const polled = await this.send({ method: 'GET', path, timeoutMs: Math.max(1, untilMs - this.#clock.monotonicMs()) }, signal);
      if (taskOf(polled.body, this.sessionId).isReady && readText(polled.body) !== null) return polled.body;
    }
    throw this.#notReady('was not ready in time');
  }

  /** Sends one request. Fails with `model_*` for every response that is not an answer. */
  async send(request: CortensorRequest, signal: AbortSignal): Promise<CortensorReply> {
    const provider = this.#provider;
    const { status, text } = await this.#exchange(request, signal);
    const parsed = parseJson(text);
    const body: unknown = parsed.ok ? parsed.value : text;
    if (status === 402) throw explainPayment(provider, request.path, body);
    const problem = readError(provider, status, body);
    if (problem !== null) throw problem;
    if (!parsed.ok) throw new AppError('model_bad_reply', `${provider} answered with something that is not JSON.`, { data: { provider } });
    return { status, body };
  }

  async headers(payment?: string): Promise<Record<string, string>> {
    const { apiKey, headers = {} } = this.#config;
    const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const key = apiKey === undefined ? null : (await this.#secrets.resolve(apiKey)).trim();
    return {
      accept: 'application/json',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(payment === undefined ? {} : { 'x-payment': payment }),
      ...own,
    };
  }

  url(path: string): URL {
    const base = this.#config.baseUrl ?? portalUrl;
    return new URL(base.replace(/\/+$/, '') + path);
  }

  #withSession(body: Record<string, unknown>): Record<string, unknown> {
    return this.sessionId === null ? body : { session_id: this.sessionId, ...body };
  }

  #notReady(what: string): AppError {
    const hint = 'It may still be paid for; look at the tasks of the session before you ask again.';
    return new AppError('model_timeout', `The answer of ${this.#provider} ${what}.`, { data: { provider: this.#provider }, hint });
  }

  async #exchange(
    { method, path, body, payment, timeoutMs }: CortensorRequest,
    signal: AbortSignal,
  ): Promise<{ status: number; text: string }> {
    const url = this.url(path);
    const headers = await this.headers(payment);
    const deadline = AbortSignal.timeout(Math.ceil(timeoutMs));
    const provider = this.#provider;
    try {
      const ends = AbortSignal.any([signal, deadline]);
      return await requestOnce(url, { method, headers, body, bytesMax: ANSWER_BYTES_MAX, signal: ends });
    } catch (cause) {
      if (signal.aborted) throw new AppError('cancelled', 'The call was stopped.');
      if (deadline.aborted)
        throw new AppError('model_timeout', `${provider} did not answer within ${timeoutMs} ms.`, { data: { provider } });
      throw onceOnly(mapNetworkError(cause, { provider, origin: url.origin, hasAnswered: false }));
    }
  }
}

/** An interrupted request may have been accepted and paid for, so it is never retried automatically. */
function onceOnly({ code, message, data, cause }: AppError): AppError {
  return new AppError(code, message, { data, cause });
}
