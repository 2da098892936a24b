// The refusals of a request's messages by OpenAI and by vendors that copy its chat format: roles, contents, calls and their results.
// Sources: published OpenAPI document (2026-08) and public issues with the vendors' answers.

import { isPlainObject } from '../../../core/base/json.ts';
import { checkLength, checkName, emptyArray, missing, type Say } from './openai-schema.ts';
import { given, has, kindWords, list, text, type Part } from './refused.ts';

export interface MessageRules {
  readonly say: Say;
  /** DeepSeek's messages about the pairing of calls and results differ. */
  readonly isDeepSeek?: boolean;
}

const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer'];
const CALL_ID_CHARS_MAX = 40;
const IMAGE_CHARS_MAX = 20_971_520;
const TEXT_CHARS_MAX = 10_485_760;

export function checkMessages(body: Part, rules: MessageRules): void {
  const { say } = rules;
  const messages = body['messages'];
  if (!Array.isArray(messages)) throw missing('messages', say);
  if (messages.length === 0) throw emptyArray('messages', say);
  const pairs = new Pairs(rules);
  // Only the old reasoner requires alternating turns.
  if (rules.isDeepSeek === true && body['model'] === 'deepseek-reasoner') checkAlternation(messages.filter(isPlainObject), say);
  messages.forEach((message: unknown, index) => {
    const at = `messages[${index}]`;
    if (!isPlainObject(message) || typeof message['role'] !== 'string') throw missing(`${at}.role`, say);
    const { role } = message;
    if (!ROLES.includes(role)) throw say(`Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`, `${at}.role`, 'invalid_value'); // prettier-ignore
    if (typeof message['name'] === 'string' && !/^[^\s<|\\/>]+$/.test(message['name'])) throw say(`Invalid '${at}.name': string does not match pattern. Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'.`, `${at}.name`, 'invalid_value'); // prettier-ignore
    const calls = role === 'assistant' && given(message, 'tool_calls') ? message['tool_calls'] : null;
    checkContent(message, { at, hasCalls: calls !== null }, say);
    if (role === 'tool') pairs.result(message, index);
    else pairs.close();
    if (calls === null) return;
    if (!Array.isArray(calls)) throw say(`Invalid type for '${at}.tool_calls': expected an array of objects, but got ${kindWords(calls)} instead.`, `${at}.tool_calls`, 'invalid_type'); // prettier-ignore
    if (calls.length === 0) throw emptyArray(`${at}.tool_calls`, say);
    calls.forEach((call: unknown, place) => checkCall(call, `${at}.tool_calls[${place}]`, say));
    pairs.open(calls.filter(isPlainObject), index);
  });
  pairs.close();
}

function checkAlternation(messages: readonly Part[], say: Say): void {
  const roles = messages.map(({ role }) => role).filter((role) => role !== 'system' && role !== 'tool');
  const at = roles.findIndex((role, index) => index > 0 && role === roles[index - 1]);
  if (at > 0 && roles[at] === 'user') throw say(`deepseek-reasoner does not support successive user or assistant messages (messages[${at - 1}] and messages[${at}] in your input). You should interleave the user/assistant messages in the message sequence.`, null, 'invalid_request_error'); // prettier-ignore
}

function checkContent(message: Part, { at, hasCalls }: { at: string; hasCalls: boolean }, say: Say): void {
  const { content, role } = message;
  if (content === null || content === undefined) {
    const mayBeNull = role === 'assistant' && (hasCalls || ['function_call', 'audio', 'refusal'].some((key) => has(message, key)));
    if (!mayBeNull) throw say("Invalid value for 'content': expected a string, got null.", `${at}.content`);
  } else if (Array.isArray(content)) {
    if (content.length === 0) throw emptyArray(`${at}.content`, say);
    content.forEach((part: unknown, place) => checkPart(part, { at, place, role: text(role) }, say));
  } else if (typeof content === 'string') {
    checkLength(content, { at: `${at}.content`, max: TEXT_CHARS_MAX }, say);
  } else {
    throw say(`Invalid type for '${at}.content': expected one of a string or array of objects, but got ${kindWords(content)} instead.`, `${at}.content`, 'invalid_type'); // prettier-ignore
  }
}

