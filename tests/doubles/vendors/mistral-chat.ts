// Mistral's refusals of a chat request. Sources: the vendor's client-ts (fields) and mistral-common validator (2026-07), public issues with
// its answers. Codes other than 3230 and 3280 are unverified.

import { isPlainObject, parseJson } from '../../../core/base/json.ts';
import { given, has, jsonTypes, list, parts, Refused, refusalOf, text, walkSchema, type Part, type VendorNo } from './refused.ts';

const KEYS = 'model messages temperature top_p max_tokens stream stop random_seed metadata response_format tools tool_choice presence_penalty frequency_penalty n prediction parallel_tool_calls prompt_mode reasoning_effort safe_prompt guardrails prompt_cache_key service_tier'.split(' '); // prettier-ignore
const MESSAGE_KEYS: Readonly<Record<string, readonly string[]>> = {
  system: ['role', 'content'],
  user: ['role', 'content'],
  assistant: ['role', 'content', 'tool_calls', 'prefix'],
  tool: ['role', 'content', 'name', 'tool_call_id'],
};
const FOLLOWERS: Readonly<Record<string, readonly string[]>> = {
  system: ['user', 'assistant', 'system'],
  user: ['assistant', 'system', 'user'],
  assistant: ['assistant', 'user', 'tool'],
  // The open-source validator of 2026-07 allows a user message to follow; the hosted service and NIM did not.
  tool: ['assistant', 'tool'],
};
const CALL_ID = /^[a-zA-Z0-9]{9}$/;
const FUNCTION_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function no(message: string, type = 'invalid_request_error', code: string | null = null): Refused {
  return new Refused({ status: 400, body: { object: 'error', message, type, param: null, code } });
}

function wrongOrder(message: string): Refused {
  return no(message, 'invalid_request_message_order', '3230');
}

function wrongName(name: unknown): Refused {
  return no(`Function name was ${String(name)} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`, 'invalid_request_tool', '3240'); // prettier-ignore
}

function wrongId(id: unknown): Refused {
  return no(`Tool call id was ${text(id)} but must be a-z, A-Z, 0-9, with a length of 9.`, 'invalid_function_call', '3280');
}

/** An unknown or missing field of the request; its status and body differ from other refusals. */
function wrongField(type: string, place: readonly (string | number)[], msg: string): Refused {
  const detail = [{ type, loc: ['body', ...place], msg }];
  return new Refused({
    status: 422,
    body: { object: 'error', message: { detail }, type: 'invalid_request_error', param: null, code: '3001' },
  });
}

const extra = (place: readonly (string | number)[]): Refused => wrongField('extra_forbidden', place, 'Extra inputs are not permitted');

export function mistralChat(body: Part): VendorNo | null {
  return refusalOf(() => {
    for (const key of Object.keys(body)) if (!KEYS.includes(key)) throw extra([key]);
    if (text(body['model']) === '') throw no('Model name parameter is required for serving mode');
    const messages = parts(body['messages']);
    if (messages.length === 0) throw wrongOrder('Conversation must have at least one message');
    messages.forEach((message, index) => {
      const role = text(message['role']);
      const keys = MESSAGE_KEYS[role];
      if (keys === undefined) throw wrongField('union_tag_invalid', ['messages', index], `Input tag '${role}' found using 'role' does not match any of the expected tags: 'system', 'user', 'assistant', 'tool'`); // prettier-ignore
      for (const key of Object.keys(message)) if (!keys.includes(key)) throw extra(['messages', index, role, key]);
    });
    list(body['tools']).forEach((tool, index) => checkTool(isPlainObject(tool) ? tool['function'] : undefined, index));
    checkOrder(messages);
    checkPairs(messages);
    checkEnd(messages);
  });
}

