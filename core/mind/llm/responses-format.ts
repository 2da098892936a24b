// Builds the request of OpenAI's Responses API from JSON text pieces. Source: OpenAI API reference, responses (2026). Nothing is stored at
// the vendor: each request contains the conversation. Keeps no state; RequestBodies caches the serialised text.

import type { ToolSchema } from '../../contracts/llm.ts';
import { wireCallId } from './call-ids.ts';
import { inArrivalOrder } from './kept-of-call.ts';
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
import { responsesOutput } from './output-field.ts';
import type { Tail, WireFormat } from './request-body.ts';
import type { ServerProfile } from './server-profile.ts';
import { withoutWords } from './wire-words.ts';

const OUTPUT_TOKENS_MIN = 16;

export interface ResponsesFormatOptions {
  readonly seesImages: boolean;
  readonly profile: ServerProfile;
  /** The fields and schema keywords that this server refused. */
  readonly refused: ReadonlySet<string>;
  /** Reasoning items (JSON texts) between the previous call and this one, with `WORDS_HERE`; the API wants them back during a tool loop. */
  readonly before: (callId: string) => readonly string[];
}

export function createResponsesFormat(options: ResponsesFormatOptions): WireFormat {
  const show = (said: Spoken): Spoken => (options.seesImages ? said : inWords(said));
  return {
    prefix({ modelId, tools, system }) {
      const { refused } = options;
      const parts = [`{"model":${jsonText(modelId)},"stream":true`];
      if (!refused.has('store')) parts.push(',"store":false');
      if (reasons(modelId) && !refused.has('include')) parts.push(',"include":["reasoning.encrypted_content"]');
      if (system !== '') parts.push(`,"instructions":${jsonText(system)}`);
      if (tools.length > 0 && !refused.has('tools')) parts.push(`,"tools":[${tools.map((tool) => toolText(tool, refused)).join(',')}]`);
      return { text: `${parts.join('')},"input":[`, tail: 'empty' };
    },
    group(group, tail) {
      const items = groupItems(group, options, show);
      return items.length === 0 ? { text: '', tail } : { text: join(tail) + items.join(','), tail: 'closed' };
    },
    spoken(said, tail) {
      return { text: join(tail) + userText(show(said)), tail: 'closed' };
    },
    suffix({ tail: last, maxOutputTokens, output }, tail) {
      const words = last === undefined ? '' : join(tail) + userText(spoken({ role: 'note', text: last }));
      const isLimited = maxOutputTokens !== undefined && !options.refused.has('max_output_tokens');
      const limit = isLimited ? `,"max_output_tokens":${Math.max(maxOutputTokens, OUTPUT_TOKENS_MIN)}` : '';
      return `${words}]${limit}${responsesOutput(output, options.profile, options.refused)}}`;
    },
  };
}

/** Returns whether the model has reasoning to request; other models refuse such a request. */
function reasons(modelId: string): boolean {
  return /(?:^|\/)(?:o\d|gpt-[5-9]|codex)/.test(modelId) && !modelId.includes('chat');
}

function join(tail: Tail): string {
  return tail === 'empty' ? '' : ',';
}

function groupItems({ assistant, results, said }: MessageGroup, options: ResponsesFormatOptions, show: (said: Spoken) => Spoken): string[] {
  return [
    ...(assistant === null ? [] : assistantItems(assistant, options)),
    ...results.map(
      ({ id, text }) => `{"type":"function_call_output","call_id":${jsonText(wireCallId(id, 'plain'))},"output":${jsonText(text)}}`,
    ),
    ...said.map((one) => userText(show(one))),
  ];
}

/** Keeps the order of the answer: a reasoning item is directly before the item it led to. */
function assistantItems({ text, calls, phase }: AssistantMessage, options: ResponsesFormatOptions): string[] {
  const label = phase === undefined || options.refused.has('phase') ? '' : `,"phase":"${phase}"`;
  return inArrivalOrder(calls, text.trim() === '' && calls.length > 0 ? null : assistantText(text, label), {
    before: options.before,
    callText: ({ id, tool, args }) => {
      const name = `"name":${jsonText(safeToolName(tool))},"arguments":${jsonText(safeArgs(args))}`;
      return `{"type":"function_call","call_id":${jsonText(wireCallId(id, 'plain'))},${name}}`;
    },
  });
}

function assistantText(text: string, label: string): string {
  return `{"type":"message","role":"assistant"${label},"content":[{"type":"output_text","text":${jsonText(text)}}]}`;
}

function userText({ text, images }: Spoken): string {
  const parts = images.map(({ mediaType, base64 }) => {
    return `{"type":"input_image","image_url":${jsonText(`data:${mediaType};base64,${base64}`)}}`;
  });
  return `{"type":"message","role":"user","content":[{"type":"input_text","text":${jsonText(text)}}${parts.map((part) => `,${part}`).join('')}]}`;
}

/** States `strict: false`, because the server defaults to strict, and the model would then fill in optional arguments. */
function toolText({ name, description, parameters }: ToolSchema, refused: ReadonlySet<string>): string {
  const strict = refused.has('strict') ? {} : { strict: false };
  return JSON.stringify({ type: 'function', name, description, parameters: withoutWords(parameters, refused), ...strict });
}
