// Reads from an operation's schema what the command line needs to know about its parameters: the kind of value, the choices, the bounds.

import * as z from 'zod';
import { isPlainObject } from '../../../base/json.ts';
import { opTable, type OpName } from '../../../contracts/ops.ts';
import type { Field, Fields } from './options.ts';

export function fieldsOf(op: OpName): Fields {
  const schema: unknown = z.toJSONSchema(opTable[op].params, { io: 'input', unrepresentable: 'any' });
  const properties = isPlainObject(schema) && isPlainObject(schema['properties']) ? schema['properties'] : {};
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, fieldOf(property)]));
}

function fieldOf(schema: unknown): Field {
  if (!isPlainObject(schema)) return { kind: 'json', choices: [] };
  const { type, anyOf, items, minimum, maximum } = schema;
  const choices = choicesOf(schema);
  if (Array.isArray(anyOf)) {
    const [first, ...others] = anyOf.filter((one) => !(isPlainObject(one) && one['type'] === 'null'));
    const field = fieldOf(first);
    return others.length === 0 ? field : { kind: field.kind === 'text' ? 'text' : 'json', choices: [] };
  }
  if (choices.length > 0) return { kind: 'text', choices };
  if (type === 'boolean') return { kind: 'switch', choices };
  if (type === 'integer' || type === 'number') {
    const bounds = { ...(typeof minimum === 'number' ? { minimum } : {}), ...(typeof maximum === 'number' ? { maximum } : {}) };
    return { kind: type === 'integer' ? 'count' : 'number', choices, ...bounds };
  }
  if (type === 'array') return { kind: fieldOf(items).kind === 'text' ? 'list' : 'json', choices: choicesOf(items) };
  return { kind: type === 'string' ? 'text' : kindOfObject(schema), choices };
}

/** `pairs` for an object with any names whose values are texts. */
function kindOfObject({ properties, additionalProperties }: Readonly<Record<string, unknown>>): 'pairs' | 'json' {
  const areTexts = properties === undefined && isPlainObject(additionalProperties) && fieldOf(additionalProperties).kind === 'text';
  return areTexts ? 'pairs' : 'json';
}

function choicesOf(schema: unknown): readonly string[] {
  const choices = isPlainObject(schema) ? schema['enum'] : null;
  return Array.isArray(choices) ? choices.map(String) : [];
}
