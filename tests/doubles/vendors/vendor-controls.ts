// A valid request for each vendor and, for each of its rules, one minimal change that causes the refusal.

import type { Part } from './refused.ts';
import { responsesControls, validResponses } from './responses-controls.ts';
import type { Vendor } from './vendors.ts';

export const words = { type: 'object', properties: { path: { type: 'string', description: 'd' }, mode: { type: 'string', enum: ['r', 'w'] } }, required: ['path'] }; // prettier-ignore
export const strictWords = { ...words, required: ['path', 'mode'], additionalProperties: false };
const tool = (parameters: unknown, more: object = {}) => [{ type: 'function', function: { name: 'read', description: 'd', parameters, ...more } }]; // prettier-ignore
const user = (content: unknown = 'hi') => ({ role: 'user', content });
const call = (id: string, more: object = {}) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' }, ...more });
const asks = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls });
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' });
const signed = { extra_content: { google: { thought_signature: 's' } } };
const toolUse = (id: string, more: object = {}) => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {}, ...more }] }); // prettier-ignore
const toolResult = (id: string, ...more: object[]) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }, ...more] }); // prettier-ignore
const claudeTool = (input_schema: unknown, more: object = {}) => [{ name: 'read', description: 'd', input_schema, ...more }];
const mark = { cache_control: { type: 'ephemeral' } };
const block = (more: object = {}) => ({ type: 'text', text: 'x', ...more });
const image = (url: string) => [{ type: 'image_url', image_url: { url } }];
const nine = 'abcdefghi';

const chat = { messages: [{ role: 'system', content: 's' }, user(), asks(call(nine)), result(nine)], tools: tool(words), stream: true };
const openAi = { model: 'gpt-4o', ...chat, messages: [...chat.messages, user()], stream_options: { include_usage: true } };
const ollamaAsks = (args: unknown) => ({ role: 'assistant', content: '', tool_calls: [{ function: { name: 'read', arguments: args } }] });

export const valid: Readonly<Record<Vendor, Part>> = {
  openai: openAi,
  responses: validResponses,
  groq: { ...openAi, model: 'llama-4' },
  deepseek: { ...openAi, model: 'deepseek-chat' },
  xai: { ...openAi, model: 'grok-4' },
  openrouter: { ...openAi, model: 'openai/gpt-4o' },
  llamacpp: { ...openAi, model: 'local' },
  lmstudio: { ...openAi, model: 'local' },
  anthropic: {
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    stream: true,
    system: [block(mark)],
    tools: claudeTool(words, mark),
    messages: [user(), toolUse('t1'), toolResult('t1', block(mark))],
  },
  gemini: { model: 'gemini-3-pro', ...chat, messages: [user(), asks(call('c1', signed), call('c2')), result('c1'), result('c2')] },
  mistral: { model: 'mistral-large', ...chat },
  ollama: {
    model: 'qwen3',
    stream: true,
    tools: tool(words),
    options: { num_ctx: 8192 },
    messages: [user(), ollamaAsks({ a: 1 }), { role: 'tool', tool_name: 'read', content: 'ok' }, user('and?')],
  },
};

export type Control = readonly [what: string, change: object, words: string, status?: number];
const schema = (parameters: unknown, more: object = {}) => ({ tools: tool(parameters, more) });
const inside = (x: unknown) => schema({ type: 'object', properties: { x } });
export const says = (...messages: unknown[]) => ({ messages });