function checkTool(fn: unknown, index: number): void {
  const name = isPlainObject(fn) ? fn['name'] : undefined;
  if (!isPlainObject(fn) || !FUNCTION_NAME.test(text(name))) throw wrongName(name);
  // Required here, unlike with other vendors.
  if (!isPlainObject(fn['parameters'])) throw wrongField('missing', ['tools', index, 'function', 'parameters'], 'Field required');
  walkSchema(fn['parameters'], (node) => {
    if (typeof node === 'boolean') return;
    if (!isPlainObject(node)) throw no(`Invalid tool schema: ${JSON.stringify(node)} is not of type 'object', 'boolean'`);
    const { type, required } = node;
    if (type !== undefined && ![type].flat().every((one) => jsonTypes.includes(one))) throw no(`Invalid tool schema: '${[type].flat().map(text).join()}' is not valid under any of the given schemas`); // prettier-ignore
    if (required !== undefined && !Array.isArray(required))
      throw no(`Invalid tool schema: ${JSON.stringify(required)} is not of type 'array'`);
  });
}

function checkOrder(messages: readonly Part[]): void {
  const roles = messages.map(({ role }) => text(role));
  if (roles.length === 1 && !['user', 'system'].includes(roles[0] ?? '')) throw wrongOrder('Conversation must start with a user message or system message'); // prettier-ignore
  roles.forEach((role, index) => {
    const before = roles[index - 1];
    if (before !== undefined && FOLLOWERS[before]?.includes(role) !== true) throw wrongOrder(`Unexpected role '${role}' after role '${before}'`); // prettier-ignore
  });
}

function checkPairs(messages: readonly Part[]): void {
  let due = new Set<string>();
  let got = new Set<string>();
  const settle = (): void => {
    if (due.size !== got.size) throw wrongOrder('Not the same number of function calls and responses');
  };
  for (const message of messages) {
    if (message['role'] === 'tool') {
      checkResult(message, due, got);
      got.add(text(message['tool_call_id']));
    } else if (message['role'] === 'assistant') {
      settle();
      due = callsOf(message);
      got = new Set();
    } else if (message['content'] === null || message['content'] === undefined) {
      throw no(message['role'] === 'system' ? 'System prompt must have content' : 'User message must have content');
    }
  }
  settle();
}

function checkResult(message: Part, due: ReadonlySet<string>, got: ReadonlySet<string>): void {
  const id = message['tool_call_id'];
  if (id === undefined || id === null) throw no('Tool call id has to be defined.');
  if (!CALL_ID.test(text(id))) throw wrongId(id);
  if (given(message, 'name') && !FUNCTION_NAME.test(text(message['name']))) throw wrongName(message['name']);
  if (got.has(text(id))) throw wrongOrder(`Duplicate tool call id ${text(id)} in tool results`);
  if (!due.has(text(id))) throw wrongOrder(`Unexpected tool call id ${text(id)} in tool results`);
}

function callsOf(message: Part): Set<string> {
  const { content } = message;
  const calls = parts(message['tool_calls']);
  const isBlank = content === null || content === undefined || content === '' || (Array.isArray(content) && content.length === 0);
  if (calls.length === 0 && isBlank) throw no('Assistant message must have either content or tool_calls, but not both.', 'invalid_request_assistant_message', '3240'); // prettier-ignore
  const ids = new Set<string>();
  for (const call of calls) {
    const fn = isPlainObject(call['function']) ? call['function'] : {};
    if (!CALL_ID.test(text(call['id']))) throw wrongId(call['id']);
    if (!FUNCTION_NAME.test(text(fn['name']))) throw wrongName(fn['name']);
    if (typeof fn['arguments'] === 'string' && !parseJson(fn['arguments']).ok) throw no('Invalid tool call arguments: not valid JSON');
    if (ids.has(text(call['id']))) throw wrongOrder(`Duplicate tool call id ${text(call['id'])} in assistant message`);
    ids.add(text(call['id']));
  }
  return ids;
}

function checkEnd(messages: readonly Part[]): void {
  messages.forEach((message, index) => {
    if (has(message, 'prefix') && message['prefix'] === true && index < messages.length - 1) throw no('Assistant message with prefix True must be last message'); // prettier-ignore
  });
  const last = messages[messages.length - 1];
  if (last?.['role'] === 'assistant' && last['prefix'] !== true) throw wrongOrder('Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant'); // prettier-ignore
}
