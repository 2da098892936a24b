// OpenAI's refusals of a request to /v1/responses. Sources: published OpenAPI document (2026-08), public issues with the vendor's answers.

import { isPlainObject } from '../../../core/base/json.ts';
import { checkLength, checkName, checkResponseFormat, checkTools, emptyArray, missing, type Say } from './openai-schema.ts';
import { given, kindWords, list, parts, Refused, refusalOf, text, type Part, type VendorNo } from './refused.ts';

const KEYS = 'background context_management conversation include input instructions max_output_tokens max_tool_calls metadata model parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user'.split(' '); // prettier-ignore
const ITEM_KEYS: Readonly<Record<string, readonly string[]>> = {
  message: ['type', 'role', 'content', 'id', 'status', 'phase'],
  function_call: ['type', 'call_id', 'name', 'arguments', 'id', 'status', 'namespace'],
  function_call_output: ['type', 'call_id', 'output', 'id', 'status'],
  reasoning: ['type', 'summary', 'encrypted_content', 'id', 'status', 'content'],
};
const CONTENT: Readonly<Record<string, readonly string[]>> = {
  user: ['input_text', 'input_image', 'input_file'],
  assistant: ['output_text', 'refusal'],
};
const CALL_ID_CHARS_MAX = 64;

const say: Say = (message, param = null, code = null) =>
  new Refused({ status: 400, body: { error: { message, type: 'invalid_request_error', param, code } } });

/** Shares the rules of chat completions, with other names. */
const sayFlat: Say = (message, param, code) => say(flat(message), param === null || param === undefined ? param : flat(param), code);

const flat = (words: string): string => words.replaceAll('.function.', '.').replaceAll(/response_format(?:\.json_schema)?/g, 'text.format');

export function openAiResponses(body: Part): VendorNo | null {
  return refusalOf(() => {
    const model = text(body['model']);
    if (model === '') throw missing('model', say);
    for (const key of Object.keys(body)) if (!KEYS.includes(key)) throw say(`Unknown parameter: '${key}'.`, key, 'unknown_parameter');
    checkLength(body['prompt_cache_key'], { at: 'prompt_cache_key', max: 64 }, say);
    checkTools({ ...body, ...(body['tools'] === undefined ? {} : { tools: list(body['tools']).map(asChatTool) }) }, sayFlat);
    checkForm(body['text']);
    checkReasoning(model, body);
    const most = body['max_output_tokens'];
    if (typeof most === 'number' && most < 16) throw say(`Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${most} instead.`, 'max_output_tokens', 'integer_below_min_value'); // prettier-ignore
    if (given(body, 'instructions') && typeof body['instructions'] !== 'string') throw say(`Invalid type for 'instructions': expected a string, but got ${kindWords(body['instructions'])} instead.`, 'instructions', 'invalid_type'); // prettier-ignore
    checkInput(body);
  });
}

function asChatTool(tool: unknown): unknown {
  if (!isPlainObject(tool) || tool['type'] !== 'function') return tool;
  const { type, ...fn } = tool;
  if (isPlainObject(fn['function'])) throw missing('tools[0].name', say);
  return { type, function: fn };
}

function checkForm(wanted: unknown): void {
  if (!isPlainObject(wanted)) return;
  for (const key of Object.keys(wanted)) if (key !== 'format' && key !== 'verbosity') throw say(`Unknown parameter: 'text.${key}'.`, `text.${key}`, 'unknown_parameter'); // prettier-ignore
  const { format } = wanted;
  if (!isPlainObject(format)) return;
  const { type, ...form } = format;
  checkResponseFormat({ response_format: type === 'json_schema' ? { type, json_schema: form } : format }, sayFlat);
}

function checkReasoning(model: string, body: Part): void {
  const reasons = /^(o\d|gpt-(5|6))/.test(model) && !model.includes('chat');
  if (!reasons && list(body['include']).includes('reasoning.encrypted_content')) throw say('Encrypted content is not supported with this model.', 'include'); // prettier-ignore
  if (!reasons && given(body, 'reasoning')) throw say(`Unsupported parameter: 'reasoning.effort' is not supported with this model.`, 'reasoning.effort', 'unsupported_parameter'); // prettier-ignore
  for (const key of reasons ? ['temperature', 'top_p'] : [])
    if (given(body, key)) throw say(`Unsupported parameter: '${key}' is not supported with this model.`, key, 'unsupported_parameter');
}