const openAiControls: readonly Control[] = [
  ['no model', { model: '' }, 'you must provide a model parameter'],
  ['a field it does not know', { thinking: {} }, "Unknown parameter: 'thinking'."],
  ['a root without a type', schema({ anyOf: [words] }), `Invalid schema for function 'read': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`], // prettier-ignore
  ['a union at the root', schema({ ...words, oneOf: [words] }), "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level."], // prettier-ignore
  ['a root without properties', schema({ type: 'object' }), 'In context=(), object schema missing properties.'],
  ['properties as a list', schema({ type: 'object', properties: [] }), "[] is not of type 'object'."],
  ['a schema that is null', schema(null), "None is not of type 'object', 'boolean'."],
  ['an array without items', inside({ type: 'array' }), "In context=('properties', 'x'), array schema missing items."],
  ['required that is null', schema({ ...words, required: null }), "None is not of type 'array'."],
  ['strict without closed objects', schema(words, { strict: true }), "In context=(), 'additionalProperties' is required to be supplied and to be false."], // prettier-ignore
  ['strict with an optional key', schema({ ...strictWords, required: ['path'] }, { strict: true }), "including every key in properties. Missing 'mode'."], // prettier-ignore
  ['strict with a key too many', schema({ ...strictWords, required: ['path', 'mode', 'z'] }, { strict: true }), "Extra required key 'z' supplied."], // prettier-ignore
  ['strict with allOf', schema({ ...strictWords, properties: { path: words.properties.path, mode: { allOf: [{}] } } }, { strict: true }), "'allOf' is not permitted."], // prettier-ignore
  ['strict with 1001 values', schema({ ...strictWords, properties: { path: words.properties.path, mode: { type: 'string', enum: Array.from({ length: 1001 }, String) } } }, { strict: true }), 'Expected at most 1000 enum values in total'], // prettier-ignore
  [
    'strict without parameters',
    { tools: [{ type: 'function', function: { name: 'read', strict: true } }] },
    'strict mode needs parameters.',
  ],
  ['no tools in the list', { tools: [] }, "Invalid 'tools': empty array."],
  ['129 tools', { tools: Array.from({ length: 129 }, () => tool(words)[0]) }, "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead."], // prettier-ignore
  ['tools that are not list', { tools: {} }, "Invalid type for 'tools': expected an array of objects, but got an object instead."],
  ['a tool without a type', { tools: [{ function: {} }] }, "Missing required parameter: 'tools[0].type'."],
  ['a tool without a function', { tools: [{ type: 'function' }] }, "Missing required parameter: 'tools[0].function'."],
  ['a tool without a name', schema(words, { name: undefined }), "Missing required parameter: 'tools[0].function.name'."],
  ['a dot in a name', schema(words, { name: 'a.b' }), "that matches the pattern '^[a-zA-Z0-9_-]+$'"],
  ['an empty name', schema(words, { name: '' }), 'but got an empty string instead'],
  ['a name of 65 characters', schema(words, { name: 'n'.repeat(65) }), "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64"], // prettier-ignore
  ['a long description', schema(words, { description: 'd'.repeat(1025) }), "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024"], // prettier-ignore
  ['a choice without tools', { tools: undefined, tool_choice: 'auto' }, "'tool_choice' is only allowed when 'tools' are specified."],
  ['usage asked without a stream', { stream: false }, "The 'stream_options' parameter is only allowed when 'stream' is enabled."],
  [
    'a temperature of 3',
    { temperature: 3 },
    "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
  ],
  ['five stops', { stop: ['1', '2', '3', '4', '5'] }, "Invalid 'stop': array too long."],
  ['a long cache key', { prompt_cache_key: 'k'.repeat(65) }, "Invalid 'prompt_cache_key': string too long."],
  ['metadata that is not text', { metadata: { a: 1 } }, "Invalid type for 'metadata.a': expected a string, but got an integer instead."],
  ['17 keys of metadata', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [String(i), 'v'])) }, 'Expected an object with at most 16 properties'], // prettier-ignore
  ['max_tokens for a reasoning model', { model: 'gpt-5', max_tokens: 5 }, "Use 'max_completion_tokens' instead."],
  ['a temperature for one', { model: 'gpt-5-mini', temperature: 0.2 }, "'temperature' does not support 0.2 with this model. Only the default (1) value is supported."], // prettier-ignore
  [
    'a penalty for one',
    { model: 'o3', presence_penalty: 0 },
    "Unsupported parameter: 'presence_penalty' is not supported with this model.",
  ],
  ['a stop for one', { model: 'o3', stop: ['a'] }, "Unsupported parameter: 'stop' is not supported with this model."],
  ['tools beside reasoning', { model: 'gpt-5.6-terra', reasoning_effort: 'low' }, 'To use function tools, use /v1/responses'],
  ['tools beside reasoning by default', { model: 'gpt-5.6-terra' }, 'Function tools with reasoning_effort are not supported'],
  ['reasoning for an old model', { reasoning_effort: 'low' }, 'Unrecognized request argument supplied: reasoning_effort'],
  ['no messages', { messages: undefined }, "Missing required parameter: 'messages'."],
  ['an empty list of messages', says(), "Invalid 'messages': empty array."],
  ['a message without a role', says({ content: 'x' }), "Missing required parameter: 'messages[0].role'."],
  ['an unknown role', says({ role: 'note', content: 'x' }), "Invalid value: 'note'. Supported values are:"],
  ['a name with a space', says({ ...user(), name: 'a b' }), "Invalid 'messages[0].name': string does not match pattern."],
  ['a user that says null', says(user(null)), "Invalid value for 'content': expected a string, got null."],
  ['no parts', says(user([])), "Invalid 'messages[0].content': empty array."],
  ['a number as content', says(user(3)), "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an integer instead."], // prettier-ignore
  ['an unknown part', says(user([{ type: 'video' }])), "Invalid value: 'video'."],
  ['a picture of the assistant', says({ role: 'assistant', content: image('data:image/png;base64,AA') }), "Image URLs are only allowed for messages with role 'user'"], // prettier-ignore
  ['a picture of another kind', says(user(image('data:image/tiff;base64,AA'))), 'You uploaded an unsupported image.'],
  ['a picture without an address', says(user([{ type: 'image_url' }])), "Invalid type for 'messages[0].content[0].image_url'"],
  ['a call without a result', says(user(), asks(call('c1')), user()), 'The following tool_call_ids did not have response messages: c1'],
  ['a result without a call', says(user(), result('c1')), 'must be a response to a preceeding message with'],
  ['a result of another call', says(user(), asks(call('c1')), result('c2')), "'tool_call_id' of 'c2' not found in 'tool_calls' of previous message."], // prettier-ignore
  ['a result that names no call', says(user(), asks(call('c1')), { role: 'tool', content: 'ok' }), "messages with role 'tool' must have a 'tool_call_id'"], // prettier-ignore
  ['no calls in the list', says(user(), asks()), "Invalid 'messages[1].tool_calls': empty array."],
  [
    'calls that are not list',
    says(user(), { role: 'assistant', content: 'x', tool_calls: {} }),
    "Invalid type for 'messages[1].tool_calls'",
  ],
  ['a call without an id', says(user(), asks({ type: 'function' })), "Missing required parameter: 'messages[1].tool_calls[0].id'."],
  [
    'a call id of 41 characters',
    says(user(), asks(call('i'.repeat(41))), result('i'.repeat(41))),
    'Expected a string with maximum length 40',
  ],
  ['a call without a type', says(user(), asks(call('c1', { type: undefined })), result('c1')), "Missing required parameter: 'messages[1].tool_calls[0].type'."], // prettier-ignore
  ['arguments as an object', says(user(), asks(call('c1', { function: { name: 'read', arguments: {} } })), result('c1')), 'expected a string, but got an object instead.'], // prettier-ignore
];

