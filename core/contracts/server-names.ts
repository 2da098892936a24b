// Names of the servers of the OpenAI chat format whose peculiarities are known. A provider's `preset` is one of them.

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
