// A valid request to OpenAI's Responses API and, for each of its rules, one minimal change that causes the refusal.

import type { Part } from './refused.ts';

const words = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const tool = (parameters: unknown, more: object = {}) => ({
  tools: [{ type: 'function', name: 'read', description: 'd', parameters, strict: false, ...more }],
});
const user = (content: unknown = [{ type: 'input_text', text: 'hi' }]) => ({ type: 'message', role: 'user', content });
const said = { type: 'message', role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'x' }] };
const thought = { type: 'reasoning', summary: [], encrypted_content: 'gAAAAx' };
const call = (more: object = {}) => ({ type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}', ...more });
const result = (more: object = {}) => ({ type: 'function_call_output', call_id: 'c1', output: 'ok', ...more });
const input = (...items: unknown[]) => ({ input: items });
const form = (more: object) => ({ text: { format: { type: 'json_schema', name: 'n', ...more } } });

export const validResponses: Part = {
  model: 'gpt-5.6',
  stream: true,
  store: false,
  include: ['reasoning.encrypted_content'],
  instructions: 's',
  ...tool(words),
  ...input(user(), thought, said, call(), result(), user()),
};

export const responsesControls: readonly (readonly [what: string, change: object, words: string])[] = [
  ['no model', { model: undefined }, "Missing required parameter: 'model'."],
  ['a field of chat completions', { max_completion_tokens: 5 }, "Unknown parameter: 'max_completion_tokens'."],
  ['messages', { messages: [] }, "Unknown parameter: 'messages'."],
  ['a tool in the form of chat completions', { tools: [{ type: 'function', function: { name: 'read' } }] }, "Missing required parameter: 'tools[0].name'."], // prettier-ignore
  ['a root without a type', tool({ anyOf: [words] }), "Invalid schema for function 'read': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'."], // prettier-ignore
  ['strict with an open object', tool(words, { strict: true }), "'additionalProperties' is required to be supplied and to be false."],
  ['a name of 65 characters', tool(words, { name: 'n'.repeat(65) }), "Invalid 'tools[0].name': string too long."],
  ['a form without a schema', form({}), "Missing required parameter: 'text.format.schema'."],
  ['a strict form that is open', form({ schema: words, strict: true }), "Invalid schema for text.format 'n'"],
  ['a field of text it does not know', { text: { form: 1 } }, "Unknown parameter: 'text.form'."],
  ['reasoning asked of a model without', { model: 'gpt-4.1' }, 'Encrypted content is not supported with this model.'],
  ['a temperature for a reasoning model', { temperature: 1 }, "Unsupported parameter: 'temperature' is not supported with this model."],
  ['too few tokens', { max_output_tokens: 15 }, 'Expected a value >= 16, but got 15 instead.'],
  ['no input', { input: undefined }, "Missing required parameter: 'input'."],
  ['an empty input', input(), "Invalid 'input': empty array."],
  ['an item of another kind', input({ type: 'note' }), "Invalid value: 'note'."],
  ['a field of an item it does not know', input({ ...user(), name: 'x' }), "Unknown parameter: 'input[0].name'."],
  ['a role of chat completions', input({ ...user(), role: 'tool' }), "Invalid value: 'tool'."],
  ['a phase of another name', input({ ...said, phase: 'final' }), "Invalid value: 'final'."],
  ['no parts', input(user([])), "Invalid 'input[0].content': empty array."],
  ['words of the person as an answer', input(user([{ type: 'output_text', text: 'x' }])), "Invalid value: 'output_text'."],
  ['an answer as words of a person', input({ ...said, content: [{ type: 'input_text', text: 'x' }] }), "Invalid value: 'input_text'."],
  ['a picture of another kind', input(user([{ type: 'input_image', image_url: 'data:image/tiff;base64,AA' }])), 'Expected a valid URL'],
  ['a call without its result', input(user(), call(), user()), 'No tool output found for function call c1.'],
  ['a result without its call', input(user(), result()), 'No tool call found for function call output with call_id c1.'],
  ['a long id of a call', input(call({ call_id: 'c'.repeat(65) })), "Invalid 'input[0].call_id': string too long."],
  ['an id of another kind', input(call({ id: 'call_1' }), result()), "Expected an ID that begins with 'fc'."],
  ['a name with a dot', input(call({ name: 'a.b' }), result()), "that matches the pattern '^[a-zA-Z0-9_-]+$'"],
  ['reasoning that led to nothing', input(user(), thought, user()), "of type 'reasoning' was provided without its required following item."], // prettier-ignore
  ['reasoning that is kept nowhere', input({ ...thought, encrypted_content: undefined }, call(), result()), 'Items are not persisted when `store` is set to false.'], // prettier-ignore
  ['reasoning that is not its own', input({ ...thought, encrypted_content: 'x' }, call(), result()), 'could not be verified'],
  ['reasoning without a summary', input({ ...thought, summary: undefined }, call(), result()), "Missing required parameter: 'input[0].summary'."], // prettier-ignore
];
