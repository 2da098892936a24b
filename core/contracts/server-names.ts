// Names of the servers of the OpenAI chat format whose ways are known; a provider's `preset` is one of them.

export const serverNames = [
  'openai',
  'openrouter',
  'groq',
  'mistral',
  'deepseek',
  'gemini',
  'xai',
  'cerebras',
  'lmstudio',
  'llamacpp',
  'vllm',
] as const;
export type ServerName = (typeof serverNames)[number];
