// The vendor that a model server imitates, and what that vendor refuses. A request that passes here is accepted by the published interface.

import { anthropicMessages } from './anthropic-messages.ts';
import { geminiChat } from './gemini-chat.ts';
import { llamaServerChat, lmStudioChat } from './local-chat.ts';
import { mistralChat } from './mistral-chat.ts';
import { ollamaChat } from './ollama-chat.ts';
import { deepSeekChat, groqChat, openAiChat, openRouterChat, xAiChat } from './openai-chat.ts';
import { openAiResponses } from './openai-responses.ts';
import type { Part, VendorNo } from './refused.ts';

export type { VendorNo } from './refused.ts';

const checks = {
  openai: openAiChat,
  responses: openAiResponses,
  anthropic: anthropicMessages,
  ollama: ollamaChat,
  gemini: geminiChat,
  mistral: mistralChat,
  groq: groqChat,
  deepseek: deepSeekChat,
  xai: xAiChat,
  openrouter: openRouterChat,
  llamacpp: llamaServerChat,
  lmstudio: lmStudioChat,
} as const;

export type Vendor = keyof typeof checks;

export const vendors = Object.keys(checks) as readonly Vendor[];

/** The vendor's refusal of a request; null if it accepts the request. */
export function vendorRefusal(vendor: Vendor, body: Part): VendorNo | null {
  return checks[vendor](body);
}

/** The message of a refusal, whatever the form of its body. */
export function refusalWords({ body }: VendorNo): string {
  const words: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') words.push(value);
    else if (Array.isArray(value)) value.forEach(collect);
    else if (typeof value === 'object' && value !== null)
      for (const key of ['error', 'message', 'detail', 'loc', 'msg', 'raw', 'metadata']) if (key in value) collect((value as Part)[key]);
  };
  collect(body);
  return words.join(' ');
}
