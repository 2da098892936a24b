// The request field that enforces a schema, in each wire format; empty if the server refused it. A request always contains the schema as
// text too, so nothing else depends on the field. Sources: structured outputs in the references of OpenAI, Anthropic and Ollama (2026).

import type { SentSchema } from '../../base/sendable-schema.ts';
import type { OutputForm } from '../../contracts/llm.ts';
import type { ServerProfile } from './server-profile.ts';

/** OpenAI's limits for a strict schema are 1000 values and 120,000 characters; older models accept half as many values. */
const STRICT_VALUES_MAX = 500;
const STRICT_CHARS_MAX = 100_000;

export function openAiOutput(output: OutputForm | undefined, { outputs }: ServerProfile, refused: ReadonlySet<string>): string {
  if (output === undefined || outputs === 'none' || refused.has('response_format')) return '';
  return `,"response_format":${JSON.stringify({ type: 'json_schema', json_schema: formOf(output, outputs) })}`;
}

export function responsesOutput(output: OutputForm | undefined, { outputs }: ServerProfile, refused: ReadonlySet<string>): string {
  if (output === undefined || outputs === 'none' || refused.has('format')) return '';
  return `,"text":${JSON.stringify({ format: { type: 'json_schema', ...formOf(output, outputs) } })}`;
}

function formOf({ name, schema }: OutputForm, outputs: ServerProfile['outputs']): object {
  const isStrict = outputs === 'strict' && fitsStrict(schema);
  return isStrict ? { name, schema: closed(schema, true), strict: true } : { name, schema };
}

/** Every object must be closed; keys may be optional. */
export function anthropicOutput(output: OutputForm | undefined, refused: ReadonlySet<string>): string {
  if (output === undefined || refused.has('output_config') || refused.has('format')) return '';
  return `,"output_config":${JSON.stringify({ format: { type: 'json_schema', schema: closed(output.schema, false) } })}`;
}

export function ollamaOutput(output: OutputForm | undefined, refused: ReadonlySet<string>): string {
  return output === undefined || refused.has('format') ? '' : `,"format":${JSON.stringify(output.schema)}`;
}

/** With `isStrict`, every key is required, and an optional one may be null instead. */
function closed(node: SentSchema, isStrict: boolean): Record<string, unknown> {
  const { properties, items, anyOf, required = [], ...rest } = node;
  const inner = (one: SentSchema): Record<string, unknown> => closed(one, isStrict);
  const keys = Object.entries(properties ?? {}).map(([key, one]): [string, unknown] => [
    key,
    isStrict && !required.includes(key) ? inner(orNull(one)) : inner(one),
  ]);
  const object = { properties: Object.fromEntries(keys), required: isStrict ? keys.map(([key]) => key) : required };
  return {
    ...rest,
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(inner) }),
    ...(items === undefined ? {} : { items: inner(items) }),
    ...(properties === undefined ? {} : { ...object, additionalProperties: false }),
  };
}

function orNull(node: SentSchema): SentSchema {
  const none: SentSchema = { type: 'null' };
  return node.anyOf === undefined ? { anyOf: [node, none] } : { ...node, anyOf: [...node.anyOf, none] };
}

function fitsStrict(schema: SentSchema): boolean {
  return valuesIn(schema) <= STRICT_VALUES_MAX && JSON.stringify(schema).length <= STRICT_CHARS_MAX;
}

function valuesIn({ enum: values = [], properties = {}, items, anyOf = [] }: SentSchema): number {
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items]), ...anyOf];
  return inner.reduce((sum, one) => sum + valuesIn(one), values.length);
}
