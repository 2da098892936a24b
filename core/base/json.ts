// JSON helpers: plain JSON types, a canonical form for hashing, and a parser that returns errors instead of throwing.

import { err, ok, type Result } from './result.ts';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

export function parseJson(text: string): Result<unknown, string> {
  try {
    return ok(JSON.parse(text));
  } catch (cause) {
    return err(cause instanceof Error ? cause.message : String(cause));
  }
}

/** The value of a JSON text; undefined for any other text. */
export function jsonIn(text: string): unknown {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
}

/** The object that a JSON text holds; null for any other text. */
export function objectIn(text: string): Record<string, unknown> | null {
  const value = jsonIn(text);
  return isPlainObject(value) ? value : null;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of keys joined by dots, such as `usage.costUsd`; undefined if there is none. */
export function valueAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, key) => (isPlainObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined), value);
}

/** JSON with object keys in code-unit order (as in RFC 8785), so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return '[' + value.map((item) => canonicalJson(item ?? null)).join(',') + ']';
  if (isPlainObject(value)) {
    const parts: string[] = [];
    for (const key of Object.keys(value).sort()) {
      if (value[key] !== undefined) parts.push(JSON.stringify(key) + ':' + canonicalJson(value[key]));
    }
    return '{' + parts.join(',') + '}';
  }
  return JSON.stringify(value) ?? 'null';
}
