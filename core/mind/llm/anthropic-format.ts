// Builds the Anthropic messages request from JSON text pieces. Source: Anthropic API reference, version 2023-06-01.
// Everything between two assistant messages becomes one user message, results first, because the API requires each result directly after
// its call. That user message and its last block stay open. Later text can then join it without rewriting anything, and whichever block is
// last when a request is sent carries the cache mark, up to which the vendor caches the conversation.

import type { ModelRequest, ToolSchema } from '../../contracts/llm.ts';
import { wireCallId } from './call-ids.ts';
import { inArrivalOrder } from './kept-of-call.ts';
import {
  inWords,
  jsonText,
  safeArgs,
  safeToolName,
  spokenText,
  type AssistantMessage,
  type Spoken,
  type ToolMessage,
} from './message-groups.ts';
import { anthropicOutput } from './output-field.ts';
import type { Tail, WireFormat } from './request-body.ts';
import { withoutWords } from './wire-words.ts';

const CACHE_MARK = '"cache_control":{"type":"ephemeral"}';
const EMPTY_TEXT = '(empty)';

export interface AnthropicFormatOptions {
  readonly seesImages: boolean;
  /** The API requires `max_tokens`. */
  maxOutputTokens(modelId: string): number;
  /** Signed thinking blocks (JSON texts) before this call, with `WORDS_HERE`; the API wants them back where they were. */
  readonly before: (callId: string) => readonly string[];
  /** The fields and schema keywords that this server refused. */
  readonly refused: ReadonlySet<string>;
}

export function createAnthropicFormat(options: AnthropicFormatOptions): WireFormat {
  const saidBlocks = (said: Spoken): string[] => spokenBlocks(options.seesImages ? said : inWords(said));
  return {
    prefix(request) {
      const parts = [`{"model":${jsonText(request.modelId)},"stream":true`];
      if (request.tools.length > 0) parts.push(`,"tools":[${toolTexts(request.tools, options.refused).join(',')}]`);
      if (request.system !== '') parts.push(`,"system":[{"type":"text","text":${jsonText(request.system)},${CACHE_MARK}}]`);
      parts.push(',"messages":[');
      return { text: parts.join(''), tail: 'empty' };
    },
    group(group, tail) {
      let text = '';
      let isOpen = tail === 'open';
      if (group.assistant !== null) {
        // The API requires a user message first; an earlier part of the conversation may have been left out.
        if (tail === 'empty') text += openUser([textBlock('(The conversation started earlier.)')]);
        if (isOpen || tail === 'empty') text += '}]}';
        text += ',' + assistantText(group.assistant, options);
        isOpen = false;
      }
      const blocks = [...group.results.map(resultBlock), ...group.said.flatMap(saidBlocks)];
      if (blocks.length === 0) return { text, tail: group.assistant === null ? tail : 'closed' };
      if (isOpen) text += '},' + withoutLastBrace(blocks);
      else text += (tail === 'empty' && group.assistant === null ? '' : ',') + openUser(blocks);
      return { text, tail: 'open' };
    },
    spoken(said, tail) {
      if (tail === 'open') return { text: '},' + withoutLastBrace(saidBlocks(said)), tail };
      return { text: (tail === 'empty' ? '' : ',') + openUser(saidBlocks(said)), tail: 'open' };
    },
    suffix(request: ModelRequest, tail) {
      const most = options.maxOutputTokens(request.modelId);
      const maxTokens = Math.min(request.maxOutputTokens ?? most, most);
      return `${lastWords(request, tail)}],"max_tokens":${maxTokens}${anthropicOutput(request.output, options.refused)}}`;
    },
  };
}

/** The cache mark stays on the kept part, because the transient text differs in the next request. */
function lastWords(request: ModelRequest, tail: Tail): string {
  const mark = tail === 'open' ? `,${CACHE_MARK}}` : '';
  if (request.tail === undefined) return tail === 'open' ? `${mark}]}` : '';
  const block = textBlock(spokenText({ role: 'note', text: request.tail }));
  return tail === 'open' ? `${mark},${block}]}` : `${tail === 'empty' ? '' : ','}{"role":"user","content":[${block}]}`;
}

function openUser(blocks: readonly string[]): string {
  return `{"role":"user","content":[${withoutLastBrace(blocks)}`;
}

function withoutLastBrace(blocks: readonly string[]): string {
  return blocks.join(',').slice(0, -1);
}

function textBlock(text: string): string {
  return `{"type":"text","text":${jsonText(text.trim() === '' ? EMPTY_TEXT : text)}}`;
}

/** The text is last, because the cache mark must be on a text block. */
function spokenBlocks({ text, images }: Spoken): string[] {
  const shown = images.map(
    ({ mediaType, base64 }) => `{"type":"image","source":{"type":"base64","media_type":${jsonText(mediaType)},"data":${jsonText(base64)}}}`,
  );
  return [...shown, textBlock(text)];
}

function resultBlock(result: ToolMessage): string {
  const error = result.isError ? ',"is_error":true' : '';
  return `{"type":"tool_result","tool_use_id":${jsonText(wireCallId(result.id, 'plain'))},"content":${jsonText(result.text)}${error}}`;
}

function assistantText(message: AssistantMessage, options: AnthropicFormatOptions): string {
  const blocks = inArrivalOrder(message.calls, message.text.trim() === '' && message.calls.length > 0 ? null : textBlock(message.text), {
    before: options.before,
    callText: ({ id, tool, args }) =>
      `{"type":"tool_use","id":${jsonText(wireCallId(id, 'plain'))},"name":${jsonText(safeToolName(tool))},"input":${safeArgs(args)}}`,
  });
  return `{"role":"assistant","content":[${blocks.join(',')}]}`;
}

function toolTexts(tools: readonly ToolSchema[], refused: ReadonlySet<string>): string[] {
  return tools.map((tool, index) => {
    const text = JSON.stringify({ name: tool.name, description: tool.description, input_schema: withoutWords(tool.parameters, refused) });
    return index === tools.length - 1 ? `${text.slice(0, -1)},${CACHE_MARK}}` : text;
  });
}
