// The form of Anthropic's refusals.

import { hash } from 'node:crypto';
import { isPlainObject } from '../../../core/base/json.ts';
import { list, Refused, text, type Part } from './refused.ts';

export function anthropicNo(message: string, { status = 400, type = 'invalid_request_error' } = {}): Refused {
  return new Refused({ status, body: { type: 'error', error: { type, message }, request_id: 'req_strict' } });
}

export function isTextEmpty(words: string): boolean {
  return words.trim() === '';
}

export function isThinking(body: Part): boolean {
  return isPlainObject(body['thinking']) && body['thinking']['type'] !== 'disabled';
}

/** For example 4.7 for claude-opus-4-7 and for the older form claude-4-7-opus; 0 for any other name. */
export function versionOf(model: string): number {
  const newer = /claude-[a-z]+-(\d+)(?:-(\d{1,2})(?!\d))?/.exec(model);
  const found = newer ?? /claude-(\d)(?:-(\d))?/.exec(model);
  return found === null ? 0 : Number(found[1]) + Number(found[2] ?? 0) / 10;
}

/** The signature this double assigns to a thinking block; it matches no other text, and after no other `before`. */
export function signatureOf(thinking: string, before = ''): string {
  return hash('sha256', `${before}${thinking}`, 'base64');
}

/**
 * Everything that must precede a thinking block: from 5.1 on, the system prompt, the tools and every earlier message. Cache marks do not count. Source:
 * the vendor's page on preserved thinking (2026).
 */
export function boundTo({ model, system, tools, messages }: Part, count = list(messages).length): string {
  if (versionOf(text(model)) < 5.1) return '';
  const unmarked = (key: string, value: unknown): unknown => (key === 'cache_control' ? undefined : value);
  return JSON.stringify([system, tools, list(messages).slice(0, count)], unmarked);
}
