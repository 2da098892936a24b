// The form of Anthropic's refusals.

import { hash } from 'node:crypto';
import { isPlainObject } from '../../../core/base/json.ts';
import { Refused, type Part } from './refused.ts';

export function anthropicNo(message: string, { status = 400, type = 'invalid_request_error' } = {}): Refused {
  return new Refused({ status, body: { type: 'error', error: { type, message }, request_id: 'req_strict' } });
}

export function isTextEmpty(text: string): boolean {
  return text.trim() === '';
}

export function isThinking(body: Part): boolean {
  return isPlainObject(body['thinking']) && body['thinking']['type'] !== 'disabled';
}

/** The signature this double assigns to a thinking block; it matches no other text. */
export function signatureOf(thinking: string): string {
  return hash('sha256', thinking, 'base64');
}
