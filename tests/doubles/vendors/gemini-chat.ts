// Gemini's refusals of a request to its OpenAI-compatible endpoint. Whether that endpoint trims schemas is unknown; here the rules of the
// native API apply. Sources: the vendor's SDK (genai Schema), its thought-signatures page, public issues with its answers.

import { isPlainObject, parseJson } from '../../../core/base/json.ts';
import { has, jsonTypes, list, parts, Refused, refusalOf, text, type Part, type VendorNo } from './refused.ts';

const KEYS = 'model messages tools tool_choice max_tokens max_completion_tokens temperature top_p n stop stream stream_options response_format reasoning_effort parallel_tool_calls modalities audio user service_tier extra_body'.split(' '); // prettier-ignore
const SCHEMA_WORDS = 'type format title description nullable enum items maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default minimum maximum'.split(' '); // prettier-ignore
const BODY_BYTES_MAX = 20 * 1024 * 1024;

/** Gemini's error body is a list. */
function no(message: string, details?: readonly unknown[]): Refused {
  const error = { code: 400, message, status: 'INVALID_ARGUMENT', ...(details === undefined ? {} : { details }) };
  return new Refused({ status: 400, body: [{ error }] });
}

function unknownName(name: string, where: string): Refused {
  const description = `Invalid JSON payload received. Unknown name "${name}"${where === '' ? '' : ` at '${where}'`}: Cannot find field.`;
  return no(description, [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: where, description }] }]);
}

export function geminiChat(body: Part): VendorNo | null {
  return refusalOf(() => {
    if (Buffer.byteLength(JSON.stringify(body)) > BODY_BYTES_MAX) throw no('Request payload size exceeds the limit: 20971520 bytes.');
    for (const key of Object.keys(body)) if (!KEYS.includes(key)) throw unknownName(key, '');
    checkTools(body);
    checkContents(body);
  });
}

function checkTools(body: Part): void {
  const names = new Set<string>();
  list(body['tools']).forEach((tool, index) => {
    const fn = isPlainObject(tool) ? tool['function'] : undefined;
    if (!isPlainObject(fn)) throw no('Invalid tool.');
    const name = text(fn['name']);
    const at = `tools[0].function_declarations[${index}]`;
    if (!/^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/.test(name)) throw no(`* GenerateContentRequest.${at}.name: Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.`); // prettier-ignore
    if (names.has(name)) throw no(`Duplicate function declaration found: ${name}`);
    names.add(name);
    const schema = fn['parameters'];
    if (schema === undefined || schema === null || (isPlainObject(schema) && Object.keys(schema).length === 0)) return;
    checkSchema(schema, { where: `${at}.parameters`, named: `* GenerateContentRequest.${at}.parameters`, isRoot: true });
  });
}

interface SchemaPlace {
  readonly where: string;
  readonly named: string;
  readonly isRoot: boolean;
}

function checkSchema(schema: unknown, place: SchemaPlace): void {
  const { where, named } = place;
  if (!isPlainObject(schema)) throw no(`Invalid value at '${where}' (type.googleapis.com/google.ai.generativelanguage.v1beta.Schema), ${JSON.stringify(schema)}`); // prettier-ignore
  for (const word of Object.keys(schema)) if (!SCHEMA_WORDS.includes(word)) throw unknownName(word, where);
  const { type } = schema;
  if (Array.isArray(type)) throw no(`Invalid JSON payload received. Unknown name "type" at '${where}': Proto field is not repeating, cannot start list.`); // prettier-ignore
  if (type !== undefined && !jsonTypes.includes(text(type).toLowerCase())) throw no(`Invalid value at '${where}.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type), ${JSON.stringify(type)}`); // prettier-ignore
  checkNode(schema, text(type).toLowerCase(), place);
  const properties = isPlainObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  properties.forEach(([key, value], index) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(key)) throw no(`${named}.properties: Invalid property name ${JSON.stringify(key)}.`);
    checkSchema(value, { where: `${where}.properties[${index}].value`, named: `${named}.properties[${key}]`, isRoot: false });
  });
  if (has(schema, 'items')) checkSchema(schema['items'], { where: `${where}.items`, named: `${named}.items`, isRoot: false });
  list(schema['anyOf']).forEach((value, index) =>
    checkSchema(value, { where: `${where}.any_of[${index}]`, named: `${named}.any_of[${index}]`, isRoot: false }),
  );
}

const numberFormats: Readonly<Record<string, readonly string[]>> = { number: ['float', 'double'], integer: ['int32', 'int64'] };