const anthropicControls: readonly Control[] = [
  ['no max_tokens', { max_tokens: undefined }, 'max_tokens: Field required'],
  ['a fraction of a token', { max_tokens: 1.5 }, 'max_tokens: Input should be a valid integer'],
  ['no token at all', { max_tokens: 0 }, 'max_tokens: Input should be greater than or equal to 1'],
  ['a field it does not know', { stream_options: {} }, 'stream_options: Extra inputs are not permitted'],
  ['a body that is too large', { system: 'x'.repeat(33 * 1024 * 1024) }, 'Request exceeds the maximum size', 413],
  ['a temperature for a new model', { model: 'claude-opus-4-8', temperature: 0 }, '`temperature` is deprecated for this model.'],
  ['a temperature out of range', { temperature: 1.5 }, 'temperature: range: 0..1'],
  ['a temperature beside thinking', { temperature: 0.5, thinking: { type: 'adaptive' } }, 'may only be set to 1 when thinking is enabled'],
  ['temperature beside top_p', { temperature: 0.5, top_p: 0.5 }, '`temperature` and `top_p` cannot both be specified for this model.'],
  ['top_k for a new model', { model: 'claude-sonnet-5', top_k: 4 }, '`top_k` is deprecated for this model.'],
  ['a small budget of thought', { thinking: { type: 'enabled', budget_tokens: 5 } }, 'Input should be greater than or equal to 1024'],
  ['no budget of thought', { thinking: { type: 'enabled' } }, 'thinking.enabled.budget_tokens: Field required'],
  ['a budget above the answer', { max_tokens: 1024, thinking: { type: 'enabled', budget_tokens: 1024 } }, '`max_tokens` must be greater than `thinking.budget_tokens`.'], // prettier-ignore
  ['thought beside a forced tool', { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 1024 }, tool_choice: { type: 'any' } }, 'Thinking may not be enabled when tool_choice forces tool use.'], // prettier-ignore
  ['metadata it does not know', { metadata: { name: 'x' } }, 'metadata.name: Extra inputs are not permitted'],
  ['a blank stop', { stop_sequences: ['\n'] }, 'stop_sequences: each stop sequence must contain non-whitespace'],
  ['an empty system text', { system: [{ type: 'text', text: '' }] }, 'system: text content blocks must be non-empty'],
  ['a system of another type', { system: [{ type: 'image' }] }, "system.0.type: Input should be 'text'"],
  [
    'five marks',
    { messages: [user([1, 2, 3].map(() => block(mark)))] },
    'A maximum of 4 blocks with cache_control may be provided. Found 5.',
  ],
  ['a union at the root', { tools: claudeTool({ ...words, oneOf: [words] }) }, 'tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level'], // prettier-ignore
  ['a root without a type', { tools: claudeTool({ properties: {} }) }, 'tools.0.custom.input_schema.type: Field required'],
  ['a root of another type', { tools: claudeTool({ type: 'array' }) }, "input_schema.type: Input should be 'object'"],
  ['no schema', { tools: claudeTool(undefined) }, 'tools.0.custom.input_schema: Field required'],
  ['a schema that is text', { tools: claudeTool('x') }, 'input_schema: Input should be a valid dictionary'],
  ['a key with a space', { tools: claudeTool({ type: 'object', properties: { 'a b': {} } }) }, 'Property keys should match pattern'],
  ['a tuple of draft 7', { tools: claudeTool({ type: 'object', properties: { a: { type: 'array', items: [{}] } } }) }, 'It must match JSON Schema draft 2020-12'], // prettier-ignore
  ['a bound of draft 4', { tools: claudeTool({ type: 'object', properties: { a: { exclusiveMinimum: true } } }) }, 'draft 2020-12'],
  ['text in place of a schema', { tools: claudeTool({ type: 'object', properties: { a: 'string' } }) }, 'draft 2020-12'],
  ['a pattern that is none', { tools: claudeTool({ type: 'object', properties: { a: { pattern: '(' } } }) }, 'draft 2020-12'],
  ['a name with a dot', { tools: claudeTool(words, { name: 'a.b' }) }, 'tools.0.custom.name: String should match pattern'],
  ['no name', { tools: [{ input_schema: words }] }, 'tools.0.custom.name: Field required'],
  ['a name twice', { tools: [...claudeTool(words), ...claudeTool(words)] }, 'tools: Tool names must be unique.'],
  ['a key of a tool', { tools: claudeTool(words, { parameters: {} }) }, 'tools.0.custom.parameters: Extra inputs are not permitted'],
  [
    'strict without closed objects',
    { tools: claudeTool(words, { strict: true }) },
    "'additionalProperties' must be explicitly set to false",
  ],
  ['no messages', says(), 'messages: at least one message is required'],
  ['a system message', says({ role: 'system', content: 'x' }, user()), 'Unexpected role "system".'],
  ['an unknown role', says({ role: 'tool', content: 'x' }), "messages.0.role: Input should be 'user' or 'assistant'"],
  ['a key of a message', says({ ...user(), name: 'bob' }), 'messages.0.name: Extra inputs are not permitted'],
  ['an empty message', says(user('')), 'all messages must have non-empty content'],
  ['content of another type', says(user(3)), 'messages.0.content: Input should be a valid string or list'],
  ['an empty text block', says(user([block({ text: '' })])), 'messages: text content blocks must be non-empty'],
  ['a mark on an empty text', says(user([block({ text: '', ...mark })])), 'cache_control cannot be set for empty text blocks'],
  ['a blank text', says(user(' \n')), 'messages: text content blocks must contain non-whitespace text'],
  ['an unknown block', says(user([{ type: 'video' }])), "Input tag 'video' found using 'type' does not match any of the expected tags"],
  ['a picture of the assistant', says(user(), { role: 'assistant', content: [{ type: 'image' }] }), 'image blocks are only allowed in user messages'], // prettier-ignore
  ['a picture of another kind', says(user([{ type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: 'AA' } }])), "media_type: Input should be 'image/jpeg'"], // prettier-ignore
  ['a picture with its head', says(user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'data:image/png;base64,AA' } }])), 'invalid base64 data'], // prettier-ignore
  ['a picture above 5 MB', says(user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(7_000_000) } }])), 'image exceeds 5 MB maximum'], // prettier-ignore
  ['the assistant first', says({ role: 'assistant', content: 'x' }, user()), 'messages: first message must use the "user" role'],
  [
    'a call without a result',
    says(user(), toolUse('t1'), user()),
    '`tool_use` ids were found without `tool_result` blocks immediately after: t1.',
  ],
  ['text before the results', says(user(), toolUse('t1'), { role: 'user', content: [block(), ...toolResult('t1').content] }), 'immediately after: t1.'], // prettier-ignore
  ['a result without a call', says(toolResult('t9')), 'messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t9.'],
  ['a result twice', says(user(), toolUse('t1'), { role: 'user', content: [...toolResult('t1').content, ...toolResult('t1').content] }), 'each tool_use must have a single result.'], // prettier-ignore
  ['a call of the user', says({ ...toolUse('t1'), role: 'user' }), '`tool_use` blocks can only be in `assistant` messages'],
  [
    'a result of the assistant',
    says(user(), { ...toolResult('t1'), role: 'assistant' }),
    '`tool_result` blocks can only be in `user` messages',
  ],
  ['a call id with a dot', says(user(), toolUse('a.b'), toolResult('a.b')), "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"],
  ['a call id twice', says(user(), toolUse('t1'), toolResult('t1'), toolUse('t1'), toolResult('t1')), '`tool_use` ids must be unique'],
  ['a call with a bad name', says(user(), toolUse('t1', { name: 'a b' }), toolResult('t1')), 'tool_use.name: String should match pattern'],
  [
    'arguments as text',
    says(user(), toolUse('t1', { input: '{}' }), toolResult('t1')),
    'tool_use.input: Input should be a valid dictionary',
  ],
  ['a key of a call', says(user(), toolUse('t1', { text: 'x' }), toolResult('t1')), 'messages.1.content.0.tool_use.text: Extra inputs are not permitted'], // prettier-ignore
  ['an empty text in a result', says(user(), toolUse('t1'), { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: [block({ text: '' })] }] }), 'text content blocks must be non-empty'], // prettier-ignore
  ['an error that says nothing', says(user(), toolUse('t1'), { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: '', is_error: true }] }), 'content cannot be empty if `is_error` is true'], // prettier-ignore
  ['calls without tools', { tools: undefined }, 'must define tools.'],
  ['a start of the answer', { model: 'claude-opus-4-6', messages: [user(), { role: 'assistant', content: 'a' }] }, 'This model does not support assistant message prefill.'], // prettier-ignore
  ['a start beside thinking', { thinking: { type: 'adaptive' }, messages: [user(), { role: 'assistant', content: 'a' }] }, 'Prefilling the assistant response is not supported'], // prettier-ignore
  ['a start that ends in a space', says(user(), { role: 'assistant', content: 'a ' }), 'final assistant content cannot end with trailing whitespace'], // prettier-ignore
  ['a tool loop without its thinking', { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2000 } }, 'Expected `thinking` or `redacted_thinking`, but found `tool_use`.'], // prettier-ignore
  ['thinking without a signature', says(user(), { role: 'assistant', content: [{ type: 'thinking', thinking: 'x' }, block()] }, user()), 'thinking.signature: Field required'], // prettier-ignore
  ['thinking with an empty one', says(user(), { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: '' }, block()] }, user()), 'Invalid `signature` in `thinking` block'], // prettier-ignore
  ['a mark on thinking', says(user(), { role: 'assistant', content: [{ type: 'thinking', signature: 's', ...mark }, block()] }, user()), 'thinking.cache_control: Extra inputs are not permitted'], // prettier-ignore
];

