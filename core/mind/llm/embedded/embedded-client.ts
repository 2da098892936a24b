// A GGUF file as a model: converts the conversation for the engine and the engine's reports to a reply. Keeps no state; the engine caches
// what it has read.

import { isPlainObject, parseJson } from '../../../base/json.ts';
import { AppError, toAppError } from '../../../contracts/errors.ts';
import type { ProviderConfig } from '../../../contracts/config.ts';
import type { ChatMessage, ModelClient, ModelReply, ModelRequest } from '../../../contracts/llm.ts';
import { wireCallId } from '../call-ids.ts';
import { groupMessages, inWords, nextAssistant, safeArgs, safeToolName, spoken, type MessageGroup } from '../message-groups.ts';
import { ReplyText, type ProgressSink } from '../reply-reader.ts';
import type { EngineAccess } from './engine-access.ts';
import type { EngineMessage } from './engine-messages.ts';

export type EmbeddedConfig = Extract<ProviderConfig, { kind: 'embedded' }>;

export interface EmbeddedClientDeps {
  readonly engine: Pick<EngineAccess, 'open'>;
  /** The window to load the model with. */
  readonly contextTokens: () => number;
  readonly nextCallId: () => string;
}

export class EmbeddedClient implements ModelClient {
  readonly #provider: string;
  readonly #config: EmbeddedConfig;
  readonly #deps: EmbeddedClientDeps;

  constructor(provider: string, config: EmbeddedConfig, deps: EmbeddedClientDeps) {
    this.#provider = provider;
    this.#config = config;
    this.#deps = deps;
  }

  async stream(request: ModelRequest, sink: ProgressSink, signal: AbortSignal): Promise<ModelReply> {
    const { engine, contextTokens, nextCallId } = this.#deps;
    const { file, threads } = this.#config;
    const said = new ReplyText(this.#provider, sink);
    const listener = {
      text: (piece: string) => said.addText(piece),
      reasoning: (piece: string) => said.addReasoning(piece),
      calling: () => sink.began?.(),
      alive: () => sink.alive?.(),
    };
    const order = {
      messages: messagesOf(request),
      tools: request.tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
      maxTokens: request.maxOutputTokens ?? null,
      output: request.output === undefined ? null : { ...request.output.schema },
    };
    try {
      const answer = await (await engine.open()).complete({ file, contextTokens: contextTokens(), threads }, order, listener, signal);
      const { inputTokens, outputTokens, cachedInputTokens, finish } = answer;
      const calls = answer.calls.map(({ name, args }) => ({ id: nextCallId(), tool: name, args }));
      const usage = { inputTokens, outputTokens, cachedInputTokens };
      return { text: said.text, reasoning: said.reasoning, calls, usage, usageReported: true, finishReason: finish };
    } catch (cause) {
      const error = toAppError(cause);
      throw new AppError(error.code, error.message, {
        data: { provider: this.#provider, ...error.data },
        isRetryable: error.isRetryable,
        cause,
      });
    }
  }
}

function messagesOf({ system, messages, tail }: ModelRequest): EngineMessage[] {
  const said: EngineMessage[] = system === '' ? [] : [{ role: 'system', content: system }];
  for (let at = 0; at < messages.length;) {
    const end = nextAssistant(messages, at + 1);
    said.push(...groupOf(groupMessages(messages, at, end)));
    at = end;
  }
  if (tail !== undefined) said.push({ role: 'user', content: spoken({ role: 'note', text: tail }).text });
  return said;
}

function groupOf({ assistant, results, said }: MessageGroup): EngineMessage[] {
  return [
    ...(assistant === null ? [] : [answerOf(assistant)]),
    ...results.map(({ id, tool, text }): EngineMessage => ({
      role: 'tool',
      id: wireCallId(id, 'nine'),
      name: safeToolName(tool),
      content: text,
    })),
    ...said.map((words): EngineMessage => ({ role: 'user', content: inWords(words).text })),
  ];
}

function answerOf({ text, calls }: Extract<ChatMessage, { role: 'assistant' }>): EngineMessage {
  const made = calls.map(({ id, tool, args }) => {
    const parsed = parseJson(safeArgs(args));
    return { id: wireCallId(id, 'nine'), name: safeToolName(tool), args: parsed.ok && isPlainObject(parsed.value) ? parsed.value : {} };
  });
  return { role: 'assistant', content: text, calls: made };
}