function checkPart(part: unknown, { at, place, role }: { at: string; place: number; role: string }, say: Say): void {
  const type = has(part, 'type') ? part['type'] : undefined;
  if (type === 'image_url' && isPlainObject(part)) {
    if (role !== 'user') throw say(`Invalid '${at}'. Image URLs are only allowed for messages with role 'user', but this message with role '${role}' contains an image URL.`, at, 'invalid_value'); // prettier-ignore
    checkImage(isPlainObject(part['image_url']) ? part['image_url']['url'] : undefined, `${at}.content[${place}].image_url`, say);
    return;
  }
  if (['text', 'refusal', 'input_audio', 'file'].includes(text(type))) return;
  throw say(`Invalid value: '${String(type)}'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'.`, `${at}.content[${place}].type`, 'invalid_value'); // prettier-ignore
}

function checkImage(url: unknown, at: string, say: Say): void {
  if (typeof url !== 'string') throw say(`Invalid type for '${at}': expected an object, but got a string instead.`, at, 'invalid_type');
  const type = /^data:([^;,]+)/.exec(url)?.[1];
  const formats = "of one the following formats: ['png', 'jpeg', 'gif', 'webp'].";
  if (type !== undefined && !/^image\/(png|jpe?g|gif|webp)$/.test(type))
    throw say(`You uploaded an unsupported image. Please make sure your image has ${formats}`, null, 'invalid_image_format');
  if (type !== undefined && url.length > IMAGE_CHARS_MAX)
    throw say(`You uploaded an unsupported image. Please make sure your image is below 20 MB in size and is ${formats}`, null, 'image_too_large'); // prettier-ignore
}

function checkCall(call: unknown, at: string, say: Say): void {
  if (!isPlainObject(call) || typeof call['id'] !== 'string') throw missing(`${at}.id`, say);
  // A reply of 2026-07 let 51 characters pass; the published limit is used.
  checkLength(call['id'], { at: `${at}.id`, max: CALL_ID_CHARS_MAX }, say);
  if (call['type'] !== 'function') throw missing(`${at}.type`, say);
  const fn = isPlainObject(call['function']) ? call['function'] : {};
  checkName(fn['name'], `${at}.function.name`, say);
  if (typeof fn['arguments'] !== 'string') throw say(`Invalid type for '${at}.function.arguments': expected a string, but got ${kindWords(fn['arguments'])} instead.`, `${at}.function.arguments`, 'invalid_type'); // prettier-ignore
}

/** Checks that each call is answered directly after its message, and that each result belongs to a call. */
class Pairs {
  readonly #rules: MessageRules;
  #waiting: { readonly at: number; readonly all: ReadonlySet<string>; readonly open: Set<string> } | null = null;

  constructor(rules: MessageRules) {
    this.#rules = rules;
  }

  open(calls: readonly Part[], at: number): void {
    const ids = calls.map((call) => text(call['id']));
    this.#waiting = { at, all: new Set(ids), open: new Set(ids) };
  }

  result(message: Part, index: number): void {
    const { say, isDeepSeek = false } = this.#rules;
    const at = `messages.[${index}]`;
    const id = message['tool_call_id'];
    if (this.#waiting === null) {
      // This is OpenAI's own spelling.
      if (isDeepSeek) throw say("Messages with role 'tool' must be a response to a preceding message with 'tool_calls'", null, 'invalid_request_error'); // prettier-ignore
      throw say("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", `${at}.role`);
    }
    if (typeof id !== 'string') throw say("Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.", `${at}.tool_call_id`); // prettier-ignore
    if (!this.#waiting.all.has(id)) throw say(`Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`, `${at}.tool_call_id`); // prettier-ignore
    this.#waiting.open.delete(id);
  }

  close(): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting === null || waiting.open.size === 0) return;
    const { say, isDeepSeek = false } = this.#rules;
    const must = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
    if (isDeepSeek) throw say(`${must} (insufficient tool messages following tool_calls message)`, null, 'invalid_request_error');
    throw say(`${must} The following tool_call_ids did not have response messages: ${list([...waiting.open]).join(', ')}`, `messages.[${waiting.at + 1}].role`); // prettier-ignore
  }
}
