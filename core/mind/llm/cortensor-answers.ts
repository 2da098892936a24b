// Reads the answers of a Cortensor router tolerantly, because the public documents specify only top-level names. Covers its envelope, its
// three forms of errors, pending answers, verdicts with the votes of nodes, and the terms of a 402. Pure.

import { isPlainObject, parseJson } from '../../base/json.ts';
import { AppError, type ErrorCode } from '../../contracts/errors.ts';
import type { Usage } from '../../contracts/llm.ts';
import type { Verdict } from '../../contracts/features/verify.ts';
import { count } from './reply-reader.ts';

export interface CortensorVerdict {
  readonly verdict: Verdict;
  readonly reason: string;
  /** One vote for each node whose evidence is included. */
  readonly votes: readonly Verdict[];
}

const pendingStates: ReadonlySet<string> = new Set(['queued', 'pending', 'processing', 'running', 'in_progress']);
/** The state of a finished task in the task list. */
const doneState = 4;

const words: Readonly<Record<string, Verdict>> = {
  valid: 'VALID',
  true: 'VALID',
  supported: 'VALID',
  invalid: 'INVALID',
  false: 'INVALID',
  refuted: 'INVALID',
  retry: 'RETRY',
  needs_spec: 'NEEDS_SPEC',
  unverifiable: 'NEEDS_SPEC',
  mixed: 'NEEDS_SPEC',
};

/** The layers that may contain the content of an answer, outermost first: the portal wraps it in `data`, v2 and v3 in `result`. */
function layers(body: unknown): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  let at: unknown = body;
  for (let depth = 0; depth < 4 && isPlainObject(at); depth++) {
    found.push(at);
    at = at['data'] ?? at['result'] ?? at['final_answer'];
  }
  return found;
}

export function readVerdict(body: unknown): CortensorVerdict | null {
  const all = layers(body);
  const holder = all.find((layer) => verdictOf(layer) !== null);
  const verdict = holder === undefined ? null : verdictOf(holder);
  if (holder === undefined || verdict === null) {
    // A polled task contains its miner's answer as text.
    const told = parseJson(readText(body) ?? '');
    return told.ok && isPlainObject(told.value) && verdictOf(told.value) !== null ? readVerdict(told.value) : null;
  }
  const evidence = all.flatMap((layer) => ['replicas', 'runs', 'per_miner', 'evidence'].flatMap((key) => listIn(layer[key])));
  const votes = evidence.flatMap((one) => verdictOf(one) ?? []);
  const reasons = holder['reasons'] ?? holder['reason'] ?? holder['explanation'];
  const reason = Array.isArray(reasons)
    ? reasons.filter((one) => typeof one === 'string').join(' ')
    : typeof reasons === 'string'
      ? reasons
      : '';
  return { verdict, reason, votes };
}

function verdictOf(holder: Record<string, unknown>): Verdict | null {
  const said = holder['verdict'];
  return typeof said === 'string' ? (words[said.trim().toLowerCase()] ?? null) : null;
}

/** The text of a completion or a finished task, searched in the same order as the vendor's own client does; null if there is none. */
export function readText(body: unknown): string | null {
  for (const layer of layers(body).toReversed()) {
    const [choice] = listIn(layer['choices']);
    const message = choice !== undefined && isPlainObject(choice['message']) ? choice['message'] : {};
    const results = isPlainObject(layer['results']) ? layer['results']['data'] : undefined;
    const first: unknown = Array.isArray(results) ? results[0] : undefined;
    const candidates = [
      message['content'],
      choice?.['text'],
      choice?.['output_text'],
      layer['output_text'],
      layer['text'],
      layer['answer'],
      first,
    ];
    const text = candidates.find((one): one is string => typeof one === 'string' && one !== '' && !one.startsWith('urn:blob'));
    if (text !== undefined) return text;
  }
  return null;
}

