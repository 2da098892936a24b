// Every failure that crosses a module boundary, by code. The text that users see says what happened, then what to do.

import * as z from 'zod';
import { decodeUtf8 } from '../base/decode-utf8.ts';
import { errnoOf, fileMeanings } from '../base/errno.ts';
import { didYouMean, nearNames } from '../base/near-names.ts';
import type { TaintSource } from './tools.ts';

export const errorCodes = [
  // requests
  'invalid_params',
  'invalid_config',
  'unknown_op',
  'not_found',
  'conflict',
  // tools
  'unknown_tool',
  'invalid_arguments',
  'arguments_too_large',
  'tool_failed',
  'address_refused',
  'fetch_failed',
  // the gate
  'denied',
  'approval_not_pending',
  'panic_engaged',
  'over_budget',
  'sandbox_unavailable',
  // models
  'no_model',
  'model_unknown',
  'model_auth',
  'model_rate_limited',
  'model_quota',
  'model_unavailable',
  'model_timeout',
  'model_context_overflow',
  'model_bad_reply',
  'model_cut_off',
  'model_rejected',
  // turns
  'cancelled',
  'loop_detected',
  'step_limit',
  'time_limit',
  'queue_full',
  'turn_not_running',
  'shutting_down',
  // storage
  'store_corrupt',
  'store_full',
  'store_readonly',
  'store_locked',
  'store_too_new',
  'store_failed',
  'artifact_missing',
  // secrets and doors
  'secret_missing',
  'keychain_unavailable',
  'vault_locked',
  'vault_damaged',
  'unauthorized',
  'forbidden',
  'payload_too_large',
  'rate_limited',
  'port_in_use',
  'internal',
] as const;

export const errorCodeSchema = z.enum(errorCodes);
export type ErrorCode = z.infer<typeof errorCodeSchema>;

