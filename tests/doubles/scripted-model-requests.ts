// Parses a model request in any of the formats.

import type { IncomingHttpHeaders } from 'node:http';
import { isPlainObject } from '../../core/base/json.ts';

export type WireFormat = 'openai' | 'responses' | 'anthropic' | 'ollama';

export interface ToolResultSeen {
  readonly id: string;
  readonly text: string;
}

export interface ModelRequestSeen {
  readonly format: WireFormat;
  /** 0 for the first request this server saw. */
  readonly index: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  readonly bodyBytes: number;
  readonly key: string | null;
  readonly model: string;
  readonly streams: boolean;
  readonly system: string;
  readonly toolNames: readonly string[];
  /** The newest text of a person, without notes of the runtime. */
  readonly userText: string;
  /** Tool results after that text. */
  readonly toolResults: readonly ToolResultSeen[];
  /** Notes of the runtime after that text. */
  readonly notes: readonly string[];
}

type Item =
  | { readonly kind: 'user' | 'note'; readonly text: string }
  | { readonly kind: 'assistant' }
  | { readonly kind: 'result'; readonly id: string; readonly text: string };

const NOTE_START = '<runtime-note>';

export function readRequest(
  format: WireFormat,
  index: number,
  sent: Pick<ModelRequestSeen, 'headers' | 'body' | 'bodyBytes'>,
): ModelRequestSeen {
  const { headers, body, bodyBytes } = sent;
  const items = readItems(format, body);
  const lastUser = items.findLastIndex((item) => item.kind === 'user');
  const user = items[lastUser];
  const after = items.slice(lastUser + 1);
  return {
    format,
    index,
    headers,
    body,
    bodyBytes,
    key: readKey(headers),
    model: text(body['model']),
    streams: format === 'ollama' ? body['stream'] !== false : body['stream'] === true,
    system: readSystem(format, body),
    toolNames: readToolNames(body['tools']),
    userText: user?.kind === 'user' ? user.text : '',
    toolResults: after.flatMap((item) => (item.kind === 'result' ? [{ id: item.id, text: item.text }] : [])),
    notes: after.flatMap((item) => (item.kind === 'note' ? [item.text] : [])),
  };
}

function readItems(format: WireFormat, body: Readonly<Record<string, unknown>>): Item[] {
  if (format === 'responses') return list(body['input']).flatMap(responsesItems);
  return list(body['messages']).flatMap((message) => (format === 'anthropic' ? anthropicItems(message) : openAiItems(message)));
}

function openAiItems(message: Record<string, unknown>): Item[] {
  const content = contentText(message['content']);
  switch (message['role']) {
    case 'user':
      return [spoken(content)];
    case 'assistant':
      return [{ kind: 'assistant' }];
    case 'tool':
      return [{ kind: 'result', id: text(message['tool_call_id']), text: content }];
    default:
      return [];
  }
}

function responsesItems(item: Record<string, unknown>): Item[] {
  if (item['type'] === 'function_call_output') return [{ kind: 'result', id: text(item['call_id']), text: contentText(item['output']) }];
  return item['type'] === 'message' ? openAiItems(item) : [];
}

function anthropicItems(message: Record<string, unknown>): Item[] {
  const content = message['content'];
  if (message['role'] === 'assistant') return [{ kind: 'assistant' }];
  if (typeof content === 'string') return [spoken(content)];
  return list(content).flatMap((block): Item[] => {
    if (block['type'] === 'tool_result') return [{ kind: 'result', id: text(block['tool_use_id']), text: contentText(block['content']) }];
    return block['type'] === 'text' ? [spoken(text(block['text']))] : [];
  });
}

function spoken(content: string): Item {
  return { kind: content.startsWith(NOTE_START) ? 'note' : 'user', text: content };
}

function readSystem(format: WireFormat, body: Readonly<Record<string, unknown>>): string {
  if (format === 'anthropic') return contentText(body['system']);
  if (format === 'responses') return text(body['instructions']);
  const first = list(body['messages'])[0];
  return first?.['role'] === 'system' ? contentText(first['content']) : '';
}

function readToolNames(tools: unknown): string[] {
  return list(tools).map((tool) => text(isPlainObject(tool['function']) ? tool['function']['name'] : tool['name']));
}

function readKey(headers: IncomingHttpHeaders): string | null {
  const own = headers['x-api-key'];
  if (typeof own === 'string') return own;
  return headers.authorization?.replace(/^Bearer /, '') ?? null;
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((block) => text(block['text']))
    .join('');
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isPlainObject) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
