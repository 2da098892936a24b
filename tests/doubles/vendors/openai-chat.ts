// OpenAI's refusals of a request to /v1/chat/completions, and the additional or different refusals of compatible vendors: Groq, DeepSeek,
// xAI, OpenRouter. Whether those refuse unknown fields is unknown; here they do. Sources: published OpenAPI document (2026-08),
// OpenRouter's errors page, public issues with the vendors' answers.

import { isPlainObject } from '../../../core/base/json.ts';
import { checkMessages } from './openai-messages.ts';
import { checkLength, checkResponseFormat, checkTools, longArray, type Say } from './openai-schema.ts';
import { given, has, kindWords, parts, Refused, refusalOf, text, type Part, type VendorNo } from './refused.ts';

const KEYS = 'audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages metadata modalities model moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options'.split(' '); // prettier-ignore
const KEYS_OF_OTHERS = [...KEYS, 'thinking', 'reasoning_format', 'include_reasoning', 'enable_thinking'];

const say: Say = (message, param = null, code = null) =>
  new Refused({ status: 400, body: { error: { message, type: 'invalid_request_error', param, code } } });

export function openAiChat(body: Part): VendorNo | null {
  return refusalOf(() => {
    checkFields(body, KEYS);
    if (isReasoningModel(text(body['model']))) checkReasoningModel(body);
    else if (given(body, 'reasoning_effort') && /^gpt-[34]/.test(text(body['model']))) throw say('Unrecognized request argument supplied: reasoning_effort'); // prettier-ignore
    checkTools(body, say);
    checkOutput(body);
    checkMessages(body, { say });
  });
}

/** Models before gpt-4o-2024-08-06 support JSON mode only. */
function checkOutput(body: Part): void {
  checkResponseFormat(body, say);
  const isOld = /^(gpt-3|gpt-4($|-)|gpt-4o-2024-05-13)/.test(text(body['model']));
  const format = body['response_format'];
  if (isOld && isPlainObject(format) && format['type'] === 'json_schema') throw say("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs", 'response_format'); // prettier-ignore
}

