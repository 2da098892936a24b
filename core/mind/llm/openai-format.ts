// Builds the OpenAI chat-completions request from JSON text pieces. Source: OpenAI API reference, chat completions (2026). Keeps no state;
// RequestBodies caches the serialised text.

import type { ModelRequest, ToolSchema } from '../../contracts/llm.ts';
import { wireCallId } from './call-ids.ts';
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
import type { KeptOfCall } from './kept-of-call.ts';
import { openAiOutput } from './output-field.ts';
import { unsignedDetail } from './reasoning-details.ts';
import type { Tail, WireFormat } from './request-body.ts';
import type { ServerProfile } from './server-profile.ts';
import { withoutWords } from './wire-words.ts';

export interface OpenAiFormatOptions {
  /** False for servers whose models may not accept images: they get a description instead. */
  readonly seesImages: boolean;
  readonly profile: ServerProfile;
  /** The fields and schema keywords that this server refused. */
  readonly refused: ReadonlySet<string>;
  /** Data that arrived with a call and is sent back with it. */
  readonly keptOf: (callId: string) => KeptOfCall | undefined;
  /** JSON texts of OpenRouter's reasoning before this call; empty for those of another model and lost ones. */
  readonly detailsBefore?: (callId: string) => readonly string[];
  /** True if the server wants signatures of Gemini among them. */
  readonly isGemini?: boolean;
  /** True if this model accepts function tools on this endpoint only with reasoning switched off. */
  readonly needsNoReasoningWithTools: (modelId: string) => boolean;
}

export function createOpenAiFormat(options: OpenAiFormatOptions): WireFormat {
  const show = (said: Spoken): Spoken => (options.seesImages ? said : inWords(said));
  return {
    prefix(request) {
      const { profile, refused } = options;
      const parts = [`{"model":${jsonText(request.modelId)},"stream":true`];
      if (profile.streamOptions && !refused.has('stream_options')) parts.push(',"stream_options":{"include_usage":true}');
      if (request.tools.length > 0 && !refused.has('tools')) {
        parts.push(`,"tools":[${request.tools.map((tool) => toolText(tool, refused)).join(',')}]`);
        const isRefused = refused.has('reasoning_with_tools') || options.needsNoReasoningWithTools(request.modelId);
        const isOff = isRefused && !refused.has('reasoning_effort');
        if (isOff) parts.push(',"reasoning_effort":"none"');
      }
      parts.push(',"messages":[');
      if (request.system === '') return { text: parts.join(''), tail: 'empty' };
      parts.push(`{"role":"system","content":${jsonText(request.system)}}`);
      return { text: parts.join(''), tail: 'closed' };
    },
    group(group, tail) {
      const messages = groupTexts(group, options, show);
      if (messages.length === 0) return { text: '', tail };
      const endsInResult = group.results.length > 0 && group.said.length === 0;
      return {
        text: join(tail, group.assistant === null) + messages.join(','),
        tail: endsInResult && !options.profile.userAfterTool ? 'open' : 'closed',
      };
    },
    spoken(said, tail) {
      return { text: join(tail, true) + userText(show(said)), tail: 'closed' };
    },
    suffix(request: ModelRequest, tail: Tail) {
      const last = request.tail === undefined ? '' : join(tail, true) + userText(spoken({ role: 'note', text: request.tail }));
      const key = maxTokensKey(options);
      const limit = request.maxOutputTokens === undefined || key === null ? '' : `,"${key}":${request.maxOutputTokens}`;
      return `${last}]${limit}${openAiOutput(request.output, options.profile, options.refused)}}`;
    },
  };
}

/** GPT 5.6 and later models refuse function tools together with reasoning on chat completions. */
export function needsNoReasoningWithTools(modelId: string): boolean {
  return /^gpt-(?:5\.(?:[6-9]|\d{2})|[6-9]|\d{2})/.test(modelId);
}

/** The separator before a message. An open tail ends in a tool result, after which this server accepts no user message. */
function join(tail: Tail, isUser: boolean): string {
  if (tail === 'empty') return '';
  return tail === 'open' && isUser ? `,${BRIDGE},` : ',';
}

