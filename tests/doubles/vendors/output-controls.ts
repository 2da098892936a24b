// For each vendor's rules about the form of an answer: one minimal change that causes the refusal.

import { strictWords, words, type Control } from './vendor-controls.ts';
import type { Vendor } from './vendors.ts';

const answers = (form: unknown, type = 'json_schema') => ({ response_format: { type, json_schema: form } });
const strictForm = (form: unknown) => answers({ name: 'n', strict: true, schema: form });
const claudeForm = (form: unknown) => ({ output_config: { format: { type: 'json_schema', schema: form } } });

export const outputControls: Readonly<Partial<Record<Vendor, readonly Control[]>>> = {
  openai: [
    ['an output form of another type', answers({}, 'yaml'), "Invalid value: 'yaml'."],
    ['an output form without a schema', answers({ name: 'n' }), "Missing required parameter: 'response_format.json_schema.schema'."],
    ['an output form without a name', answers({ schema: strictWords }), "Missing required parameter: 'response_format.json_schema.name'."],
    ['an output form with a bad name', answers({ name: 'a b', schema: strictWords }), 'string does not match pattern'],
    ['an output form with a field too many', answers({ name: 'n', schema: strictWords, kind: 1 }), "Unknown parameter: 'response_format.json_schema.kind'."], // prettier-ignore
    ['an output form whose root is a list', strictForm({ type: 'array', items: { type: 'string' } }), "Invalid schema for response_format 'n': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'."], // prettier-ignore
    ['a strict output form that is open', strictForm(words), "'additionalProperties' is required to be supplied and to be false."],
    ['a strict output form with an optional key', strictForm({ ...strictWords, required: ['path'] }), "Missing 'mode'."],
    ['a strict output form with allOf', strictForm({ ...strictWords, properties: { path: words.properties.path, mode: { allOf: [{}] } } }), "'allOf' is not permitted."], // prettier-ignore
    ['an output form for an old model', { model: 'gpt-4', ...strictForm(strictWords) }, "'response_format' of type 'json_schema' is not supported with this model"], // prettier-ignore
    ['JSON mode without the word', { ...answers(undefined, 'json_object') }, "must contain the word 'json'"],
  ],
  anthropic: [
    ['an open output form', claudeForm(words), "For 'object' type, 'additionalProperties' must be explicitly set to false"],
    ['an output form with a bound', claudeForm({ ...strictWords, properties: { path: { type: 'string', minLength: 1 } } }), "For 'string' type, property 'minLength' is not supported"], // prettier-ignore
    ['an output form for an old model', { model: 'claude-3-7-sonnet', ...claudeForm(strictWords) }, 'does not support output format.'],
    [
      'an output form without a schema',
      { output_config: { format: { type: 'json_schema' } } },
      'output_config.format.schema: Field required',
    ],
    [
      'an output form of another type',
      { output_config: { format: { type: 'json' } } },
      "output_config.format.type: Input should be 'json_schema'",
    ],
    ['an output form with a name', { output_config: { format: { type: 'json_schema', name: 'n', schema: strictWords } } }, 'output_config.format.name: Extra inputs are not permitted'], // prettier-ignore
    ['an unknown part of the output', { output_config: { form: {} } }, 'output_config.form: Extra inputs are not permitted'],
  ],
  ollama: [
    ['a format that is none', { format: 'yaml' }, 'invalid format: "yaml"; expected "json" or a valid JSON Schema object'],
    ['a format of an unknown type', { format: { type: 'text' } }, 'invalid JSON schema in format'],
  ],
  groq: [
    ['an output form for another model', { model: 'llama-3.3-70b', ...answers({ name: 'n', schema: words }) }, 'This model does not support response format `json_schema`.'], // prettier-ignore
    ['an output form beside tools', answers({ name: 'n', schema: words }), 'cannot be combined with tools'],
  ],
  deepseek: [['an output form', answers({ name: 'n', schema: words }), 'This response_format type is unavailable now']],
};