export type ErrorData = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export const errorBodySchema = z.object({
  code: errorCodeSchema,
  message: z.string(),
  hint: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;

export interface AppErrorOptions {
  /** The next step for the person, where it is more exact than the hint of the code. Part of `data`. */
  readonly hint?: string | undefined;
  readonly data?: ErrorData;
  /** True if the same call may succeed later without any change. */
  readonly isRetryable?: boolean;
  readonly cause?: unknown;
  /** The untrusted sources that the message quotes. They mark the session that reads the message. */
  readonly untrusted?: readonly TaintSource[];
}

/** The only error class that crosses module boundaries. `message` says what happened; `hint` says what to do. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly data: ErrorData;
  readonly isRetryable: boolean;
  readonly untrusted: readonly TaintSource[];

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = { ...options.data, ...(options.hint === undefined ? {} : { hint: options.hint }) };
    this.isRetryable = options.isRetryable ?? false;
    this.untrusted = options.untrusted ?? [];
  }

  get hint(): string | undefined {
    const own = this.data['hint'];
    return typeof own === 'string' ? own : hints[this.code];
  }

  /** The message, and the hint if there is one, as one text. */
  told(between = ' '): string {
    const { message, hint } = this;
    return hint === undefined ? message : `${message}${between}${hint}`;
  }

  toBody(): ErrorBody {
    const { hint } = this;
    return {
      code: this.code,
      message: this.message,
      ...(hint === undefined ? {} : { hint }),
      ...(Object.keys(this.data).length === 0 ? {} : { data: { ...this.data } }),
    };
  }
}

/** The next step, if the code alone determines it. */
const hints: Partial<Record<ErrorCode, string>> = {
  address_refused: 'Only public web addresses may be fetched. To allow another, add it to policy.allowDomains in config.yaml.',
  invalid_config: 'Correct it in config.yaml. Nothing else was changed.',
  no_model: 'Set one up: trayclaw setup. Or start a local model server (Ollama, LM Studio, llama-server).',
  model_auth: 'Check the key of this provider and try again; the conversation is kept.',
  model_rate_limited: 'Wait a moment and try again; the conversation is kept.',
  model_quota: 'Add credit or choose another model.',
  model_unavailable: 'Check that the model server is running and reachable, then try again.',
  model_timeout: 'Try again, or raise models.timeouts in config.yaml for a slow local model.',
  model_cut_off: 'Try again; if it happens again, look at the log of the model server.',
  model_context_overflow: 'Start a new session or fork this one at an earlier message.',
  over_budget:
    'Allow more with trayclaw budget allow, raise the budget in config.yaml, or wait until the period ends. The work so far is kept.',
  sandbox_unavailable: 'See what is missing with: trayclaw sandbox explain',
  panic_engaged: 'Release it with: trayclaw panic --release',
  store_full: 'Free some disk space; everything recorded so far is intact.',
  store_readonly: 'Make the data folder writable for this user, or choose another with --home.',
  store_locked: 'Use the running instance, or stop it first.',
  store_too_new: 'Start the newer version of TrayClaw that last used this data folder.',
  store_corrupt: 'Restore the newest backup: trayclaw backup restore last. The damaged file is kept next to it.',
  secret_missing: 'Set it with: trayclaw secret set NAME, or export the named environment variable.',
  rate_limited: 'Wait a second and send fewer requests at once.',
  keychain_unavailable: 'Create an encrypted vault instead (trayclaw secret unlock), or use env:NAME or file:PATH in config.yaml.',
  vault_locked:
    'Run trayclaw secret unlock, or start TrayClaw with TRAYCLAW_VAULT_PASSPHRASE. The first passphrase creates the vault; nothing is stored unencrypted.',
  vault_damaged: 'Restore a copy of secrets.vault, or delete the file and set the secrets again.',
  loop_detected: 'Rephrase the request or give more detail; the steps so far are in the conversation.',
  step_limit: 'Ask it to continue, or raise limits.steps in config.yaml.',
  time_limit: 'Ask it to continue, or raise limits.turnMs in config.yaml.',
};

export function isAppError(value: unknown): value is AppError {
  return value instanceof AppError;
}

/** Wraps any thrown value. A failed file call says what to do; a bug stays visible as `internal` with its cause. */
export function toAppError(cause: unknown): AppError {
  if (isAppError(cause)) return cause;
  // One cause, such as a full disk, fails several parts: the first one names it.
  if (cause instanceof AggregateError && cause.errors.length > 0) return toAppError(cause.errors[0]);
  return (
    fileError(cause) ?? missingPart(cause) ?? new AppError('internal', cause instanceof Error ? cause.message : String(cause), { cause })
  );
}

const allow = 'Give this user access to it, or choose another place.';
const elsewhere = 'Choose another place, or a shorter path without such a link.';
const moreFiles = 'Close other programs, or raise the limit (ulimit -n), then do it again.';
const fileErrors: Readonly<Record<string, readonly [code: ErrorCode, hint?: string]>> = {
  ENOSPC: ['store_full'],
  EDQUOT: ['store_full'],
  EACCES: ['store_readonly', allow],
  EPERM: ['store_readonly', allow],
  EROFS: ['store_readonly', allow],
  EIO: ['store_failed', 'Check the disk: it may be failing. Keep a backup on another one.'],
  EMFILE: ['store_failed', moreFiles],
  ENFILE: ['store_failed', moreFiles],
  EFBIG: ['store_failed', 'Raise the limit (ulimit -f), then do it again.'],
  ELOOP: ['store_failed', elsewhere],
  ENAMETOOLONG: ['store_failed', elsewhere],
  ENOTDIR: ['store_failed', elsewhere],
  EISDIR: ['store_readonly', 'Move this folder away, then do it again.'],
};

/** A build or an update replaced the files of the program while it ran. Null for any other cause. */
function missingPart(cause: unknown): AppError | null {
  if (errnoOf(cause) !== 'ERR_MODULE_NOT_FOUND' || !(cause instanceof Error) || !('url' in cause)) return null;
  if (!/\/dist\/chunks\/[\w.-]+\.js$/.test(String(cause.url))) return null;
  const said = 'A part of the program was replaced or removed while it ran, by a build or an update.';
  return new AppError('internal', said, { cause, hint: 'Stop TrayClaw and start it again.' });
}

/** Null for anything but a failed call on a file. */
function fileError(cause: unknown): AppError | null {
  const errno = errnoOf(cause) ?? '';
  const [code, hint] = fileErrors[errno] ?? [];
  // A failed call of the network has the same form, and an address or a port.
  if (code === undefined || !(cause instanceof Error) || !('syscall' in cause) || 'port' in cause || 'address' in cause) return null;
  const path = 'path' in cause && typeof cause.path === 'string' ? cause.path : 'A file';
  return new AppError(code, `${path} could not be used: ${fileMeanings[errno] ?? errno}.`, { cause, hint });
}

/** Of a path that a person named. */
export function noPath(what: string, path: string, cause?: unknown): AppError {
  return new AppError('not_found', `There is no ${what} ${path}.`, { cause, hint: 'Nothing was changed. Check how the path is written.' });
}

export function noTurn(turnId: string): AppError {
  return new AppError('not_found', `There is no turn ${turnId}.`, { data: { turnId } });
}

export function noSession(sessionId: string): AppError {
  return new AppError('not_found', `There is no session ${sessionId}.`, { data: { sessionId } });
}

const NAME_CHARS_MAX = 100;

/** Of a look-up by name. `what` is the kind of thing, such as `saved prompt`; `otherwise` is the hint if no known name is near. */
export function noSuch(what: string, name: string, known: Iterable<string>, otherwise: string): AppError {
  const shown = name.length > NAME_CHARS_MAX ? `${name.slice(0, NAME_CHARS_MAX)}…` : name;
  return new AppError('not_found', `There is no ${what} ${shown}.`, { hint: didYouMean(nearNames(name, known)) ?? otherwise });
}

/** Without a full stop, such as `the disk is full`. For any other cause, the first line of its message. */
export function whyFileFailed(cause: unknown): string {
  const meaning = fileMeanings[errnoOf(cause) ?? ''];
  return meaning ?? (cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : 'unknown reason');
}

/** Decodes bytes from a person, without a byte order mark. Fails with `invalid_params` if they are not UTF-8. */
export function givenText(bytes: Uint8Array, what: string): string {
  const text = decodeUtf8(bytes);
  if (text === null) throw notUtf8(what);
  return text;
}

/** The error for bytes that are not UTF-8. `what` begins the sentence. */
export function notUtf8(what: string, code: 'invalid_params' | 'invalid_config' = 'invalid_params'): AppError {
  const hint = 'Save it as UTF-8, or convert it, such as with: iconv -f latin1 -t utf-8';
  return new AppError(code, `${what} is not UTF-8 text.`, { hint });
}

/** The error for a file that a person named and that cannot be read: `not_found` or `invalid_params`. */
export function unreadable(path: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  if (errnoOf(cause) === 'ENOENT') return noPath('file', path, cause);
  return new AppError('invalid_params', `${path} cannot be read: ${whyFileFailed(cause)}.`, { cause });
}
