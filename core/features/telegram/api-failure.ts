// Interprets a failed call of the Bot API. The only module that reads error codes and texts of the server and the network. Its own texts
// never contain the address of a call, because the token is part of it.

import type { GrammyError, HttpError } from 'grammy/web';
import { isNeverSent, networkCode, networkSentence } from '../../base/network-failure.ts';
import { AppError } from '../../contracts/errors.ts';

export type ApiFailure =
  /** The server refused the call; nothing was done. */
  | { readonly kind: 'refused'; readonly why: Refusal; readonly words: string }
  | { readonly kind: 'flood'; readonly retryAfterMs: number }
  /** The request was not sent, or the server was unreachable. */
  | { readonly kind: 'unreachable'; readonly words: string }
  /** The outcome is unknown; the call may have had its effect. */
  | { readonly kind: 'unknown'; readonly words: string }
  | { readonly kind: 'aborted' };

export type Refusal =
  | 'unauthorized'
  | 'conflict'
  | 'webhook'
  | 'blocked'
  | 'no_chat'
  | 'parse'
  | 'not_modified'
  | 'not_found'
  | 'no_message'
  | 'stale_query'
  | 'too_big'
  | 'other';

const FLOOD_MS_MAX = 3_600_000;

const tokenWords = 'Telegram does not take the token of the bot: it was revoked, or never was one. Set the new one of @BotFather.';

export function tokenRefused(cause?: unknown): AppError {
  return new AppError('unauthorized', tokenWords, { data: { field: 'token' }, hint: '', cause });
}

/** Whether the token was revoked or was never valid. */
export function isTokenRefused(failure: ApiFailure): boolean {
  return failure.kind === 'refused' && (failure.why === 'unauthorized' || failure.why === 'not_found');
}

export function readFailure(cause: unknown, signal?: AbortSignal): ApiFailure {
  if (isFromServer(cause)) return ofServer(cause);
  if (signal?.aborted === true) return { kind: 'aborted' };
  const code = networkCode(isOfNetwork(cause) ? cause.error : cause);
  if (isNeverSent(code)) return { kind: 'unreachable', words: networkSentence(code, 'the server of Telegram') };
  return { kind: 'unknown', words: `the connection to Telegram ended before it answered${code === null ? '' : ` (${code})`}` };
}

/** Checked by name, because the class belongs to the client library, which is loaded only if there is a bot. */
function isFromServer(cause: unknown): cause is GrammyError {
  return cause instanceof Error && cause.name === 'GrammyError' && 'error_code' in cause;
}

/** The id of the supergroup into which the group of this call was converted, or null. */
export function movedTo(cause: unknown): string | null {
  const id = isFromServer(cause) ? cause.parameters.migrate_to_chat_id : undefined;
  return id === undefined ? null : String(id);
}

function isOfNetwork(cause: unknown): cause is HttpError {
  return cause instanceof Error && cause.name === 'HttpError' && 'error' in cause;
}

function ofServer({ error_code: code, parameters, ...told }: GrammyError): ApiFailure {
  // A server other than Telegram's may give no reason, despite the type.
  const reason: unknown = told.description;
  const description = typeof reason === 'string' ? reason : 'no reason was given';
  if (code === 429) return { kind: 'flood', retryAfterMs: Math.min((parameters.retry_after ?? 1) * 1000, FLOOD_MS_MAX) };
  // A failing gateway cannot know whether the server behind it acted.
  if (code >= 500) return { kind: 'unknown', words: `Telegram had an internal error (${code})` };
  return { kind: 'refused', why: refusalOf(code, description), words: description.slice(0, 300) };
}

const byWords: readonly (readonly [words: string, why: Refusal])[] = [
  ["can't parse entities", 'parse'],
  ['message is not modified', 'not_modified'],
  ['message to edit not found', 'no_message'],
  ["message can't be edited", 'no_message'],
  // In the supergroup, its messages have other ids.
  ['upgraded to a supergroup', 'no_message'],
  ['query is too old', 'stale_query'],
  ['chat not found', 'no_chat'],
  ['file is too big', 'too_big'],
];

function refusalOf(code: number, description: string): Refusal {
  switch (code) {
    case 401:
      return 'unauthorized';
    case 403:
      return 'blocked';
    // An invalid token, or a method that this server does not have.
    case 404:
      return 'not_found';
    case 409:
      return description.includes('webhook') ? 'webhook' : 'conflict';
    case 413:
      return 'too_big';
    default:
      return byWords.find(([words]) => description.includes(words))?.[1] ?? 'other';
  }
}
