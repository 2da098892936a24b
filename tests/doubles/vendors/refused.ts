// Shared by the vendors' validators: a refusal as a value, access to values of unknown form, a walk through a schema.

import { isPlainObject } from '../../../core/base/json.ts';

export type Part = Readonly<Record<string, unknown>>;

/** The vendor's error response. */
export interface VendorNo {
  readonly status: number;
  readonly body: unknown;
}

export class Refused extends Error {
  readonly answer: VendorNo;

  constructor(answer: VendorNo) {
    super('refused');
    this.answer = answer;
  }
}

/** Null if nothing is refused. */
export function refusalOf(check: () => void): VendorNo | null {
  try {
    check();
    return null;
  } catch (cause) {
    if (cause instanceof Refused) return cause.answer;
    throw cause;
  }
}

export function has(part: unknown, key: string): part is Part {
  return isPlainObject(part) && Object.hasOwn(part, key) && part[key] !== undefined;
}

/** Present and not null. */
export function given(part: Part, key: string): boolean {
  return has(part, key) && part[key] !== null;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

export function parts(value: unknown): readonly Part[] {
  return list(value).filter(isPlainObject);
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The name of the value's type in the vendors' messages. */
export function kindWords(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export type Visit = (node: unknown, path: readonly string[]) => void;

/** Visits every schema inside a schema, starting with the schema itself. */
export function walkSchema(node: unknown, visit: Visit, path: readonly string[] = []): void {
  visit(node, path);
  if (!isPlainObject(node)) return;
  for (const word of ['properties', '$defs', 'definitions', 'patternProperties']) {
    const named = node[word];
    if (isPlainObject(named)) for (const [name, inner] of Object.entries(named)) walkSchema(inner, visit, [...path, word, name]);
  }
  for (const word of ['anyOf', 'oneOf', 'allOf', 'prefixItems'])
    list(node[word]).forEach((inner, index) => walkSchema(inner, visit, [...path, word, String(index)]));
  for (const word of ['items', 'additionalProperties']) if (isPlainObject(node[word])) walkSchema(node[word], visit, [...path, word]);
}

export const jsonTypes: readonly unknown[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
