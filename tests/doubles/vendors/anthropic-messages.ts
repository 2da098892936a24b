// Anthropic's refusals of a request to /v1/messages. Blocks and their order are in anthropic-blocks.ts, tools in anthropic-tools.ts.
// Sources: API reference (version 2023-06-01) and its errors page, the vendor's SDKs, public issues with its answers.

import { isPlainObject } from '../../../core/base/json.ts';
import { checkTurns } from './anthropic-blocks.ts';
import { checkTools } from './anthropic-tools.ts';
import { anthropicNo, isTextEmpty, isThinking, versionOf } from './anthropic-words.ts';
import { given, has, list, refusalOf, text, walkSchema, type Part, type VendorNo } from './refused.ts';

const KEYS = 'model messages max_tokens system tools tool_choice stream stop_sequences metadata thinking temperature top_p top_k service_tier container mcp_servers context_management output_config cache_control inference_geo speed'.split(' '); // prettier-ignore
const BODY_BYTES_MAX = 32 * 1024 * 1024;
const CACHE_MARKS_MAX = 4;

export function anthropicMessages(body: Part): VendorNo | null {
  return refusalOf(() => {
    if (Buffer.byteLength(JSON.stringify(body)) > BODY_BYTES_MAX) throw anthropicNo('Request exceeds the maximum size', { status: 413, type: 'request_too_large' }); // prettier-ignore
    for (const key of ['model', 'max_tokens', 'messages']) if (!has(body, key)) throw anthropicNo(`${key}: Field required`);
    for (const key of Object.keys(body)) if (!KEYS.includes(key)) throw anthropicNo(`${key}: Extra inputs are not permitted`);
    if (!Number.isInteger(body['max_tokens'])) throw anthropicNo('max_tokens: Input should be a valid integer');
    if (Number(body['max_tokens']) < 1) throw anthropicNo('max_tokens: Input should be greater than or equal to 1');
    checkSampling(body);
    checkThinking(body);
    checkOddments(body);
    checkOutput(body);
    checkSystem(body['system']);
    checkTools(body);
    checkTurns(body);
    checkCacheMarks(body);
  });
}

function checkSampling(body: Part): void {
  const version = versionOf(text(body['model']));
  const { temperature } = body;
  if (given(body, 'temperature') && typeof temperature === 'number') {
    if (version >= 4.7) throw anthropicNo('`temperature` is deprecated for this model.');
    if (temperature < 0 || temperature > 1) throw anthropicNo('temperature: range: 0..1');
    if (isThinking(body) && temperature !== 1) throw anthropicNo('`temperature` may only be set to 1 when thinking is enabled.');
    if (version >= 4.1 && given(body, 'top_p')) throw anthropicNo('`temperature` and `top_p` cannot both be specified for this model. Please use only one.'); // prettier-ignore
  }
  for (const key of ['top_p', 'top_k']) if (version >= 4.7 && given(body, key)) throw anthropicNo(`\`${key}\` is deprecated for this model.`); // prettier-ignore
}

function checkThinking(body: Part): void {
  const { thinking, tool_choice: choice } = body;
  if (!isPlainObject(thinking) || thinking['type'] !== 'enabled') return;
  const budget = thinking['budget_tokens'];
  if (typeof budget !== 'number') throw anthropicNo('thinking.enabled.budget_tokens: Field required');
  if (budget < 1024) throw anthropicNo('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
  if (Number(body['max_tokens']) <= budget) throw anthropicNo('`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size'); // prettier-ignore
  if (isPlainObject(choice) && ['any', 'tool'].includes(text(choice['type']))) throw anthropicNo('Thinking may not be enabled when tool_choice forces tool use.'); // prettier-ignore
}

function checkOddments(body: Part): void {
  if (isPlainObject(body['metadata']))
    for (const key of Object.keys(body['metadata'])) if (key !== 'user_id') throw anthropicNo(`metadata.${key}: Extra inputs are not permitted`); // prettier-ignore
  for (const stop of list(body['stop_sequences']))
    if (typeof stop !== 'string' || isTextEmpty(stop)) throw anthropicNo('stop_sequences: each stop sequence must contain non-whitespace');
}

const SCHEMA_REFUSES = 'oneOf not if then else prefixItems patternProperties propertyNames minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems contains'.split(' '); // prettier-ignore

/** Supported from 4.5 on (Opus from 4.1). Objects must be closed; numbers and lengths cannot be limited. */
function checkOutput(body: Part): void {
  const config = body['output_config'];
  if (config === undefined) return;
  if (!isPlainObject(config)) throw anthropicNo('output_config: Input should be a valid dictionary or object to extract fields from');
  for (const key of Object.keys(config)) if (!['format', 'effort'].includes(key)) throw anthropicNo(`output_config.${key}: Extra inputs are not permitted`); // prettier-ignore
  const format = config['format'];
  if (!isPlainObject(format)) return;
  const model = text(body['model']);
  if (versionOf(model) > 0 && versionOf(model) < (model.includes('opus') ? 4.1 : 4.5)) throw anthropicNo(`output_config.format: '${model}' does not support output format.`); // prettier-ignore
  if (format['type'] !== 'json_schema') throw anthropicNo("output_config.format.type: Input should be 'json_schema'");
  if (!isPlainObject(format['schema'])) throw anthropicNo('output_config.format.schema: Field required');
  for (const key of Object.keys(format)) if (!['type', 'schema'].includes(key)) throw anthropicNo(`output_config.format.${key}: Extra inputs are not permitted`); // prettier-ignore
  walkSchema(format['schema'], (node) => {
    if (!isPlainObject(node)) return;
    const kinds = [node['type']].flat().map(text);
    if (kinds.includes('object') && node['additionalProperties'] !== false) throw anthropicNo("output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"); // prettier-ignore
    for (const word of SCHEMA_REFUSES) if (has(node, word)) throw anthropicNo(`output_config.format.schema: For '${kinds[0] ?? ''}' type, property '${word}' is not supported`); // prettier-ignore
  });
}

function checkSystem(system: unknown): void {
  list(system).forEach((block, index) => {
    if (!isPlainObject(block) || block['type'] !== 'text') throw anthropicNo(`system.${index}.type: Input should be 'text'`);
    if (text(block['text']) === '') throw anthropicNo('system: text content blocks must be non-empty');
  });
}

function checkCacheMarks(body: Part): void {
  let marks = 0;
  const count = (value: unknown): void => {
    for (const block of list(value)) {
      if (!isPlainObject(block)) continue;
      if (given(block, 'cache_control')) marks += 1;
      count(block['content']);
    }
  };
  count([body]);
  for (const key of ['system', 'tools', 'messages']) count(body[key]);
  if (marks > CACHE_MARKS_MAX) throw anthropicNo(`A maximum of ${CACHE_MARKS_MAX} blocks with cache_control may be provided. Found ${marks}.`); // prettier-ignore
}
