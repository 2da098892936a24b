// Redacts structured data: JSON text stays valid JSON, and a value is also checked together with its key.

import { isPlainObject, parseJson } from '../../base/json.ts';
import { stillRedacted, type Redacted } from '../../base/redacted.ts';
import type { Redaction } from './redactor.ts';

export interface TextRedactor {
  redact(text: string): Redaction;
}

/** Deeper nesting is treated as plain text. */
const DEPTH_MAX = 64;

export function redactJson(redactor: TextRedactor, text: string): Redaction {
  const asText = redactor.redact(text);
  if (asText.text === text || parseJson(asText.text).ok) return asText;
  const parsed = parseJson(text);
  if (!parsed.ok) return asText;
  // A match that reaches into the syntax would break the JSON, so each string is redacted separately instead.
  return { text: stillRedacted(JSON.stringify(redactDeep(redactor, parsed.value))), found: asText.found };
}

/** Returns the identical value if nothing was found. Keys are redacted like values. */
export function redactDeep<T>(redactor: TextRedactor, value: T): Redacted<T> {
  return stillRedacted(walk(redactor, value, 0) as T);
}

function walk(redactor: TextRedactor, value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactor.redact(value).text;
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEPTH_MAX) return redactor.redact(JSON.stringify(value)).text;
  if (Array.isArray(value)) return walkList(redactor, value, depth);
  return isPlainObject(value) ? walkFields(redactor, value, depth) : value;
}

function walkList(redactor: TextRedactor, list: readonly unknown[], depth: number): readonly unknown[] {
  let changed: unknown[] | null = null;
  for (const [index, item] of list.entries()) {
    const now = walk(redactor, item, depth + 1);
    if (now !== item) (changed ??= [...list])[index] = now;
  }
  return changed ?? list;
}

function walkFields(redactor: TextRedactor, fields: Readonly<Record<string, unknown>>, depth: number): Readonly<Record<string, unknown>> {
  let changed: [string, unknown][] | null = null;
  // Each event passes here and almost none changes, so lists are created only when needed.
  let index = -1;
  for (const key of Object.keys(fields)) {
    index += 1;
    const value = fields[key];
    const safeKey = key.length < KEY_LENGTH_MIN ? key : redactor.redact(key).text;
    const now = walkField(redactor, key, value, depth);
    if (now !== value || safeKey !== key) (changed ??= Object.entries(fields))[index] = [safeKey, now];
  }
  return changed === null ? fields : Object.fromEntries(changed);
}

/** Shorter field names cannot be secrets. */
const KEY_LENGTH_MIN = 16;
const sensitiveKey = /pass|pwd|secret|token|key|credential|cookie|authorization/i;

/** If the field's name suggests a secret, the value is also checked together with the name. */
function walkField(redactor: TextRedactor, key: string, value: unknown, depth: number): unknown {
  if (typeof value !== 'string' || !sensitiveKey.test(key)) return walk(redactor, value, depth + 1);
  const alone = redactor.redact(value).text;
  if (alone !== value) return alone;
  const lead = `${key}: `;
  const together = redactor.redact(lead + value).text;
  return together.startsWith(lead) ? together.slice(lead.length) : value;
}
