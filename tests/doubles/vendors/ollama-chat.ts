// Ollama's refusals of a request to /api/chat: values of the wrong Go type, and little else. Fields that Ollama silently ignores (top-level
// options, schema keywords, `tool_choice`) are refused here as well, with our own message, because a test must not rely on ignored fields.
// Sources: api/types.go and server routes (2026-08), public issues.

import { isPlainObject } from '../../../core/base/json.ts';
import { jsonTypes, list, parts, Refused, refusalOf, text, walkSchema, type Part, type VendorNo } from './refused.ts';

const KEYS = 'model messages stream format keep_alive tools options think truncate shift logprobs top_logprobs'.split(' ');
const ROOT_WORDS = ['type', '$defs', 'items', 'required', 'properties'];
const MESSAGE_KEYS = ['role', 'content', 'thinking', 'images', 'tool_calls', 'tool_name', 'tool_call_id'];
const INNER_WORDS = ['anyOf', 'type', 'items', 'description', 'enum', 'properties', 'required'];

function no(error: string): Refused {
  return new Refused({ status: 400, body: { error } });
}

type GoType = 'string' | 'array' | 'object' | 'boolean';

function want(value: unknown, is: GoType, [field, type]: readonly [string, string]): void {
  if (value === undefined || value === null) return;
  const kind = Array.isArray(value) ? 'array' : typeof value;
  if (kind === is) return;
  throw no(`json: cannot unmarshal ${kind === 'boolean' ? 'bool' : kind} into Go struct field ${field} of type ${type}`);
}

export function ollamaChat(body: Part): VendorNo | null {
  return refusalOf(() => {
    want(body['model'], 'string', ['ChatRequest.model', 'string']);
    want(body['messages'], 'array', ['ChatRequest.messages', '[]api.Message']);
    want(body['stream'], 'boolean', ['ChatRequest.stream', 'bool']);
    want(body['options'], 'object', ['ChatRequest.options', 'map[string]interface {}']);
    want(body['tools'], 'array', ['ChatRequest.tools', 'api.Tools']);
    checkFormat(body['format']);
    list(body['messages']).forEach(checkMessage);
    parts(body['tools']).forEach((tool) => checkTool(isPlainObject(tool['function']) ? tool['function'] : {}));
    if (text(body['model']) === '') throw no('model is required');
    // The ignored value equals the server's default, so nothing is lost.
    const isLost = (key: string): boolean => !KEYS.includes(key) && !(key === 'tool_choice' && body[key] === 'auto');
    for (const key of Object.keys(body)) if (isLost(key)) throw forgotten(key);
  });
}

/** "json", or the schema from which its grammar is compiled. */
function checkFormat(format: unknown): void {
  if (format === undefined || format === null || format === '' || format === 'json') return;
  if (!isPlainObject(format)) throw no(`invalid format: ${JSON.stringify(format)}; expected "json" or a valid JSON Schema object`);
  walkSchema(format, (node) => {
    const isLost = isPlainObject(node) && 'type' in node && ![node['type']].flat().every((type) => jsonTypes.includes(type));
    if (isLost) throw no('invalid JSON schema in format');
  });
}

function forgotten(what: string): Refused {
  return no(`strict double: Ollama would forget ${what} without a word`);
}

function checkMessage(message: unknown): void {
  if (!isPlainObject(message)) throw no('json: cannot unmarshal value into Go struct field ChatRequest.messages of type api.Message');
  for (const key of Object.keys(message)) if (!MESSAGE_KEYS.includes(key)) throw forgotten(`messages.${key}`);
  for (const key of ['role', 'content', 'thinking', 'tool_name', 'tool_call_id']) want(message[key], 'string', [`ChatRequest.messages.${key}`, 'string']); // prettier-ignore
  if (!['system', 'user', 'assistant', 'tool'].includes(text(message['role']))) throw no(`invalid role: ${text(message['role'])}, role must be one of [system, user, assistant, tool]`); // prettier-ignore
  for (const image of list(message['images'])) {
    want(image, 'string', ['ChatRequest.messages.images', 'api.ImageData']);
    const at = text(image).search(/[^A-Za-z0-9+/=\r\n]/);
    if (at >= 0) throw no(`illegal base64 data at input byte ${at}`);
  }
  for (const call of parts(message['tool_calls'])) {
    const fn = isPlainObject(call['function']) ? call['function'] : {};
    const at = 'ChatRequest.messages.tool_calls.function';
    for (const key of Object.keys(call)) if (key !== 'id' && key !== 'function') throw forgotten(`messages.tool_calls.${key}`);
    want(fn['name'], 'string', [`${at}.name`, 'string']);
    want(fn['arguments'], 'object', [`${at}.arguments`, 'api.ToolCallFunctionArguments']);
  }
}

function checkTool(fn: Part): void {
  const schema = fn['parameters'];
  const at = 'ChatRequest.tools.function.parameters';
  want(schema, 'object', [at, 'api.ToolFunctionParameters']);
  if (!isPlainObject(schema)) return;
  want(schema['type'], 'string', [`${at}.type`, 'string']);
  want(schema['properties'], 'object', [`${at}.properties`, 'map[string]api.ToolProperty']);
  want(schema['required'], 'array', [`${at}.required`, '[]string']);
  for (const word of Object.keys(schema)) if (!ROOT_WORDS.includes(word)) throw forgotten(`parameters.${word}`);
  checkProperties(schema['properties'], `${at}.properties`);
}

function checkProperties(properties: unknown, at: string): void {
  if (!isPlainObject(properties)) return;
  for (const [key, node] of Object.entries(properties)) {
    want(node, 'object', [`${at}.${key}`, 'api.ToolProperty']);
    if (!isPlainObject(node)) continue;
    want(node['enum'], 'array', [`${at}.enum`, '[]interface {}']);
    want(node['description'], 'string', [`${at}.description`, 'string']);
    for (const word of Object.keys(node)) if (!INNER_WORDS.includes(word)) throw forgotten(`${key}.${word}`);
    checkProperties(node['properties'], at);
    // Branches are checked like properties; only \`items\` is kept as it is.
    checkProperties(Object.fromEntries(list(node['anyOf']).map((branch, index) => [`${key}.anyOf[${index}]`, branch])), at);
  }
}
