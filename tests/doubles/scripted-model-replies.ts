// Writes a scripted reply as the frames of each format, with the faults the script requests. Pure.

import { CREATED_S, type ReadyReply } from './ready-reply.ts';
import { boundTo, signatureOf } from './vendors/anthropic-words.ts';
import { errorDocument, type RefusalKind } from './scripted-model-refusals.ts';
import { responsesFrames } from './scripted-model-responses.ts';
import type { ModelRequestSeen, WireFormat } from './scripted-model-requests.ts';

export interface ScriptedCall {
  readonly tool: string;
  /** An object, or the exact text to send instead, whether or not it is JSON. */
  readonly args: Readonly<Record<string, unknown>> | string;
  /** Generated and unique by default. */
  readonly id?: string;
}

/** A fault after the given number of frames. */
export type Trouble =
  /**
   * cut: the connection is torn down. close: the connection closes in order, without a finish. stall: nothing more is sent, and the
   * connection stays open.
   */
  | { readonly kind: 'cut' | 'close' | 'stall'; readonly afterFrames: number }
  /** One frame of broken JSON is inserted. */
  | { readonly kind: 'malformed'; readonly afterFrames: number }
  /** The vendor's error object inside the stream. */
  | { readonly kind: 'error'; readonly afterFrames: number; readonly error?: RefusalKind };

export interface Reply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly finish?: 'stop' | 'length';
  /** Token usage to report; null reports none. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number } | null;
  /** Characters of text and of arguments per frame; by default everything is in one frame. */
  readonly pieceChars?: number;
  /** Cuts the bytes on the wire into pieces of this size, regardless of content. */
  readonly chunkBytes?: number;
  /** Delays before the first byte and after each frame. */
  readonly firstDelayMs?: number;
  readonly delayMs?: number;
  /** Pauses after this many frames until the promise settles. */
  readonly holds?: readonly { readonly afterFrames: number; readonly until: Promise<unknown> }[];
  readonly trouble?: Trouble;
}

export interface EncodedReply {
  readonly contentType: string;
  readonly frames: readonly string[];
  readonly ending: 'end' | 'drop' | 'hang';
}

const encoders: Readonly<Record<WireFormat, (reply: ReadyReply, streams: boolean) => string[]>> = {
  openai: openAiFrames,
  responses: responsesFrames,
  anthropic: anthropicFrames,
  ollama: ollamaFrames,
};

/** `turn` makes the ids of this reply unique. */
export function encodeReply(seen: ModelRequestSeen, reply: Reply, turn: number): EncodedReply {
  const { format, streams } = seen;
  const frames = encoders[format](readyReply(seen, reply, turn), streams);
  const streamType = format === 'ollama' ? 'application/x-ndjson' : 'text/event-stream';
  return { contentType: streams ? streamType : 'application/json', ...withTrouble(format, frames, reply.trouble) };
}

function readyReply(seen: ModelRequestSeen, reply: Reply, turn: number): ReadyReply {
  const calls = (reply.calls ?? []).map((call, index) => ({
    id: call.id ?? `${seen.format === 'anthropic' ? 'toolu' : 'call'}_${turn}_${index}`,
    tool: call.tool,
    args: typeof call.args === 'string' ? call.args : JSON.stringify(call.args),
  }));
  return {
    model: seen.model,
    id: String(turn),
    text: reply.text ?? '',
    reasoning: reply.reasoning ?? '',
    before: seen.format === 'anthropic' ? boundTo(seen.body) : '',
    calls,
    isCutShort: reply.finish === 'length',
    usage: reply.usage === undefined ? { input: 100, output: 20 } : reply.usage,
    pieces: (text) => splitText(text, reply.pieceChars ?? Infinity),
  };
}

function withTrouble(format: WireFormat, frames: readonly string[], trouble: Trouble | undefined): Pick<EncodedReply, 'frames' | 'ending'> {
  if (trouble === undefined) return { frames, ending: 'end' };
  const before = frames.slice(0, trouble.afterFrames);
  switch (trouble.kind) {
    case 'malformed':
      return {
        frames: [...before, frame(format, 'ping', '{"choices":[{"delta":{"content": broken'), ...frames.slice(trouble.afterFrames)],
        ending: 'end',
      };
    case 'error':
      return {
        frames: [...before, frame(format, 'error', JSON.stringify(errorDocument(format, trouble.error ?? 'server-error')))],
        ending: 'end',
      };
    default:
      return { frames: before, ending: trouble.kind === 'cut' ? 'drop' : trouble.kind === 'close' ? 'end' : 'hang' };
  }
}

function frame(format: WireFormat, event: string, data: string): string {
  if (format === 'ollama') return data + '\n';
  return format === 'anthropic' || format === 'responses' ? `event: ${event}\ndata: ${data}\n\n` : `data: ${data}\n\n`;
}

