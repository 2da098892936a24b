// The OpenAI chat-completions request as JSON text pieces. Source: OpenAI API reference, chat completions (2026).
// Must not keep state: what was serialised is kept by RequestBodies.

import type { ModelRequest, ToolSchema } from '../../contracts/llm.ts';
import {
  inWords,
  jsonText,
  safeArgs,
  safeToolName,
  spoken,
  type AssistantMessage,
  type MessageGroup,
  type Spoken,
} from './message-groups.ts';
import type { Tail, WireFormat } from './request-body.ts';

export interface OpenAiFormatOptions {
  /** False for servers whose models may not take image parts: they are told of images in words. */
  readonly seesImages: boolean;
  /** The vendor's own API wants `max_completion_tokens`; most servers that imitate it know only `max_tokens`. */
  readonly maxTokensKey: 'max_tokens' | 'max_completion_tokens';
  /** True when this model takes function tools on this endpoint only with reasoning switched off. */
  readonly needsNoReasoningWithTools: (modelId: string) => boolean;
}

export function createOpenAiFormat(options: OpenAiFormatOptions): WireFormat {
  const show = (said: Spoken): Spoken => (options.seesImages ? said : inWords(said));
  return {
    prefix(request) {
      const parts = [`{"model":${jsonText(request.modelId)},"stream":true,"stream_options":{"include_usage":true}`];
      if (request.tools.length > 0) {
        parts.push(`,"tools":[${request.tools.map(toolText).join(',')}]`);
        if (options.needsNoReasoningWithTools(request.modelId)) parts.push(',"reasoning_effort":"none"');
      }
      parts.push(',"messages":[');
      if (request.system === '') return { text: parts.join(''), tail: 'empty' };
      parts.push(`{"role":"system","content":${jsonText(request.system)}}`);
      return { text: parts.join(''), tail: 'closed' };
    },
    group(group, tail) {
      const messages = groupTexts(group, show);
      if (messages.length === 0) return { text: '', tail };
      return { text: (tail === 'empty' ? '' : ',') + messages.join(','), tail: 'closed' };
    },
    spoken(said, tail) {
      return { text: (tail === 'empty' ? '' : ',') + userText(show(said)), tail: 'closed' };
    },
    suffix(request: ModelRequest, tail: Tail) {
      const last = request.tail === undefined ? '' : (tail === 'empty' ? '' : ',') + userText(spoken({ role: 'note', text: request.tail }));
      return last + (request.maxOutputTokens === undefined ? ']}' : `],"${options.maxTokensKey}":${request.maxOutputTokens}}`);
    },
  };
}

/** GPT 5.6 and later 5.x refuse function tools together with reasoning on chat completions. */
export function needsNoReasoningWithTools(modelId: string): boolean {
  const minor = /^gpt-5\.(\d+)/.exec(modelId)?.[1];
  return minor !== undefined && Number(minor) >= 6;
}

function groupTexts(group: MessageGroup, show: (said: Spoken) => Spoken): string[] {
  const messages: string[] = [];
  if (group.assistant !== null) messages.push(assistantText(group.assistant));
  for (const result of group.results) {
    messages.push(`{"role":"tool","tool_call_id":${jsonText(result.id)},"content":${jsonText(result.text)}}`);
  }
  for (const said of group.said) messages.push(userText(show(said)));
  return messages;
}

function assistantText(message: AssistantMessage): string {
  if (message.calls.length === 0) return `{"role":"assistant","content":${jsonText(message.text)}}`;
  const content = message.text === '' ? 'null' : jsonText(message.text);
  const calls = message.calls.map(
    (call) =>
      `{"id":${jsonText(call.id)},"type":"function","function":{"name":${jsonText(safeToolName(call.tool))},"arguments":${jsonText(safeArgs(call.args))}}}`,
  );
  return `{"role":"assistant","content":${content},"tool_calls":[${calls.join(',')}]}`;
}

function userText({ text, images }: Spoken): string {
  if (images.length === 0) return `{"role":"user","content":${jsonText(text)}}`;
  const parts = images.map(
    ({ mediaType, base64 }) => `{"type":"image_url","image_url":{"url":${jsonText(`data:${mediaType};base64,${base64}`)}}}`,
  );
  return `{"role":"user","content":[{"type":"text","text":${jsonText(text)}},${parts.join(',')}]}`;
}

function toolText(tool: ToolSchema): string {
  const { name, description, parameters } = tool;
  return JSON.stringify({ type: 'function', function: { name, description, parameters } });
}
