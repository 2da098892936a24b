// The effect of a failed model call on a route: whether another candidate is asked, and what cools down for how long. One row per class of
// error. Pure; decides by error codes and the parsed failure, never by text.

import type { AppError, ErrorCode } from '../../../contracts/errors.ts';

export type FailureClass =
  | 'key'
  | 'quota'
  | 'rate limit'
  | 'server'
  | 'connect'
  | 'timeout'
  | 'broken'
  | 'bad reply'
  | 'unknown model'
  | 'rejected'
  | 'too long'
  | 'refusal'
  | 'stop';

/** The scope of a cool-down. A rate limit covers one key and one model: other models of the provider still answer. */
export type CoolScope = 'key' | 'key and model' | 'model' | 'server';

export interface FailoverRule {
  /** Whether the next candidate is asked. */
  readonly advances: boolean;
  /** Whether the same candidate may answer if it is asked again in the same step. */
  readonly mayRecover: boolean;
  readonly cools: CoolScope | null;
  /** The first cool-down; each further failure doubles it up to `coolMsMax`. A server's own `retry-after` overrides both. */
  readonly coolMs: number;
  readonly coolMsMax: number;
}

const MINUTE_MS = 60_000;
const short = { coolMs: 15_000, coolMsMax: 5 * MINUTE_MS };
/** A spend cap can state hours; a person who raised it does not have to wait that long. */
export const longestCoolMs = 60 * MINUTE_MS;
const long = { coolMs: 10 * MINUTE_MS, coolMsMax: longestCoolMs };
const none = { cools: null, coolMs: 0, coolMsMax: 0 } as const;

export const failoverTable: Readonly<Record<FailureClass, FailoverRule>> = {
  key: { advances: true, mayRecover: false, cools: 'key', ...long },
  quota: { advances: true, mayRecover: false, cools: 'key', ...long },
  'rate limit': { advances: true, mayRecover: true, cools: 'key and model', coolMs: 30_000, coolMsMax: 5 * MINUTE_MS },
  server: { advances: true, mayRecover: true, cools: 'model', ...short },
  connect: { advances: true, mayRecover: true, cools: 'server', coolMs: 10_000, coolMsMax: 5 * MINUTE_MS },
  timeout: { advances: true, mayRecover: true, cools: 'model', coolMs: 30_000, coolMsMax: 5 * MINUTE_MS },
  broken: { advances: true, mayRecover: true, cools: 'model', ...short },
  'bad reply': { advances: true, mayRecover: true, cools: 'model', ...short },
  'unknown model': { advances: true, mayRecover: false, cools: 'model', ...long },
  // Another server may accept the request: nothing is wrong with the model.
  rejected: { advances: true, mayRecover: false, ...none },
  // Advances only to a candidate with a larger window; otherwise a smaller request is built.
  'too long': { advances: true, mayRecover: false, ...none },
  // A refusal is an answer: asking another model would circumvent the vendor.
  refusal: { advances: false, mayRecover: false, ...none },
  stop: { advances: false, mayRecover: false, ...none },
};

const byCode: Readonly<Partial<Record<ErrorCode, FailureClass>>> = {
  model_auth: 'key',
  secret_missing: 'key',
  keychain_unavailable: 'key',
  vault_locked: 'key',
  model_quota: 'quota',
  model_rate_limited: 'rate limit',
  model_timeout: 'timeout',
  model_cut_off: 'broken',
  model_bad_reply: 'bad reply',
  model_unknown: 'unknown model',
  model_context_overflow: 'too long',
  invalid_config: 'rejected',
};

export function classOf({ code, data }: AppError): FailureClass {
  if (code === 'model_unavailable') return typeof data['status'] === 'number' ? 'server' : 'connect';
  if (code === 'model_rejected') return data['refusal'] === true ? 'refusal' : 'rejected';
  return byCode[code] ?? 'stop';
}

/** The reason to show for a candidate that is cooling down. */
export const failureWords: Readonly<Record<FailureClass, string>> = {
  key: 'its key was refused or could not be read',
  quota: 'its account has no credit left',
  'rate limit': 'it asked to slow down',
  server: 'its server failed',
  connect: 'its server could not be reached',
  timeout: 'it took too long to answer',
  broken: 'its answer broke off',
  'bad reply': 'it sent no usable answer',
  'unknown model': 'its server does not know the model',
  rejected: 'it refused the request',
  'too long': 'the request was too long for it',
  refusal: 'it refused to answer',
  stop: 'the call was stopped',
};

/** How long to avoid it after this many failures in a row, 1 for the first. */
export function coolMsOf(rule: FailoverRule, failures: number, retryAfterMs: number | null): number {
  if (retryAfterMs !== null) return Math.min(Math.max(0, retryAfterMs), longestCoolMs);
  return Math.min(rule.coolMsMax, rule.coolMs * 2 ** Math.min(20, failures - 1));
}

export function retryAfterOf(error: AppError): number | null {
  const asked = error.data['retryAfterMs'];
  return typeof asked === 'number' ? asked : null;
}
