// The errors of a model call as its caller sees them, and the consequences of a failed attempt: whether it was billed, and whether another
// may follow.

import { AppError } from '../../contracts/errors.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { routeNameOf } from '../../contracts/route-name.ts';
import type { AttemptOutcome } from './attempt.ts';
import { mayAskAgain, type FailedAttempt } from './retry-policy.ts';

/** The maximum number of models named in a hint. */
const NAMED_MAX = 20;

export type FailedOutcome = Extract<AttemptOutcome, { ok: false }>;

export function unknownProvider(provider: string): AppError {
  return new AppError('model_unknown', `There is no provider "${provider}" in config.yaml.`, {
    data: { provider },
    hint: 'Set it up with: trayclaw setup, or choose one of: trayclaw models',
  });
}

export function unknownRoute(ref: string): AppError {
  return new AppError('model_unknown', `There is no route "${routeNameOf(ref)}" in models.routes of config.yaml.`, {
    hint: 'Add it there, or choose one of: trayclaw models',
  });
}

/** The error for a model whose provider is not in config.yaml. */
export function unknownModel(ref: string, { models }: OpResult<'model.list'>): AppError {
  const refs = models.map((model) => model.ref);
  const more = refs.length > NAMED_MAX ? ` and ${refs.length - NAMED_MAX} more` : '';
  const hint = refs.length === 0 ? 'Add a provider in the settings.' : `Known models: ${refs.slice(0, NAMED_MAX).join(', ')}${more}.`;
  return new AppError('model_unknown', `There is no provider for "${ref}" in config.yaml.`, { hint });
}

/** Marks an error after which the answer had begun: a caller that asks another model must count what was probably billed. */
export function begunError(error: AppError, { hasBegun, hasDelivered }: FailedOutcome): AppError {
  if (!hasBegun && !hasDelivered) return error;
  const { code, message, data, isRetryable, cause } = error;
  return new AppError(code, message, { data: { ...data, begun: true }, isRetryable, cause });
}

export function totalTimeout(ref: string, totalMs: number): AppError {
  return new AppError('model_timeout', `${ref} has not finished its answer within ${totalMs} ms.`, { data: { limitMs: totalMs } });
}

/** An interrupted answer was probably billed, even if none of it was shown. */
export function isBilled({ error, hasDelivered, hasBegun }: FailedOutcome): boolean {
  return hasDelivered || (hasBegun && error.code === 'model_cut_off');
}

export function lastError(failed: FailedAttempt, retriesMax: number): AppError {
  if (!mayAskAgain(failed, retriesMax)) return failed.error;
  const { code, message, data, isRetryable, cause } = failed.error;
  return new AppError(code, message, { data: { ...data, mayAskAgain: true }, isRetryable, cause });
}

/** The server named what it does not accept, so the next request leaves it out. This happens once per call, regardless of `retries`. */
export function isAdaptable(error: AppError, hasDelivered: boolean): boolean {
  return error.data['leftOut'] !== undefined && !hasDelivered;
}