const BRIDGE = '{"role":"assistant","content":"I have read the results."}';

function groupTexts(group: MessageGroup, options: OpenAiFormatOptions, show: (said: Spoken) => Spoken): string[] {
  const messages: string[] = [];
  if (group.assistant !== null) messages.push(assistantText(group.assistant, options));
  for (const result of group.results) {
    messages.push(
      `{"role":"tool","tool_call_id":${jsonText(wireCallId(result.id, options.profile.callIds))},"content":${jsonText(result.text)}}`,
    );
  }
  if (!options.profile.userAfterTool && group.results.length > 0 && group.said.length > 0) messages.push(BRIDGE);
  for (const said of group.said) messages.push(userText(show(said)));
  return messages;
}

function assistantText(message: AssistantMessage, options: OpenAiFormatOptions): string {
  if (message.calls.length === 0) return `{"role":"assistant","content":${jsonText(message.text)}}`;
  const content = message.text === '' ? 'null' : jsonText(message.text);
  const calls = message.calls.map(
    (call, index) =>
      `{"id":${jsonText(wireCallId(call.id, options.profile.callIds))},"type":"function","function":{"name":${jsonText(safeToolName(call.tool))},"arguments":${jsonText(safeArgs(call.args))}}${extraContent(call.id, index === 0, options)}}`,
  );
  return `{"role":"assistant","content":${content}${reasoningBack(message, options)},"tool_calls":[${calls.join(',')}]}`;
}

/** Empty if the reasoning is no longer known: the server only checks that the field is present. */
function reasoningBack(message: AssistantMessage, options: OpenAiFormatOptions): string {
  const { profile, refused, keptOf } = options;
  if (profile.wantsBack === 'details' && !refused.has('reasoning_details')) return detailsBack(message.calls[0]?.id ?? '', options);
  if (profile.wantsBack !== 'reasoning' || refused.has('reasoning_content')) return '';
  return `,"reasoning_content":${jsonText(keptOf(message.calls[0]?.id ?? '')?.reasoning ?? '')}`;
}

function detailsBack(callId: string, { profile, detailsBefore, isGemini }: OpenAiFormatOptions): string {
  const details = [...(detailsBefore?.(callId) ?? [])];
  const isSigned = details.some((text) => text.includes('"reasoning.encrypted"'));
  if (isGemini === true && !isSigned) details.push(unsignedDetail(wireCallId(callId, profile.callIds)));
  return details.length === 0 ? '' : `,"reasoning_details":[${details.join(',')}]`;
}

/**
 * Only the first call of a step needs a signature. If it was lost, or the call was made by another model, the vendor accepts this
 * placeholder.
 */
const UNSIGNED = '{"google":{"thought_signature":"skip_thought_signature_validator"}}';

function extraContent(callId: string, isFirst: boolean, { profile, refused, keptOf }: OpenAiFormatOptions): string {
  if (profile.wantsBack !== 'signatures' || refused.has('extra_content')) return '';
  const extra = keptOf(callId)?.extra ?? '';
  if (extra !== '') return `,"extra_content":${extra}`;
  return isFirst ? `,"extra_content":${UNSIGNED}` : '';
}

/** Returns the alternative name if the server refused the usual one; null if it refused both. */
function maxTokensKey({ profile, refused }: OpenAiFormatOptions): string | null {
  const other = profile.maxTokensKey === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  return [profile.maxTokensKey, other].find((key) => !refused.has(key)) ?? null;
}

function userText({ text, images }: Spoken): string {
  if (images.length === 0) return `{"role":"user","content":${jsonText(text)}}`;
  const parts = images.map(
    ({ mediaType, base64 }) => `{"type":"image_url","image_url":{"url":${jsonText(`data:${mediaType};base64,${base64}`)}}}`,
  );
  return `{"role":"user","content":[{"type":"text","text":${jsonText(text)}},${parts.join(',')}]}`;
}

function toolText(tool: ToolSchema, refused: ReadonlySet<string>): string {
  const { name, description } = tool;
  return JSON.stringify({ type: 'function', function: { name, description, parameters: withoutWords(tool.parameters, refused) } });
}