const geminiControls: readonly Control[] = [
  [
    'a field it does not know',
    { frequency_penalty: 0 },
    'Invalid JSON payload received. Unknown name "frequency_penalty": Cannot find field.',
  ],
  ['a body that is too large', { user: 'x'.repeat(21 * 1024 * 1024) }, 'Request payload size exceeds the limit'],
  ['a word it does not know', schema({ ...words, $schema: 'x' }), 'Unknown name "$schema" at \'tools[0].function_declarations[0].parameters\': Cannot find field.'], // prettier-ignore
  ['closed objects', schema(strictWords), 'Unknown name "additionalProperties"'],
  ['an open bound', inside({ type: 'integer', exclusiveMinimum: 0 }), 'Unknown name "exclusiveMinimum"'],
  ['const', inside({ const: 'a' }), 'Unknown name "const"'],
  ['two types', inside({ type: ['string', 'null'] }), 'Unknown name "type" at \'tools[0].function_declarations[0].parameters.properties[0].value\': Proto field is not repeating'], // prettier-ignore
  ['a type there is not', inside({ type: 'any' }), 'v1beta.Type), "any"'],
  ['a list of numbers', inside({ type: 'integer', enum: [1] }), '(TYPE_STRING), 1'],
  ['an empty text in a list', inside({ type: 'string', enum: [''] }), 'enum[0]: cannot be empty'],
  ['a list without its type', inside({ enum: ['a'] }), 'enum: only allowed for STRING type'],
  ['a format', inside({ type: 'string', format: 'email' }), "format: only 'enum' and 'date-time' are supported for STRING type"],
  ['an array without items', inside({ type: 'array' }), 'items: missing field.'],
  ['properties of a text', inside({ type: 'string', properties: {} }), 'properties: only allowed for OBJECT type'],
  ['an object without keys', inside({ type: 'object', properties: {} }), 'should be non-empty for OBJECT type'],
  ['a key it requires and has not', schema({ ...words, required: ['z'] }), 'required[0]: property is not defined'],
  ['a schema that is text', schema('x'), 'v1beta.Schema), "x"'],
  ['a key with a dash', schema({ type: 'object', properties: { 'a-b': { type: 'string' } } }), 'Invalid property name "a-b".'],
  ['a name that begins with a digit', schema(words, { name: '7z' }), 'Must start with a letter or an underscore.'],
  ['a name twice', { tools: [...tool(words), ...tool(words)] }, 'Duplicate function declaration found: read'],
  ['a tool without a function', { tools: [{}] }, 'Invalid tool.'],
  ['no contents', says({ role: 'system', content: 's' }), 'contents is not specified'],
  ['an empty text', says(user('')), 'contents.parts must not be empty.'],
  ['a call without its signature', says(user(), asks(call('c1')), result('c1')), 'Function call is missing a thought_signature in functionCall parts.'], // prettier-ignore
  ['a result too few', says(user(), asks(call('c1', signed), call('c2')), result('c1')), 'is equal to the number of function call parts'],
  ['a call after words', says(user(), { role: 'assistant', content: 'x' }, asks(call('c1', signed)), result('c1')), 'function call turn comes immediately after a user turn'], // prettier-ignore
  ['a result without a call', says(user(), result('c1')), 'function response turn comes immediately after a function call turn'],
  [
    'a call without a name',
    says(user(), asks(call('c1', { ...signed, function: { arguments: '{}' } })), result('c1')),
    'Name cannot be empty.',
  ],
  ['arguments that are not object', says(user(), asks(call('c1', { ...signed, function: { name: 'read', arguments: '[1' } })), result('c1')), 'function.arguments'], // prettier-ignore
];