function openAiFrames(reply: ReadyReply, streams: boolean): string[] {
  const finishReason = reply.isCutShort ? 'length' : reply.calls.length > 0 ? 'tool_calls' : 'stop';
  const common = { id: `chatcmpl-${reply.id}`, created: CREATED_S, model: reply.model };
  const { usage } = reply;
  const usageDocument = usage === null ? null : openAiUsage(usage);
  if (!streams) {
    const tool_calls = reply.calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.tool, arguments: call.args } }));
    const message = { role: 'assistant', content: reply.text, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
    const choices = [{ index: 0, message, finish_reason: finishReason }];
    return [JSON.stringify({ ...common, object: 'chat.completion', choices, usage: usageDocument })];
  }
  const chunk = (delta: object, finish: string | null = null): string =>
    frame(
      'openai',
      '',
      JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] }),
    );
  const frames = [chunk({ role: 'assistant', content: '' })];
  for (const piece of reply.pieces(reply.reasoning)) frames.push(chunk({ reasoning_content: piece }));
  for (const piece of reply.pieces(reply.text)) frames.push(chunk({ content: piece }));
  reply.calls.forEach((call, index) => {
    frames.push(chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.tool, arguments: '' } }] }));
    for (const piece of reply.pieces(call.args)) frames.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
  });
  frames.push(chunk({}, finishReason));
  if (usageDocument !== null)
    frames.push(frame('openai', '', JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [], usage: usageDocument })));
  return [...frames, 'data: [DONE]\n\n'];
}

function openAiUsage(usage: NonNullable<ReadyReply['usage']>): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
  };
}

/** This vendor's `input_tokens` exclude cached tokens. */
function anthropicUsage(usage: ReadyReply['usage']): { input: object; output: object } {
  if (usage === null) return { input: {}, output: {} };
  const cached = usage.cached ?? 0;
  return {
    input: { input_tokens: usage.input - cached, cache_read_input_tokens: cached, cache_creation_input_tokens: 0, output_tokens: 1 },
    output: { output_tokens: usage.output },
  };
}

function anthropicFrames(reply: ReadyReply, streams: boolean): string[] {
  const usage = anthropicUsage(reply.usage);
  const stopReason = reply.isCutShort ? 'max_tokens' : reply.calls.length > 0 ? 'tool_use' : 'end_turn';
  const message = { id: `msg_${reply.id}`, type: 'message', role: 'assistant', model: reply.model };
  if (!streams) {
    const content = [
      ...(reply.text === '' ? [] : [{ type: 'text', text: reply.text }]),
      ...reply.calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.tool, input: parsedArgs(call.args) })),
    ];
    return [
      JSON.stringify({ ...message, content, stop_reason: stopReason, stop_sequence: null, usage: { ...usage.input, ...usage.output } }),
    ];
  }
  const event = (type: string, rest: object): string => frame('anthropic', type, JSON.stringify({ type, ...rest }));
  const frames = [
    event('message_start', { message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: usage.input } }),
    event('ping', {}),
  ];
  let index = 0;
  const block = (start: object, deltas: readonly object[]): void => {
    frames.push(event('content_block_start', { index, content_block: start }));
    for (const delta of deltas) frames.push(event('content_block_delta', { index, delta }));
    frames.push(event('content_block_stop', { index }));
    index += 1;
  };
  if (reply.reasoning !== '') {
    const thoughts = reply.pieces(reply.reasoning).map((thinking) => ({ type: 'thinking_delta', thinking }));
    block({ type: 'thinking', thinking: '', signature: '' }, [
      ...thoughts,
      { type: 'signature_delta', signature: signatureOf(reply.reasoning, reply.before) },
    ]);
  }
  if (reply.text !== '')
    block(
      { type: 'text', text: '' },
      reply.pieces(reply.text).map((text) => ({ type: 'text_delta', text })),
    );
  for (const call of reply.calls) {
    const pieces = reply.pieces(call.args).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    block({ type: 'tool_use', id: call.id, name: call.tool, input: {} }, pieces);
  }
  frames.push(event('message_delta', { delta: { stop_reason: stopReason, stop_sequence: null }, usage: usage.output }));
  return [...frames, event('message_stop', {})];
}

/** This vendor sends arguments as an object, and calls without ids. Arguments that are not an object are sent as text. */
function ollamaFrames(reply: ReadyReply, streams: boolean): string[] {
  const line = (message: object, rest: object = { done: false }): string =>
    frame('ollama', '', JSON.stringify({ model: reply.model, created_at: new Date(CREATED_S * 1000).toISOString(), message, ...rest }));
  const tool_calls = reply.calls.map((call) => ({ function: { name: call.tool, arguments: parsedArgs(call.args) } }));
  const counts = reply.usage === null ? {} : { prompt_eval_count: reply.usage.input, eval_count: reply.usage.output };
  const end = {
    done: true,
    done_reason: reply.isCutShort ? 'length' : 'stop',
    total_duration: 1_000_000,
    load_duration: 1,
    eval_duration: 1,
    ...counts,
  };
  if (!streams) return [line({ role: 'assistant', content: reply.text, ...(tool_calls.length > 0 ? { tool_calls } : {}) }, end)];
  const frames = reply.pieces(reply.reasoning).map((thinking) => line({ role: 'assistant', content: '', thinking }));
  for (const content of reply.pieces(reply.text)) frames.push(line({ role: 'assistant', content }));
  if (tool_calls.length > 0) frames.push(line({ role: 'assistant', content: '', tool_calls }));
  return [...frames, line({ role: 'assistant', content: '' }, end)];
}

function parsedArgs(args: string): unknown {
  try {
    return JSON.parse(args);
  } catch {
    // The format has no other way to represent it, so it is sent as text.
    return args;
  }
}

function splitText(text: string, chars: number): string[] {
  if (text === '') return [];
  if (text.length <= chars) return [text];
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += chars) pieces.push(text.slice(at, at + chars));
  return pieces;
}
