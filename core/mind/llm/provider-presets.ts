// Well-known providers, for setting one up: its kind, its address and where a key comes from. Facts only; nothing is contacted.

import type { OpResult } from '../../contracts/ops.ts';

type Preset = OpResult<'model.presets'>['presets'][number];

const compatible = (id: string, title: string, baseUrl: string, keyUrl: string): Preset => ({
  id,
  title,
  kind: 'openai-compatible',
  baseUrl,
  keyName: id,
  keyUrl,
});
const local = (id: string, title: string, baseUrl: string): Preset => ({
  id,
  title,
  kind: 'openai-compatible',
  baseUrl,
  keyName: null,
  keyUrl: null,
});

/** Addresses and pages as the vendors document them. */
export const providerPresets: readonly Preset[] = [
  { id: 'openai', title: 'OpenAI', kind: 'openai', baseUrl: null, keyName: 'openai', keyUrl: 'https://platform.openai.com/api-keys' },
  {
    id: 'anthropic',
    title: 'Anthropic',
    kind: 'anthropic',
    baseUrl: null,
    keyName: 'anthropic',
    keyUrl: 'https://console.anthropic.com/settings/keys',
  },
  compatible('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', 'https://openrouter.ai/keys'),
  compatible('groq', 'Groq', 'https://api.groq.com/openai/v1', 'https://console.groq.com/keys'),
  compatible('mistral', 'Mistral', 'https://api.mistral.ai/v1', 'https://console.mistral.ai/api-keys'),
  compatible('deepseek', 'DeepSeek', 'https://api.deepseek.com/v1', 'https://platform.deepseek.com/api_keys'),
  compatible('gemini', 'Google Gemini', 'https://generativelanguage.googleapis.com/v1beta/openai', 'https://aistudio.google.com/apikey'),
  compatible('xai', 'xAI', 'https://api.x.ai/v1', 'https://console.x.ai'),
  { id: 'ollama', title: 'Ollama', kind: 'ollama', baseUrl: 'http://127.0.0.1:11434', keyName: null, keyUrl: null },
  local('lmstudio', 'LM Studio', 'http://127.0.0.1:1234/v1'),
  local('llamacpp', 'llama-server', 'http://127.0.0.1:8080/v1'),
];