const mistralControls: readonly Control[] = [
  ['a field it does not know', { stream_options: {} }, 'body stream_options Extra inputs are not permitted', 422],
  ['reasoning in a message', says(user(), { role: 'assistant', content: 'a', reasoning_content: 'r' }, user()), 'body messages assistant reasoning_content Extra inputs are not permitted', 422], // prettier-ignore
  ['a name in a message', says({ ...user(), name: 'bob' }), 'user name Extra inputs are not permitted', 422],
  ['an unknown role', says({ role: 'developer', content: 'x' }), "Input tag 'developer' found using 'role'", 422],
  ['no model', { model: '' }, 'Model name parameter is required for serving mode'],
  ['no messages', says(), 'Conversation must have at least one message'],
  ['a tool without parameters', schema(undefined), 'Field required', 422],
  ['a name with a dot', schema(words, { name: 'a.b' }), 'Function name was a.b but must be a-z, A-Z, 0-9'],
  ['a type there is not', inside({ type: 'any' }), "Invalid tool schema: 'any' is not valid under any of the given schemas"],
  ['required that is null', schema({ ...words, required: null }), "Invalid tool schema: null is not of type 'array'"],
  ['text in place of a schema', inside('x'), `Invalid tool schema: "x" is not of type 'object', 'boolean'`],
  ['a call id of another form', says(user(), asks(call('call_1')), result('call_1')), 'Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.'], // prettier-ignore
  ['a result id of another form', says(user(), asks(call(nine)), result('x')), 'Tool call id was x but must be'],
  ['a result that names no call', says(user(), asks(call(nine)), { role: 'tool', content: 'ok' }), 'Tool call id has to be defined.'],
  ['a result of another call', says(user(), asks(call(nine)), result('123456789')), 'Unexpected tool call id 123456789 in tool results'],
  ['a result twice', says(user(), asks(call(nine)), result(nine), result(nine)), `Duplicate tool call id ${nine} in tool results`],
  ['a call id twice', says(user(), asks(call(nine), call(nine)), result(nine)), `Duplicate tool call id ${nine} in assistant message`],
  ['a call without a result', says(user(), asks(call(nine)), user()), 'Not the same number of function calls and responses'],
  ['a user after a result', says(user(), asks(call(nine)), result(nine), user()), "Unexpected role 'user' after role 'tool'"],
  ['a system message after a result', says(user(), asks(call(nine)), result(nine), { role: 'system', content: 'x' }), "Unexpected role 'system' after role 'tool'"], // prettier-ignore
  ['the assistant last', says(user(), { role: 'assistant', content: 'a' }), 'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant'], // prettier-ignore
  ['the assistant alone', says({ role: 'assistant', content: 'a' }), 'Conversation must start with a user message or system message'],
  ['an empty answer', says(user(), { role: 'assistant', content: '' }, user()), 'Assistant message must have either content or tool_calls'],
  ['a prefix in the middle', says(user(), { role: 'assistant', content: 'a', prefix: true }, user()), 'prefix True must be last message'],
  ['a system prompt of null', says({ role: 'system', content: null }, user()), 'System prompt must have content'],
  ['a user that says null', says(user(null)), 'User message must have content'],
  ['a call with a bad name', says(user(), asks(call(nine, { function: { name: 'a b', arguments: '{}' } })), result(nine)), 'Function name was a b but must be'], // prettier-ignore
  ['a result with a bad name', says(user(), asks(call(nine)), { ...result(nine), name: 'a b' }), 'Function name was a b but must be'],
  ['arguments that are not JSON', says(user(), asks(call(nine, { function: { name: 'read', arguments: '{' } })), result(nine)), 'Invalid tool call arguments'], // prettier-ignore
];

