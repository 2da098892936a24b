// Builds the request of Ollama's own chat API from JSON text pieces. Source: Ollama API documentation and api/types.go (2026). Arguments
// are objects, images bare base64, limits in `options`. The server silently drops unknown fields, so nothing else is sent. `truncate:
// false` makes it refuse a prompt that is too long; by default it silently cuts off the beginning.

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
  type ToolMessage,
} from './message-groups.ts';
import { ollamaOutput } from './output-field.ts';
import type { Tail, WireFormat } from './request-body.ts';
import { withoutWords } from './wire-words.ts';

export interface OllamaFormatOptions {
  readonly seesImages: boolean;
  /** The window to load the model with. It must be the same for every request: a different one makes the server reload the model. */
  readonly contextTokens: (modelId: string) => number;
  /** The model's reasoning before this call; reasoning models want it back during a tool loop. */
  readonly thinkingBefore: (callId: string) => string;
  /** The fields and schema keywords that this server refused. */
  readonly refused: ReadonlySet<string>;
}

export function createOllamaFormat(options: OllamaFormatOptions): WireFormat {
  const show = (said: Spoken): Spoken => (options.seesImages ? said : inWords(said));
  return {
    prefix(request) {
      const parts = [`{"model":${jsonText(request.modelId)},"stream":true`];
      if (!options.refused.has('truncate')) parts.push(',"truncate":false');
      const hasTools = request.tools.length > 0 && !options.refused.has('tools');
      if (hasTools) parts.push(`,"tools":[${request.tools.map((tool) => toolText(tool, options.refused)).join(',')}]`);
      parts.push(',"messages":[');
      if (request.system === '') return { text: parts.join(''), tail: 'empty' };
      parts.push(`{"role":"system","content":${jsonText(request.system)}}`);
      return { text: parts.join(''), tail: 'closed' };
    },
    group(group, tail) {
      const messages = groupTexts(group, options, show);
      if (messages.length === 0) return { text: '', tail };
      return { text: (tail === 'empty' ? '' : ',') + messages.join(','), tail: 'closed' };
    },
    spoken(said, tail) {
      return { text: (tail === 'empty' ? '' : ',') + userText(show(said)), tail: 'closed' };
    },
    suffix(request: ModelRequest, tail: Tail) {
      const last = request.tail === undefined ? '' : (tail === 'empty' ? '' : ',') + userText(spoken({ role: 'note', text: request.tail }));
      const limit = request.maxOutputTokens === undefined ? '' : `,"num_predict":${request.maxOutputTokens}`;
      const format = ollamaOutput(request.output, options.refused);
      return `${last}]${format},"options":{"num_ctx":${options.contextTokens(request.modelId)}${limit}}}`;
    },
  };
}

function groupTexts(group: MessageGroup, options: OllamaFormatOptions, show: (said: Spoken) => Spoken): string[] {
  const messages: string[] = [];
  if (group.assistant !== null) messages.push(assistantText(group.assistant, options));
  for (const result of group.results) messages.push(resultText(result));
  for (const said of group.said) messages.push(userText(show(said)));
  return messages;
}

function assistantText({ text, calls }: AssistantMessage, options: OllamaFormatOptions): string {
  const [first] = calls;
  if (first === undefined) return `{"role":"assistant","content":${jsonText(text)}}`;
  const thinking = options.thinkingBefore(first.id);
  const thought = thinking === '' ? '' : `,"thinking":${jsonText(thinking)}`;
  const made = calls.map(
    (call) => `{"id":${jsonText(call.id)},"function":{"name":${jsonText(safeToolName(call.tool))},"arguments":${safeArgs(call.args)}}}`,
  );
  return `{"role":"assistant","content":${jsonText(text)}${thought},"tool_calls":[${made.join(',')}]}`;
}

/** Contains the tool name as well, because servers that ignore call ids match results by name and order. */
function resultText({ id, tool, text }: ToolMessage): string {
  return `{"role":"tool","tool_name":${jsonText(safeToolName(tool))},"tool_call_id":${jsonText(id)},"content":${jsonText(text)}}`;
}

function userText({ text, images }: Spoken): string {
  const shown = images.length === 0 ? '' : `,"images":[${images.map(({ base64 }) => jsonText(base64)).join(',')}]`;
  return `{"role":"user","content":${jsonText(text)}${shown}}`;
}

function toolText({ name, description, parameters }: ToolSchema, refused: ReadonlySet<string>): string {
  return JSON.stringify({ type: 'function', function: { name, description, parameters: withoutWords(parameters, refused) } });
}