function checkNode(schema: Part, type: string, { where, named, isRoot }: SchemaPlace): void {
  if (has(schema, 'enum')) checkEnum(schema, type, { where, named });
  const { format } = schema;
  if (type === 'string' && format !== undefined && !['enum', 'date-time'].includes(text(format))) throw no(`${named}.format: only 'enum' and 'date-time' are supported for STRING type`); // prettier-ignore
  const ofNumbers = numberFormats[type];
  if (ofNumbers !== undefined && format !== undefined && !ofNumbers.includes(text(format))) throw no(`${named}.format: only ${ofNumbers.map((one) => `'${one}'`).join(' and ')} are supported for ${type.toUpperCase()} type`); // prettier-ignore
  if (type === 'array' && !has(schema, 'items')) throw no(`${named}.items: missing field.`);
  for (const word of ['properties', 'required'])
    if (type !== 'object' && has(schema, word) && !(isRoot && type === '')) throw no(`${named}.${word}: only allowed for OBJECT type`);
  checkKeys(schema, type, { named, isRoot });
}

function checkKeys(schema: Part, type: string, { named, isRoot }: Pick<SchemaPlace, 'named' | 'isRoot'>): void {
  const keys = isPlainObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  if (type === 'object' && !isRoot && keys.length === 0) throw no(`${named}.properties: should be non-empty for OBJECT type`);
  list(schema['required']).forEach((key, index) => {
    if (!keys.includes(text(key))) throw no(`${named}.required[${index}]: property is not defined`);
  });
}

function checkEnum(schema: Part, type: string, { where, named }: Pick<SchemaPlace, 'where' | 'named'>): void {
  list(schema['enum']).forEach((value, index) => {
    if (typeof value !== 'string') throw no(`Invalid value at '${where}.enum[${index}]' (TYPE_STRING), ${JSON.stringify(value)}`);
    if (value === '') throw no(`${named}.enum[${index}]: cannot be empty`);
  });
  if (type !== 'string' && schema['format'] !== 'enum') throw no(`${named}.enum: only allowed for STRING type`);
}

interface OpenCalls {
  readonly asked: number;
  answered: number;
}

function checkContents(body: Part): void {
  const messages = parts(body['messages']).filter(({ role }) => role !== 'system' && role !== 'developer');
  if (messages.length === 0) throw no('* GenerateContentRequest.contents: contents is not specified');
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const signs = /gemini-(3|[4-9])/.test(text(body['model']));
  let open: OpenCalls | null = null;
  let position = 0;
  messages.forEach((message, index) => {
    const before = messages[index - 1]?.['role'];
    if (message['role'] === 'tool') {
      if (open === null) throw no('Please ensure that function response turn comes immediately after a function call turn.');
      open.answered += 1;
      return;
    }
    checkCounts(open);
    open = null;
    position += 1;
    const calls = message['role'] === 'assistant' ? list(message['tool_calls']) : [];
    if (calls.length === 0) {
      checkParts(message['content'], position - 1);
      return;
    }
    if (before !== 'user' && before !== 'tool') throw no('Please ensure that function call turn comes immediately after a user turn or after a function response turn.'); // prettier-ignore
    calls.forEach((call, place) => checkCall(call, { index, place, position }));
    if (signs && index > lastUser) checkSigned(calls[0], position);
    open = { asked: calls.length, answered: 0 };
  });
  checkCounts(open);
}

function checkCounts(open: OpenCalls | null): void {
  if (open === null || open.asked === open.answered) return;
  throw no('Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'); // prettier-ignore
}

function checkParts(content: unknown, position: number): void {
  if (content !== '' && content !== null && content !== undefined && !(Array.isArray(content) && content.length === 0)) return;
  throw no(`* GenerateContentRequest.contents[${position}].parts: contents.parts must not be empty.`);
}

function checkCall(call: unknown, { index, place, position }: { index: number; place: number; position: number }): void {
  const fn = isPlainObject(call) && isPlainObject(call['function']) ? call['function'] : {};
  if (text(fn['name']) === '') throw no(`* GenerateContentRequest.contents[${position - 1}].parts[${place}].function_call.name: Name cannot be empty.`); // prettier-ignore
  const parsed = typeof fn['arguments'] === 'string' ? parseJson(fn['arguments']) : null;
  if (parsed === null || !parsed.ok || !isPlainObject(parsed.value)) throw no(`Invalid value at 'messages[${index}].tool_calls[${place}].function.arguments' (TYPE_STRING)`); // prettier-ignore
}

/** The signature of a step's first call must be sent back; the vendor's placeholder for a lost signature is accepted too. */
function checkSigned(call: unknown, position: number): void {
  if (!isPlainObject(call)) return;
  const extra = isPlainObject(call['extra_content']) ? call['extra_content']['google'] : undefined;
  if (isPlainObject(extra) && text(extra['thought_signature']) !== '') return;
  const name = isPlainObject(call['function']) ? text(call['function']['name']) : '';
  throw no(`Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${position}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`); // prettier-ignore
}