const ollamaControls: readonly Control[] = [
  ['no model', { model: '' }, 'model is required'],
  ['a list as content', says(user([])), 'json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string'],
  ['a message that is text', says('hi'), 'ChatRequest.messages of type api.Message'],
  ['an unknown role', says({ role: 'note', content: 'x' }), 'invalid role: note'],
  ['arguments as text', says(user(), ollamaAsks('{}')), 'ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments'], // prettier-ignore
  ['a picture with its head', says({ ...user(), images: ['data:image/png;base64,AA'] }), 'illegal base64 data at input byte 4'],
  ['a picture that is not text', says({ ...user(), images: [{}] }), 'ChatRequest.messages.images of type api.ImageData'],
  ['stream as text', { stream: 'true' }, 'ChatRequest.stream of type bool'],
  ['options as a list', { options: [] }, 'ChatRequest.options of type map[string]interface {}'],
  ['tools as an object', { tools: {} }, 'ChatRequest.tools of type api.Tools'],
  ['properties as a list', schema({ type: 'object', properties: [] }), 'cannot unmarshal array into Go struct field ChatRequest.tools.function.parameters.properties'], // prettier-ignore
  ['two types at the root', schema({ ...words, type: ['object'] }), 'ChatRequest.tools.function.parameters.type of type string'],
  ['required as text', schema({ ...words, required: 'path' }), 'ChatRequest.tools.function.parameters.required of type []string'],
  ['a property that is text', inside('x'), 'parameters.properties.x of type api.ToolProperty'],
  ['a word that would be lost', schema(strictWords), 'Ollama would forget parameters.additionalProperties without a word'],
  ['a limit that would be lost', inside({ type: 'string', maxLength: 3 }), 'Ollama would forget x.maxLength'],
  ['a field that would be lost', { max_tokens: 3 }, 'Ollama would forget max_tokens'],
  ['a choice that would be lost', { tool_choice: 'required' }, 'Ollama would forget tool_choice'],
];

