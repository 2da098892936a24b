// OpenAI's refusals of a chat request's tools: names, sizes, the form of each schema, strict mode. Sources: published OpenAPI document
// (2026-08), the vendor's guide, its Node SDK (lib/transform), public issues with its answers.

import { isPlainObject } from '../../../core/base/json.ts';
import { has, kindWords, list, text, walkSchema, type Part, type Refused } from './refused.ts';

/** Creates a refusal in the vendor's form. */
export type Say = (message: string, param?: string | null, code?: string | null) => Refused;

const UNIONS = ['oneOf', 'anyOf', 'allOf', 'enum', 'const', 'not'];
const STRICT_REFUSES = 'allOf not if then else dependentRequired dependentSchemas dependencies patternProperties propertyNames minProperties maxProperties unevaluatedProperties unevaluatedItems uniqueItems contains minContains maxContains prefixItems'.split(' '); // prettier-ignore
const STRICT_PROPERTIES_MAX = 5000;
const STRICT_ENUM_MAX = 1000;
const STRICT_DEPTH_MAX = 10;
const STRICT_CHARS_MAX = 120_000;
const TOOLS_MAX = 128;
const NAME_CHARS_MAX = 64;
const DESCRIPTION_CHARS_MAX = 1024;

export function checkTools(body: Part, say: Say): void {
  const tools = body['tools'];
  if (tools === undefined || tools === null) {
    checkWithoutTools(body, say);
    return;
  }
  if (!Array.isArray(tools)) throw say(`Invalid type for 'tools': expected an array of objects, but got ${kindWords(tools)} instead.`, 'tools', 'invalid_type'); // prettier-ignore
  if (tools.length === 0) throw emptyArray('tools', say);
  if (tools.length > TOOLS_MAX) throw longArray('tools', { max: TOOLS_MAX, length: tools.length }, say);
  tools.forEach((tool: unknown, index) => checkTool(tool, `tools[${index}]`, say));
}

function checkWithoutTools(body: Part, say: Say): void {
  for (const key of ['tool_choice', 'parallel_tool_calls']) {
    if (!has(body, key) || body[key] === null || (key === 'tool_choice' && body[key] === 'none')) continue;
    throw say(`Invalid value for '${key}': '${key}' is only allowed when 'tools' are specified.`, key);
  }
}

function checkTool(tool: unknown, at: string, say: Say): void {
  if (!isPlainObject(tool) || tool['type'] === undefined) throw missing(`${at}.type`, say);
  if (tool['type'] !== 'function') return;
  const fn = tool['function'];
  if (!isPlainObject(fn)) throw missing(`${at}.function`, say);
  checkName(fn['name'], `${at}.function.name`, say);
  checkLength(fn['description'], { at: `${at}.function.description`, max: DESCRIPTION_CHARS_MAX }, say);
  const param = `${at}.function.parameters`;
  const bad: Bad = (why) => say(`Invalid schema for function '${text(fn['name'])}': ${why}`, param, 'invalid_function_parameters');
  if (fn['parameters'] !== undefined) checkSchema(fn['parameters'], fn['strict'] === true, bad);
  else if (fn['strict'] === true) throw bad('strict mode needs parameters.');
}

/** A strict response format follows the rules of strict tools. */
export function checkResponseFormat(body: Part, say: Say): void {
  const format = body['response_format'];
  if (format === undefined) return;
  if (!isPlainObject(format) || typeof format['type'] !== 'string') throw missing('response_format.type', say);
  const { type, json_schema: wanted } = format;
  if (!['text', 'json_object', 'json_schema'].includes(text(type))) throw say(`Invalid value: '${text(type)}'. Supported values are: 'json_object', 'json_schema', and 'text'.`, 'response_format.type', 'invalid_value'); // prettier-ignore
  if (type === 'json_object' && !/json/i.test(JSON.stringify(body['messages']))) throw say("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.", 'messages'); // prettier-ignore
  if (type !== 'json_schema') return;
  if (!isPlainObject(wanted)) throw missing('response_format.json_schema', say);
  const at = 'response_format.json_schema';
  for (const key of Object.keys(wanted)) if (!['name', 'description', 'schema', 'strict'].includes(key)) throw say(`Unknown parameter: '${at}.${key}'.`, `${at}.${key}`, 'unknown_parameter'); // prettier-ignore
  checkName(wanted['name'], `${at}.name`, say);
  if (!has(wanted, 'schema')) throw missing(`${at}.schema`, say);
  const bad: Bad = (why) =>
    say(`Invalid schema for response_format '${text(wanted['name'])}': ${why}`, 'response_format', 'invalid_json_schema');
  checkSchema(wanted['schema'], wanted['strict'] === true, bad);
}

export function checkName(name: unknown, at: string, say: Say): void {
  if (typeof name !== 'string') throw missing(at, say);
  if (name === '') throw say(`Invalid '${at}': empty string. Expected a string with minimum length 1, but got an empty string instead.`, at, 'empty_string'); // prettier-ignore
  checkLength(name, { at, max: NAME_CHARS_MAX }, say);
  if (!/^[a-zA-Z0-9_-]+$/.test(name)) throw say(`Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`, at, 'invalid_value'); // prettier-ignore
}