export function groqChat(body: Part): VendorNo | null {
  return refusalOf(() => {
    checkFields(body, KEYS_OF_OTHERS);
    const format = body['response_format'];
    const isSchema = isPlainObject(format) && format['type'] === 'json_schema';
    if (isSchema && !/gpt-oss|llama-4|kimi-k2/.test(text(body['model']))) throw say('This model does not support response format `json_schema`. See supported models at https://console.groq.com/docs/structured-outputs#supported-models'); // prettier-ignore
    if (isSchema && parts(body['tools']).length > 0) throw say('Structured outputs cannot be combined with tools.'); // prettier-ignore
    checkResponseFormat(body, say);
    checkTools(body, say);
    parts(body['messages']).forEach((message, index) => {
      const at = `'messages.${index}'`;
      for (const key of Object.keys(message)) {
        if (['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'function_call'].includes(key)) continue;
        const must = `for 'role:${text(message['role'])}' the following must be satisfied`;
        throw new Refused({ status: 400, body: { error: { message: `${at} : ${must}[(${at} : property '${key}' is unsupported)]`, type: 'invalid_request_error' } } }); // prettier-ignore
      }
    });
    checkMessages(body, { say });
  });
}

export function deepSeekChat(body: Part): VendorNo | null {
  return refusalOf(() => {
    checkFields(body, KEYS_OF_OTHERS);
    checkTools(body, say);
    const format = body['response_format'];
    if (isPlainObject(format) && format['type'] === 'json_schema') throw say('This response_format type is unavailable now', null, 'invalid_request_error'); // prettier-ignore
    if (given(body, 'max_tokens') && body['model'] === 'deepseek-chat' && !(Number(body['max_tokens']) >= 1 && Number(body['max_tokens']) <= 8192)) throw say('Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', null, 'invalid_request_error'); // prettier-ignore
    checkMessages(body, { say, isDeepSeek: true });
    const thinking = body['thinking'];
    const isOff = isPlainObject(thinking) && thinking['type'] === 'disabled';
    if (isOff || !/reasoner|v4/.test(text(body['model']))) return;
    // The reasoning before a call must be sent back with it.
    for (const message of parts(body['messages'])) {
      if (!given(message, 'tool_calls') || typeof message['reasoning_content'] === 'string') continue;
      throw say('The `reasoning_content` in the thinking mode must be passed back to the API.', null, 'invalid_request_error');
    }
  });
}

/** xAI's errors have a text and a code, both at the top level. */
export function xAiChat(body: Part): VendorNo | null {
  return refusalOf(() => {
    const sayText: Say = (error) => new Refused({ status: 400, body: { code: 'Client specified an invalid argument', error } });
    checkFields(body, KEYS_OF_OTHERS, sayText);
    for (const [key, name] of [
      ['presence_penalty', 'presencePenalty'],
      ['frequency_penalty', 'frequencyPenalty'],
      ['stop', 'stop'],
      ['reasoning_effort', 'reasoningEffort'],
    ] as const)
      // prettier-ignore
      if (given(body, key)) throw sayText(`Model ${text(body['model'])} does not support parameter ${name}.`);
    checkTools(body, sayText);
    checkMessages(body, { say: sayText });
  });
}

/** OpenRouter accepts every field and removes those the model behind it does not support; the refusal of that model is wrapped. */
export function openRouterChat(body: Part): VendorNo | null {
  const no = (message: string, metadata = {}): VendorNo => ({ status: 400, body: { error: { code: 400, message, ...metadata } } });
  if (!Array.isArray(body['messages']) && !has(body, 'prompt')) return no('Input required: specify "prompt" or "messages"');
  const upstream = refusalOf(() => {
    checkTools(body, say);
    checkMessages(body, { say });
  });
  if (upstream !== null) return no('Provider returned error', { metadata: { raw: JSON.stringify(upstream.body), provider_name: 'OpenAI' } }); // prettier-ignore
  if (!/gemini-[3-9]/.test(text(body['model'])) || parts(body['messages']).every(isSigned)) return null;
  const raw = 'Gemini models require OpenRouter reasoning details to be preserved in each request. Please refer to our docs: https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning-blocks. Upstream error: {"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}'; // prettier-ignore
  return no('Provider returned error', { metadata: { raw, provider_name: 'Google AI Studio' } });
}

/** The first call of a step needs an encrypted thought that names it. */
function isSigned(message: Part): boolean {
  const [first] = parts(message['tool_calls']);
  return first === undefined || parts(message['reasoning_details']).some(({ type, id, data }) => type === 'reasoning.encrypted' && id === first['id'] && text(data) !== ''); // prettier-ignore
}

function checkFields(body: Part, keys: readonly string[], sayNo: Say = say): void {
  if (typeof body['model'] !== 'string' || body['model'] === '') throw sayNo('you must provide a model parameter');
  for (const key of Object.keys(body)) if (!keys.includes(key)) throw sayNo(`Unknown parameter: '${key}'.`, key, 'unknown_parameter');
  if (isPlainObject(body['metadata'])) checkMetadata(body['metadata'], sayNo);
  for (const key of ['prompt_cache_key', 'safety_identifier']) checkLength(body[key], { at: key, max: 64 }, sayNo);
  if (body['stream'] !== true && given(body, 'stream_options')) throw sayNo("The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options'); // prettier-ignore
  checkSampling(body, sayNo);
}

function checkSampling(body: Part, sayNo: Say): void {
  const { temperature, stop } = body;
  if (typeof temperature === 'number') checkTemperature(temperature, sayNo);
  if (Array.isArray(stop) && stop.length > 4) throw longArray('stop', { max: 4, length: stop.length }, sayNo);
}

function checkTemperature(temperature: number, sayNo: Say): void {
  if (temperature >= 0 && temperature <= 2) return;
  const [side, bound, code] = temperature < 0 ? ['below minimum', '>= 0', 'below_min'] : ['above maximum', '<= 2', 'above_max'];
  throw sayNo(`Invalid 'temperature': decimal ${side} value. Expected a value ${bound}, but got ${temperature} instead.`, 'temperature', `decimal_${code}_value`); // prettier-ignore
}

function checkMetadata(metadata: Part, sayNo: Say): void {
  const entries = Object.entries(metadata);
  if (entries.length > 16) throw sayNo(`Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object with ${entries.length} properties instead.`, 'metadata', 'object_above_max_properties'); // prettier-ignore
  for (const [key, value] of entries) {
    const at = `metadata.${key}`;
    checkLength(key, { at: 'metadata', max: 64 }, sayNo);
    if (typeof value !== 'string') throw sayNo(`Invalid type for '${at}': expected a string, but got ${kindWords(value)} instead.`, at, 'invalid_type'); // prettier-ignore
    checkLength(value, { at, max: 512 }, sayNo);
  }
}

function isReasoningModel(model: string): boolean {
  return /^(o\d|gpt-(5|6))/.test(model.replace(/^.*\//, '')) && !model.includes('chat');
}

function checkReasoningModel(body: Part): void {
  const model = text(body['model']);
  const refused = (key: string): Refused => say(`Unsupported parameter: '${key}' is not supported with this model.`, key, 'unsupported_parameter'); // prettier-ignore
  if (given(body, 'max_tokens')) throw say("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", 'max_tokens', 'unsupported_parameter'); // prettier-ignore
  const { temperature } = body;
  if (given(body, 'temperature') && temperature !== 1) throw say(`Unsupported value: 'temperature' does not support ${String(temperature)} with this model. Only the default (1) value is supported.`, 'temperature', 'unsupported_value'); // prettier-ignore
  for (const key of ['top_p', 'presence_penalty', 'frequency_penalty', 'logprobs', 'top_logprobs', 'logit_bias'])
    if (given(body, key) && !(key === 'top_p' && body[key] === 1)) throw refused(key);
  if (/^(o3|o4|gpt-5(-mini|-nano)?(-\d{4}.*)?$)/.test(model) && given(body, 'stop')) throw refused('stop');
  const hasTools = parts(body['tools']).length > 0;
  const isLate = /^gpt-(5\.[4-9]|6)/.test(model);
  // Without a stated effort the newest models think by default, and then refuse tools here as well.
  const thinks = given(body, 'reasoning_effort') ? body['reasoning_effort'] !== 'none' : /^gpt-(5\.[6-9]|6)/.test(model);
  if (isLate && hasTools && thinks) throw say(`Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`, 'reasoning_effort'); // prettier-ignore
}