const llamaControls: readonly Control[] = [
  ['no messages', { messages: undefined }, "Expected 'messages' to be an array, got null"],
  ['a message that is text', says('x'), `Expected 'message' to be an object, got "x"`],
  ['a message without a role', says({ content: 'x' }), "Missing 'role' in message"],
  ['a message without content', says({ role: 'assistant' }, user()), "Expected 'content' or 'tool_calls'"],
  ['a number as content', says(user(3)), "Invalid 'content' type: expected string or array, got 3"],
  ['an unknown part', says(user([{ type: 'video' }])), 'unsupported content[].type'],
  ['a call without a type', says(user(), asks(call('c1', { type: undefined })), result('c1')), 'Missing tool call type'],
  ['a call without a function', says(user(), asks(call('c1', { function: undefined })), result('c1')), 'Missing tool call function'],
  ['a call without a name', says(user(), asks(call('c1', { function: { arguments: '{}' } })), result('c1')), 'Missing tool call name'],
  ['a call without arguments', says(user(), asks(call('c1', { function: { name: 'a' } })), result('c1')), 'Missing tool call arguments'],
  ['arguments that are not JSON', says(user(), asks(call('c1', { function: { name: 'a', arguments: '{' } })), result('c1')), 'Failed to parse tool call arguments as JSON', 500], // prettier-ignore
  ['tools as an object', { tools: {} }, "Expected 'tools' to be an array"],
  ['a tool without a type', { tools: [{}] }, 'Missing tool type'],
  ['a tool of another type', { tools: [{ type: 'web' }] }, 'Unsupported tool type'],
  ['a tool without a function', { tools: [{ type: 'function' }] }, 'Missing tool function'],
  ['a pattern that is not closed', inside({ type: 'string', pattern: 'a' }), "Pattern must start with '^' and end with '$'"],
  ['a pattern with classes', inside({ type: 'string', pattern: '^\\d$' }), 'Failed to initialize samplers: failed to parse grammar'],
  ['a reference elsewhere', inside({ $ref: 'https://x' }), 'Unsupported ref: https://x'],
  ['two answers last', says(user(), { role: 'assistant', content: 'a' }, { role: 'assistant', content: 'b' }), 'Cannot have 2 or more assistant messages at the end of the list.'], // prettier-ignore
  ['an answer last', says(user(), { role: 'assistant', content: 'a' }), 'Assistant response prefill is incompatible with enable_thinking.'],
  ['a system message later', says(user(), { role: 'system', content: 'a' }), 'System message must be at the beginning.', 500],
];

