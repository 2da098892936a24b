// The refusals of a chat request by llama-server and LM Studio. Sources: llama.cpp's common/chat.cpp and server (2026-07), public issues.
// LM Studio's refusals are barely documented; only the messages of its template failures are known.

import { isPlainObject, parseJson } from '../../../core/base/json.ts';
import { given, has, list, parts, Refused, refusalOf, text, walkSchema, type Part, type VendorNo } from './refused.ts';

const llamaNo = (message: string, status = 400): Refused =>
  new Refused({ status, body: { error: { code: status, message, type: status === 400 ? 'invalid_request_error' : 'server_error' } } });

export function llamaServerChat(body: Part): VendorNo | null {
  return refusalOf(() => {
    if (!Array.isArray(body['messages']))
      throw llamaNo(`Expected 'messages' to be an array, got ${JSON.stringify(body['messages'] ?? null)}`);
    body['messages'].forEach((message: unknown) => checkLlamaMessage(message));
    if (given(body, 'tools') && !Array.isArray(body['tools']))
      throw llamaNo(`Expected 'tools' to be an array, got ${JSON.stringify(body['tools'])}`);
    list(body['tools']).forEach((tool) => checkLlamaTool(tool));
    const messages = parts(body['messages']);
    const trailing = messages.length - 1 - messages.findLastIndex(({ role }) => role !== 'assistant');
    if (trailing > 1) throw llamaNo('Cannot have 2 or more assistant messages at the end of the list.');
    const kwargs = body['chat_template_kwargs'];
    const thinks = !isPlainObject(kwargs) || kwargs['enable_thinking'] !== false;
    if (trailing === 1 && thinks) throw llamaNo('Assistant response prefill is incompatible with enable_thinking.');
    // A server with such a model name has a template that requires alternating turns, like Gemma and early Mistral models.
    if (/gemma|alternating/.test(text(body['model']))) checkAlternation(messages);
    // Many templates require the system prompt first and reject other orders with their own message.
    if (messages.slice(1).some(({ role }) => role === 'system')) throw llamaNo('System message must be at the beginning.', 500);
  });
}

function checkAlternation(messages: readonly Part[]): void {
  const roles = messages.map(({ role }) => text(role)).filter((role) => role !== 'system');
  if (roles.every((role, index) => (role === 'user') === (index % 2 === 0))) return;
  throw llamaNo('Conversation roles must alternate user/assistant/user/assistant/...', 500);
}

function checkLlamaMessage(message: unknown): void {
  if (!isPlainObject(message)) throw llamaNo(`Expected 'message' to be an object, got ${JSON.stringify(message)}`);
  if (!has(message, 'role')) throw llamaNo(`Missing 'role' in message: ${JSON.stringify(message)}`);
  const { content } = message;
  const hasCalls = parts(message['tool_calls']).length > 0;
  if (!has(message, 'content') && !hasCalls) throw llamaNo("Expected 'content' or 'tool_calls' (ref: https://github.com/ggml-org/llama.cpp/issues/8367)"); // prettier-ignore
  if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content)) throw llamaNo(`Invalid 'content' type: expected string or array, got ${JSON.stringify(content)} (ref: https://github.com/ggml-org/llama.cpp/issues/8367)`); // prettier-ignore
  for (const part of list(content)) {
    if (has(part, 'type') && ['text', 'image_url', 'input_audio', 'media_marker'].includes(text(part['type']))) continue;
    throw llamaNo('unsupported content[].type');
  }
  for (const call of parts(message['tool_calls'])) checkLlamaCall(call);
}

function checkLlamaCall(call: Part): void {
  if (call['type'] !== 'function') throw llamaNo(`Missing tool call type: ${JSON.stringify(call)}`);
  if (!isPlainObject(call['function'])) throw llamaNo(`Missing tool call function: ${JSON.stringify(call)}`);
  if (text(call['function']['name']) === '') throw llamaNo(`Missing tool call name: ${JSON.stringify(call)}`);
  const args = call['function']['arguments'];
  const parsed = typeof args === 'string' ? parseJson(args) : null;
  if (parsed === null) throw llamaNo(`Missing tool call arguments: ${JSON.stringify(call)}`);
  if (!parsed.ok) throw llamaNo(`Failed to parse tool call arguments as JSON: ${parsed.error}`, 500);
}

/** A schema is compiled to a grammar; a schema that cannot be compiled fails the whole request. */
function checkLlamaTool(tool: unknown): void {
  if (!isPlainObject(tool) || !has(tool, 'type')) throw llamaNo(`Missing tool type: ${JSON.stringify(tool)}`);
  if (tool['type'] !== 'function') throw llamaNo(`Unsupported tool type: ${JSON.stringify(tool)}`);
  if (!isPlainObject(tool['function'])) throw llamaNo(`Missing tool function: ${JSON.stringify(tool)}`);
  const failed = 'Unable to generate parser for this template. Automatic parser generation failed: JSON schema conversion failed:\n';
  walkSchema(tool['function']['parameters'] ?? {}, (node) => {
    if (!isPlainObject(node)) return;
    const { pattern, $ref } = node;
    if (typeof pattern === 'string' && !/^\^[\s\S]*\$$/.test(pattern))
      throw llamaNo(`${failed}Pattern must start with '^' and end with '$'`);
    if (typeof pattern === 'string' && /\\[dws]/i.test(pattern)) throw llamaNo('Failed to initialize samplers: failed to parse grammar');
    if (typeof $ref === 'string' && !$ref.startsWith('#/')) throw llamaNo(`${failed}Unsupported ref: ${$ref}`);
  });
}

const lmNo = (error: string): Refused => new Refused({ status: 400, body: { error } });

export function lmStudioChat(body: Part): VendorNo | null {
  return refusalOf(() => {
    if (!Array.isArray(body['messages'])) throw lmNo("'messages' field is required");
    const messages = parts(body['messages']);
    if (!messages.some(({ role }) => role === 'user')) throw lmNo('Error rendering prompt with jinja template: "No user query found in messages."'); // prettier-ignore
    for (const { role, content } of messages) {
      if (!['system', 'user', 'assistant', 'tool', 'developer'].includes(text(role))) throw lmNo(`Invalid discriminator value. Expected 'user' | 'assistant' | 'system' | 'tool'`); // prettier-ignore
      if (role === 'user' && (content === null || content === undefined)) throw lmNo("Invalid 'content': 'content' objects must have a 'type' field that is either 'text' or 'image_url'."); // prettier-ignore
    }
    for (const tool of parts(body['tools'])) {
      const fn = isPlainObject(tool['function']) ? tool['function'] : {};
      if (isPlainObject(fn['parameters']) && fn['parameters']['type'] !== 'object') throw lmNo("Invalid 'tools': 'parameters' must be an object schema."); // prettier-ignore
    }
  });
}
