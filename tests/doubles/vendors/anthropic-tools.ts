// Anthropic's refusals of a request's tools. Does not repeat its complete check of JSON Schema draft 2020-12, only the parts that
// distinguish drafts and detect malformed schemas.

import { isPlainObject } from '../../../core/base/json.ts';
import { anthropicNo } from './anthropic-words.ts';
import { has, jsonTypes, list, walkSchema, type Part, type Refused } from './refused.ts';

const TOOL_KEYS = 'type name description input_schema cache_control strict defer_loading allowed_callers input_examples eager_input_streaming'.split(' '); // prettier-ignore
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;

export function checkTools(body: Part): void {
  const names = new Set<unknown>();
  list(body['tools']).forEach((tool, index) => {
    const at = `tools.${index}.custom`;
    if (!isPlainObject(tool)) throw anthropicNo(`${at}: Input should be a valid dictionary`);
    if (has(tool, 'type') && tool['type'] !== 'custom' && tool['type'] !== 'function') return;
    const { name } = tool;
    if (typeof name !== 'string') throw anthropicNo(`${at}.name: Field required`);
    if (!NAME.test(name)) throw anthropicNo(`${at}.name: String should match pattern '${NAME.source}'`);
    for (const key of Object.keys(tool)) if (!TOOL_KEYS.includes(key)) throw anthropicNo(`${at}.${key}: Extra inputs are not permitted`);
    if (names.has(name)) throw anthropicNo('tools: Tool names must be unique.');
    names.add(name);
    checkSchema(tool, `${at}.input_schema`);
    if (tool['strict'] === true) checkStrict(tool['input_schema'], at);
  });
}

function checkSchema(tool: Part, at: string): void {
  const schema = tool['input_schema'];
  if (schema === undefined) throw anthropicNo(`${at}: Field required`);
  if (!isPlainObject(schema)) throw anthropicNo(`${at}: Input should be a valid dictionary`);
  if (['oneOf', 'allOf', 'anyOf'].some((word) => has(schema, word))) throw anthropicNo(`${at}: input_schema does not support oneOf, allOf, or anyOf at the top level`); // prettier-ignore
  if (schema['type'] === undefined) throw anthropicNo(`${at}.type: Field required`);
  if (schema['type'] !== 'object') throw anthropicNo(`${at}.type: Input should be 'object'`);
  walkSchema(schema, (node) => {
    if (typeof node !== 'boolean' && !isDraft2020(node)) throw notDraft2020(at);
  });
  const properties = isPlainObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  if (properties.some((key) => !PROPERTY.test(key))) throw anthropicNo(`${at}.properties: Property keys should match pattern '${PROPERTY.source}'`); // prettier-ignore
}

function notDraft2020(at: string): Refused {
  return anthropicNo(`${at}: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use.`); // prettier-ignore
}

const NUMBERS = ['exclusiveMinimum', 'exclusiveMaximum', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'multipleOf']; // prettier-ignore

const forms: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) => [value].flat().length > 0 && [value].flat().every((one) => jsonTypes.includes(one)),
  properties: isPlainObject,
  required: (value) => Array.isArray(value) && value.every((key) => typeof key === 'string'),
  // A list here is a draft 7 tuple.
  items: (value) => isPlainObject(value) || typeof value === 'boolean',
  enum: Array.isArray,
  anyOf: (value) => list(value).length > 0,
  oneOf: (value) => list(value).length > 0,
  allOf: (value) => list(value).length > 0,
  pattern: (value) => typeof value === 'string' && isPattern(value),
  ...Object.fromEntries(NUMBERS.map((word) => [word, (value: unknown) => typeof value === 'number'])),
};

function isDraft2020(node: unknown): boolean {
  if (!isPlainObject(node)) return false;
  return Object.entries(node).every(([word, value]) => value === undefined || forms[word]?.(value) !== false);
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u').source !== '';
  } catch {
    return false;
  }
}

function checkStrict(schema: unknown, at: string): void {
  walkSchema(schema, (node) => {
    if (!isPlainObject(node) || (node['type'] !== 'object' && !has(node, 'properties'))) return;
    if (node['additionalProperties'] !== false) throw anthropicNo(`${at}: For 'object' type, 'additionalProperties' must be explicitly set to false`); // prettier-ignore
  });
}
