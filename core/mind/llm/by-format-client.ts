// Sends the requests for each of OpenAI's models to the API where it works with tools: GPT-6 refuses tools in chat completions, GPT-5.6
// accepts them there only without reasoning, and the -pro and codex models exist only in the Responses API. Sources: the vendor's refusals.

import type { DeltaSink, ModelClient, ModelReply, ModelRequest } from '../../contracts/llm.ts';
import { needsNoReasoningWithTools } from './openai-format.ts';

export function isForResponses(modelId: string): boolean {
  return needsNoReasoningWithTools(modelId) || /-pro(?:-|$)|codex/.test(modelId);
}

export class ByFormatClient implements ModelClient {
  readonly #clients: { readonly chat: ModelClient; readonly responses: ModelClient };

  constructor(clients: { readonly chat: ModelClient; readonly responses: ModelClient }) {
    this.#clients = clients;
  }

  stream(request: ModelRequest, sink: DeltaSink, signal: AbortSignal): Promise<ModelReply> {
    const { chat, responses } = this.#clients;
    return (isForResponses(request.modelId) ? responses : chat).stream(request, sink, signal);
  }

  async close(): Promise<void> {
    await this.#clients.chat.close?.();
    await this.#clients.responses.close?.();
  }
}