export const controls: Readonly<Record<Vendor, readonly Control[]>> = {
  openai: openAiControls,
  responses: responsesControls,
  anthropic: anthropicControls,
  gemini: geminiControls,
  mistral: mistralControls,
  ollama: ollamaControls,
  llamacpp: llamaControls,
  groq: [
    [
      'reasoning in a message',
      says(user(), { role: 'assistant', content: 'a', reasoning: 'r' }, user()),
      "property 'reasoning' is unsupported",
    ],
    ['a call without a result', says(user(), asks(call('c1')), user()), 'did not have response messages: c1'],
    ['a union at the root', schema({ oneOf: [words] }), 'Invalid schema for function'],
    ['a field it does not know', { top_k: 3 }, "Unknown parameter: 'top_k'."],
  ],
  deepseek: [
    ['a call without its reasoning', { model: 'deepseek-v4-pro' }, 'The `reasoning_content` in the thinking mode must be passed back to the API.'], // prettier-ignore
    ['a call without a result', says(user(), asks(call('c1')), user()), 'insufficient tool messages following tool_calls message'],
    ['a result without a call', says(user(), result('c1')), "must be a response to a preceding message with 'tool_calls'"],
    ['a long name', schema(words, { name: 'n'.repeat(65) }), 'string too long. Expected a string with maximum length 64'],
    ['a field it does not know', { top_k: 3 }, "Unknown parameter: 'top_k'."],
  ],
  xai: [
    ['a penalty', { presence_penalty: 0 }, 'Model grok-4 does not support parameter presencePenalty.'],
    ['a stop', { stop: ['a'] }, 'does not support parameter stop.'],
    ['an effort', { reasoning_effort: 'low' }, 'does not support parameter reasoningEffort.'],
    ['a call without a result', says(user(), asks(call('c1')), user()), 'did not have response messages: c1'],
    ['a union at the root', schema({ oneOf: [words] }), 'Invalid schema for function'],
    ['a field it does not know', { top_k: 3 }, "Unknown parameter: 'top_k'."],
  ],
  openrouter: [
    ['no messages', { messages: undefined }, 'Input required: specify "prompt" or "messages"'],
    ['a union at the root', schema({ oneOf: [words] }), 'Provider returned error'],
    ['a call without a result', says(user(), asks(call('c1')), user()), 'did not have response messages: c1'],
    ['a call of Gemini without its thought', { model: 'google/gemini-3-pro', ...says(user(), asks(call('c1')), result('c1')) }, 'require OpenRouter reasoning details'], // prettier-ignore
  ],
  lmstudio: [
    ['no messages', { messages: undefined }, "'messages' field is required"],
    ['no user', says({ role: 'system', content: 'x' }), 'Error rendering prompt with jinja template: "No user query found in messages."'],
    ['an unknown role', says(user(), { role: 'note', content: 'x' }), 'Invalid discriminator value.'],
    ['a user that says null', says(user(null)), "Invalid 'content'"],
    ['a root without a type', schema({ oneOf: [words] }), "'parameters' must be an object schema"],
  ],
};