/** Whether the answer is ready, and otherwise the task to poll. */
export function taskOf(body: unknown, sessionId: number | null): { isReady: boolean; sessionId: number | null; taskId: number | null } {
  const [outer = {}, ...inner] = layers(body);
  const all = [outer, ...inner];
  const isPending = all.some(
    ({ status }) => (typeof status === 'string' && pendingStates.has(status)) || (typeof status === 'number' && status !== doneState),
  );
  const isPointer =
    all.some((layer) => typeof layer['result_data'] === 'string' && layer['result_data'].startsWith('urn:blob')) && readText(body) === null;
  const taskId = numberIn(all, 'task_id');
  return { isReady: !isPending && !isPointer, taskId, sessionId: numberIn(all, 'session_id') ?? sessionId };
}

const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'model_rejected',
  401: 'model_auth',
  403: 'model_auth',
  404: 'model_unknown',
  422: 'model_rejected',
  429: 'model_rate_limited',
};

/**
 * Returns the error of a failed answer: by its status, or with status 200 by `error` (text or object) or the portal's `status: failed`.
 * Null if it did not fail.
 */
export function readError(provider: string, status: number, body: unknown): AppError | null {
  const all = layers(body);
  const told = all.map(messageOf).find((message) => message !== null) ?? null;
  const isFailed = all.some((layer) => layer['status'] === 'failed' || (layer['error'] !== undefined && layer['error'] !== null));
  if (status < 400 && !isFailed) return null;
  const code = status >= 400 ? (codes[status] ?? 'model_unavailable') : codeNamed(all);
  const said = told ?? `HTTP ${status}`;
  return new AppError(code, `${provider} refused: ${said.slice(0, 500)}`, { data: { provider, status } });
}

function codeNamed(all: readonly Record<string, unknown>[]): ErrorCode {
  const named = all
    .map((layer) => (isPlainObject(layer['error']) ? layer['error']['code'] : undefined))
    .find((code) => typeof code === 'string');
  if (named === 'AUTH_ERROR') return 'model_auth';
  if (named === 'INVALID_ARGUMENT') return 'model_rejected';
  if (named === 'RATE_LIMITED') return 'model_rate_limited';
  return named === 'TIMEOUT' ? 'model_timeout' : 'model_unavailable';
}

function messageOf(layer: Record<string, unknown>): string | null {
  const { error, message } = layer;
  if (typeof error === 'string' && error !== '') return error;
  if (isPlainObject(error) && typeof error['message'] === 'string') return error['message'];
  return typeof message === 'string' && message !== '' ? message : null;
}

/** Explains a 402 and its terms. It is never paid here: a person must approve a call of class spend for that. */
export function explainPayment(provider: string, path: string, body: unknown): AppError {
  const terms = listIn(isPlainObject(body) ? body['accepts'] : undefined).map((one) => {
    const amount = textOf(one['maxAmountRequired'] ?? one['amount'] ?? one['price']);
    const asset = textOf(one['asset'] ?? one['currency']);
    const network = textOf(one['network']);
    const payTo = textOf(one['payTo'] ?? one['recipient']);
    return `${amount ?? 'an amount it does not name'}${asset === null ? '' : ` of ${asset}`}${network === null ? '' : ` on ${network}`}${payTo === null ? '' : ` to ${payTo}`}`;
  });
  const wants = terms.length === 0 ? 'a payment it does not describe' : terms.join(', or ');
  const hint = 'Nothing was paid. To pay, put the proof of payment into the provider as `payment` and approve the call that spends it.';
  return new AppError('model_quota', `${provider} wants ${wants} for ${path}.`, { data: { provider, status: 402 }, hint });
}

/** Null if the router did not report a count. */
export function usageOf(body: unknown): Usage | null {
  const holder = typeof body === 'object' && body !== null ? (body as { usage?: unknown; data?: unknown }) : {};
  const told = holder.usage as { prompt_tokens?: unknown; completion_tokens?: unknown } | null | undefined;
  if (told === undefined || told === null) return holder.data === undefined ? null : usageOf(holder.data);
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = told;
  return typeof inputTokens === 'number' && typeof outputTokens === 'number'
    ? { inputTokens: count(inputTokens), outputTokens: count(outputTokens), cachedInputTokens: 0 }
    : null;
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : null;
}

function numberIn(all: readonly Record<string, unknown>[], key: string): number | null {
  const found = all.map((layer) => layer[key]).find((value) => typeof value === 'number');
  return typeof found === 'number' ? found : null;
}

function listIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}