function checkInput({ input, store }: Part): void {
  if (typeof input === 'string') return;
  if (!Array.isArray(input)) throw missing('input', say);
  if (input.length === 0) throw emptyArray('input', say);
  const items = parts(input);
  items.forEach((item, index) => checkItem(item, `input[${index}]`));
  const calls = new Set(items.flatMap((item) => (item['type'] === 'function_call' ? [text(item['call_id'])] : [])));
  const outputs = items.flatMap((item) => (item['type'] === 'function_call_output' ? [text(item['call_id'])] : []));
  const lonely = outputs.find((id) => !calls.has(id));
  if (lonely !== undefined) throw say(`No tool call found for function call output with call_id ${lonely}.`, 'input');
  const open = [...calls].find((id) => !outputs.includes(id));
  if (open !== undefined) throw say(`No tool output found for function call ${open}.`, 'input');
  items.forEach((item, index) => {
    if (item['type'] !== 'reasoning') return;
    const next = items[index + 1];
    const follows = next?.['type'] === 'function_call' || next?.['type'] === 'reasoning' || next?.['role'] === 'assistant';
    if (!follows) throw say(`Item '${text(item['id'])}' of type 'reasoning' was provided without its required following item.`, 'input');
    if (store === false && !given(item, 'encrypted_content')) throw say(`Item with id '${text(item['id'])}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`, 'input'); // prettier-ignore
    if (!text(item['encrypted_content']).startsWith('gAAAA')) throw say('The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed.', null, 'invalid_encrypted_content'); // prettier-ignore
  });
}

function checkItem(item: Part, at: string): void {
  const type = item['type'] === undefined && item['role'] !== undefined ? 'message' : text(item['type']);
  const keys = ITEM_KEYS[type];
  if (keys === undefined) throw say(`Invalid value: '${type}'. Supported values are: 'message', 'reasoning', 'function_call', and 'function_call_output'.`, at, 'invalid_value'); // prettier-ignore
  for (const key of Object.keys(item)) if (!keys.includes(key)) throw say(`Unknown parameter: '${at}.${key}'.`, `${at}.${key}`, 'unknown_parameter'); // prettier-ignore
  checkId(type, item['id'], `${at}.id`);
  if (type === 'message') checkMessage(item, at);
  if (type === 'reasoning' && !Array.isArray(item['summary'])) throw missing(`${at}.summary`, say);
  if (type.startsWith('function_call')) checkCall(item, at);
}

function checkCall(item: Part, at: string): void {
  if (typeof item['call_id'] !== 'string' || item['call_id'] === '') throw missing(`${at}.call_id`, say);
  checkLength(item['call_id'], { at: `${at}.call_id`, max: CALL_ID_CHARS_MAX }, say);
  if (item['type'] === 'function_call') {
    checkName(item['name'], `${at}.name`, say);
    if (typeof item['arguments'] !== 'string') throw missing(`${at}.arguments`, say);
  } else if (typeof item['output'] !== 'string' && !Array.isArray(item['output'])) throw missing(`${at}.output`, say);
}

function checkId(type: string, id: unknown, at: string): void {
  const start = { message: 'msg', function_call: 'fc', function_call_output: 'fc', reasoning: 'rs' }[type] ?? '';
  if (id !== undefined && !text(id).startsWith(start)) throw say(`Invalid '${at}': '${text(id)}'. Expected an ID that begins with '${start}'.`, at, 'invalid_value'); // prettier-ignore
}

function checkMessage({ role, content, phase }: Part, at: string): void {
  if (!['user', 'assistant', 'system', 'developer'].includes(text(role))) throw say(`Invalid value: '${text(role)}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`, `${at}.role`, 'invalid_value'); // prettier-ignore
  if (phase !== undefined && phase !== null && !['commentary', 'final_answer'].includes(text(phase))) throw say(`Invalid value: '${text(phase)}'. Supported values are: 'commentary' and 'final_answer'.`, `${at}.phase`, 'invalid_value'); // prettier-ignore
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) throw missing(`${at}.content`, say);
  if (content.length === 0) throw emptyArray(`${at}.content`, say);
  const kinds = CONTENT[text(role)] ?? ['input_text'];
  parts(content).forEach((part, place) => {
    const type = text(part['type']);
    if (!kinds.includes(type)) throw say(`Invalid value: '${type}'. Supported values are: ${kinds.map((kind) => `'${kind}'`).join(' and ')}.`, `${at}.content[${place}].type`, 'invalid_value'); // prettier-ignore
    if (type.endsWith('_text') && typeof part['text'] !== 'string') throw missing(`${at}.content[${place}].text`, say);
    if (type !== 'input_image') return;
    const url = text(part['image_url']);
    if (!/^(?:https:|data:image\/(?:png|jpe?g|gif|webp);base64,)/.test(url)) throw say(`Invalid '${at}.content[${place}].image_url'. Expected a valid URL, but got a value with an invalid format.`, `${at}.content[${place}].image_url`, 'invalid_value'); // prettier-ignore
  });
}