export function checkLength(value: unknown, { at, max }: { at: string; max: number }, say: Say): void {
  if (typeof value !== 'string' || value.length <= max) return;
  throw say(`Invalid '${at}': string too long. Expected a string with maximum length ${max}, but got a string with length ${value.length} instead.`, at, 'string_above_max_length'); // prettier-ignore
}

export function missing(at: string, say: Say): Refused {
  return say(`Missing required parameter: '${at}'.`, at, 'missing_required_parameter');
}

export function emptyArray(at: string, say: Say): Refused {
  return say(`Invalid '${at}': empty array. Expected an array with minimum length 1, but got an empty array instead.`, at, 'empty_array');
}

export function longArray(at: string, { max, length }: { max: number; length: number }, say: Say): Refused {
  return say(`Invalid '${at}': array too long. Expected an array with maximum length ${max}, but got an array with length ${length} instead.`, at, 'array_above_max_length'); // prettier-ignore
}

type Bad = (why: string) => Refused;

function checkSchema(schema: unknown, isStrict: boolean, bad: Bad): void {
  if (!isPlainObject(schema)) throw bad(`${schema === null ? 'None' : JSON.stringify(schema)} is not of type 'object', 'boolean'.`);
  const { type } = schema;
  if (type === 'object' && UNIONS.some((word) => has(schema, word)))
    throw bad("schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level.");
  if (type !== 'object') throw bad(`schema must be a JSON Schema of 'type: "object"', got 'type: "${type === undefined || type === null ? 'None' : JSON.stringify(type).replaceAll('"', '')}"'.`); // prettier-ignore
  if (!has(schema, 'properties')) throw bad('In context=(), object schema missing properties.');
  if (!isPlainObject(schema['properties'])) throw bad(`${JSON.stringify(schema['properties'])} is not of type 'object'.`);
  walkSchema(schema, (node, path) => {
    if (!isPlainObject(node)) return;
    const context = `In context=${pathWords(path)}, `;
    const { required } = node;
    if (required !== undefined && !Array.isArray(required)) throw bad(`${required === null ? 'None' : JSON.stringify(required)} is not of type 'array'.`); // prettier-ignore
    if (typesOf(node).includes('array') && !has(node, 'items')) throw bad(`${context}array schema missing items.`);
    if (Array.isArray(node['items'])) throw bad(`${context}${JSON.stringify(node['items'])} is not of type 'object', 'boolean'.`);
    if (isStrict) checkStrictNode(node, context, bad);
  });
  if (isStrict) checkStrictSize(schema, bad);
}

function typesOf(node: Part): readonly unknown[] {
  return [node['type']].flat();
}

function checkStrictNode(node: Part, context: string, bad: Bad): void {
  if (typesOf(node).includes('object') || has(node, 'properties')) {
    if (node['additionalProperties'] !== false) throw bad(`${context}'additionalProperties' is required to be supplied and to be false.`);
    const keys = isPlainObject(node['properties']) ? Object.keys(node['properties']) : [];
    const wanted = list(node['required']).map(text);
    const absent = keys.find((key) => !wanted.includes(key));
    const must = `${context}'required' is required to be supplied and to be an array including every key in properties.`;
    if (absent !== undefined) throw bad(`${must} Missing '${absent}'.`);
    const extra = wanted.find((key) => !keys.includes(key));
    if (extra !== undefined) throw bad(`${must} Extra required key '${extra}' supplied.`);
  }
  for (const word of STRICT_REFUSES) if (has(node, word)) throw bad(`${context}'${word}' is not permitted.`);
}

function checkStrictSize(schema: Part, bad: Bad): void {
  let properties = 0;
  let values = 0;
  let depth = 0;
  let chars = 0;
  walkSchema(schema, (node, path) => {
    if (!isPlainObject(node)) return;
    properties += isPlainObject(node['properties']) ? Object.keys(node['properties']).length : 0;
    values += list(node['enum']).length;
    for (const word of [...Object.keys(isPlainObject(node['properties']) ? node['properties'] : {}), ...list(node['enum'])])
      chars += String(word).length;
    depth = Math.max(depth, path.filter((step) => step === 'properties' || step === 'items').length);
  });
  if (properties > STRICT_PROPERTIES_MAX) throw bad(`Expected at most ${STRICT_PROPERTIES_MAX} object properties in total within a single schema, but received ${properties}.`); // prettier-ignore
  if (values > STRICT_ENUM_MAX) throw bad(`Expected at most ${STRICT_ENUM_MAX} enum values in total within a single schema when using structured outputs, but received ${values}. Consider reducing the number of enums, or use 'strict: false' to opt out of structured outputs.`); // prettier-ignore
  if (chars > STRICT_CHARS_MAX) throw bad(`The total string length of all property names, definition names, enum values, and const values cannot exceed ${STRICT_CHARS_MAX} characters, but received ${chars}.`); // prettier-ignore
  if (depth > STRICT_DEPTH_MAX) throw bad(`${depth} levels of nesting exceeds limit of ${STRICT_DEPTH_MAX}.`);
}

/** Formats the path as a Python tuple, as the vendor does. */
function pathWords(path: readonly string[]): string {
  if (path.length === 0) return '()';
  return `(${path.map((step) => `'${step}'`).join(', ')}${path.length === 1 ? ',' : ''})`;
}
