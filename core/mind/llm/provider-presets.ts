// Presets for well-known providers: kind, address, where to get a key, and the variable that usually contains it. Finds such variables in
// the environment so that they can be offered. Makes no requests and never returns a value of a variable.

import type { Config } from '../../contracts/config.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { KeyOffer } from '../../contracts/provider-ops.ts';
import { keysOf } from './model-catalog.ts';

type Preset = OpResult<'model.presets'>['presets'][number];

// eslint-disable-next-line max-params -- one parameter a column
const compatible = (id: string, title: string, baseUrl: string | null, keyUrl: string, keyVariable: string): Preset => ({
  id,
  title,
  kind: 'openai-compatible',
  baseUrl,
  keyName: id,
  keyUrl,
  keyVariable,
});
const local = (id: string, title: string, baseUrl: string): Preset => ({
  id,
  title,
  kind: 'openai-compatible',
  baseUrl,
  keyName: null,
  keyUrl: null,
  keyVariable: null,
});

/** Addresses and pages as the vendors document them. */
export const providerPresets: readonly Preset[] = [
  {
    id: 'openai',
    title: 'OpenAI',
    kind: 'openai',
    baseUrl: null,
    keyName: 'openai',
    keyUrl: 'https://platform.openai.com/api-keys',
    keyVariable: 'OPENAI_API_KEY',
  },
  {
    id: 'anthropic',
    title: 'Anthropic',
    kind: 'anthropic',
    baseUrl: null,
    keyName: 'anthropic',
    keyUrl: 'https://console.anthropic.com/settings/keys',
    keyVariable: 'ANTHROPIC_API_KEY',
  },
  compatible('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', 'https://openrouter.ai/keys', 'OPENROUTER_API_KEY'),
  compatible('groq', 'Groq', 'https://api.groq.com/openai/v1', 'https://console.groq.com/keys', 'GROQ_API_KEY'),
  compatible('mistral', 'Mistral', 'https://api.mistral.ai/v1', 'https://console.mistral.ai/api-keys', 'MISTRAL_API_KEY'),
  compatible('deepseek', 'DeepSeek', 'https://api.deepseek.com/v1', 'https://platform.deepseek.com/api_keys', 'DEEPSEEK_API_KEY'),
  compatible(
    'gemini',
    'Google Gemini',
    'https://generativelanguage.googleapis.com/v1beta/openai',
    'https://aistudio.google.com/apikey',
    'GEMINI_API_KEY',
  ),
  compatible('xai', 'xAI', 'https://api.x.ai/v1', 'https://console.x.ai', 'XAI_API_KEY'),
  // https://RESOURCE.openai.azure.com/openai/v1, where RESOURCE is the person's own; models are named by their deployment.
  compatible('azure', 'Azure OpenAI', null, 'https://ai.azure.com', 'AZURE_OPENAI_API_KEY'),
  // https://bedrock-runtime.REGION.amazonaws.com/openai/v1, where REGION is the person's own.
  compatible('bedrock', 'Amazon Bedrock', null, 'https://console.aws.amazon.com/bedrock', 'AWS_BEARER_TOKEN_BEDROCK'),
  { id: 'ollama', title: 'Ollama', kind: 'ollama', baseUrl: 'http://127.0.0.1:11434', keyName: null, keyUrl: null, keyVariable: null },
  local('lmstudio', 'LM Studio', 'http://127.0.0.1:1234/v1'),
  local('llamacpp', 'llama-server', 'http://127.0.0.1:8080/v1'),
  { id: 'file', title: 'A GGUF file', kind: 'embedded', baseUrl: null, keyName: null, keyUrl: null, keyVariable: null },
];

/**
 * Lists keys in the environment for providers that are not set up. Returns only the names of variables; a key is used only after a person
 * agrees. If NAME_BASE_URL is set next to NAME_API_KEY, as the vendors' own programs read it, the key belongs to that address and is sent
 * to no other.
 */
export function offeredKeys(environment: Readonly<Record<string, string | undefined>>, providers: Config['providers']): KeyOffer[] {
  const inUse = new Set(Object.values(providers).flatMap(keysOf));
  return providerPresets.flatMap(({ id, title, kind, baseUrl, keyVariable }) => {
    if (keyVariable === null || kind === 'embedded' || (environment[keyVariable] ?? '').trim() === '' || inUse.has(`env:${keyVariable}`))
      return [];
    const given = environment[keyVariable.replace(/_API_KEY$/, '_BASE_URL')] ?? '';
    const address = /^https?:\/\//.test(given) && URL.canParse(given) ? given : baseUrl;
    // The destination of the key is unknown.
    if (address === null && kind === 'openai-compatible') return [];
    return [{ preset: id, title, kind, baseUrl: address, variable: keyVariable }];
  });
}
