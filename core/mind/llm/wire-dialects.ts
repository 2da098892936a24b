// The two hot formats put together for one provider: address, headers, request format, reader, error mapping.
// Must not open connections or keep requests.

import type { ModelRequest } from '../../contracts/llm.ts';
import { mapAnthropicFailure } from './anthropic-errors.ts';
import { createAnthropicFormat } from './anthropic-format.ts';
import { AnthropicReader } from './anthropic-reader.ts';
import { mapOpenAiFailure } from './openai-errors.ts';
import { createOpenAiFormat, needsNoReasoningWithTools } from './openai-format.ts';
import { OpenAiReader, type ReaderContext } from './openai-reader.ts';
import type { ProgressSink } from './reply-reader.ts';
import { RequestBodies } from './request-body.ts';
import type { VendorFailure } from './vendor-failure.ts';
import type { Dialect } from './wire-client.ts';

const THINKING_REPLIES_KEPT = 256;
const USER_AGENT = 'trayclaw';

export interface DialectOptions {
  readonly provider: string;
  readonly baseUrl: string;
  /** The key in clear, or null for servers that want none. */
  readonly key: string | null;
  /** Extra headers from config; they win over ours. */
  readonly headers: Readonly<Record<string, string>>;
  readonly nowMs: () => number;
  /** Whether its models are sent images. */
  readonly seesImages: boolean;
}

export function createOpenAiDialect(options: DialectOptions, vendor: 'openai' | 'openai-compatible'): Dialect {
  const isVendor = vendor === 'openai';
  const map = failureMapper(options, mapOpenAiFailure);
  const format = createOpenAiFormat({
    seesImages: options.seesImages,
    maxTokensKey: isVendor ? 'max_completion_tokens' : 'max_tokens',
    needsNoReasoningWithTools: (modelId) => isVendor && needsNoReasoningWithTools(modelId),
  });
  return {
    provider: options.provider,
    path: pathOf(options.baseUrl, '/chat/completions'),
    headers: headerList(options, options.key === null ? {} : { authorization: `Bearer ${options.key}` }),
    bodies: new RequestBodies(format),
    mapFailure: map,
    createReader: (request, sink) => new OpenAiReader(readerContext(options, map, request, sink)),
  };
}

/** `maxOutputTokens` gives the `max_tokens` of a request that names none. */
export function createAnthropicDialect(options: DialectOptions, maxOutputTokens: (modelId: string) => number): Dialect {
  const map = failureMapper(options, mapAnthropicFailure);
  const thinking = new Map<string, readonly string[]>();
  const format = createAnthropicFormat({
    seesImages: options.seesImages,
    maxOutputTokens,
    thinkingBefore: (callId) => thinking.get(callId) ?? [],
  });
  return {
    provider: options.provider,
    path: pathOf(withV1(options.baseUrl), '/messages'),
    headers: headerList(options, { 'anthropic-version': '2023-06-01', ...(options.key === null ? {} : { 'x-api-key': options.key }) }),
    bodies: new RequestBodies(format),
    mapFailure: map,
    createReader: (request, sink) => new AnthropicReader(readerContext(options, map, request, sink)),
    onReply(reader, reply) {
      const [firstCall] = reply.calls;
      if (firstCall === undefined || !(reader instanceof AnthropicReader)) return;
      const blocks = reader.signedThinking();
      if (blocks.length === 0) return;
      thinking.set(firstCall.id, blocks);
      const [oldest] = thinking.keys();
      if (thinking.size > THINKING_REPLIES_KEPT && oldest !== undefined) thinking.delete(oldest);
    },
  };
}

/** Anthropic base addresses are given with or without their version part. */
export function withV1(baseUrl: string): string {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, '');
  if (!path.endsWith('/v1')) url.pathname = `${path}/v1`;
  return url.href;
}

type FailureMapper = Dialect['mapFailure'];

function failureMapper(options: DialectOptions, map: (failure: VendorFailure) => ReturnType<FailureMapper>): FailureMapper {
  const secrets = [...(options.key === null ? [] : [options.key]), ...Object.values(options.headers)];
  return (answer, modelId) => map({ ...answer, provider: options.provider, modelId, secrets, nowMs: options.nowMs() });
}

function readerContext(options: DialectOptions, map: FailureMapper, request: ModelRequest, sink: ProgressSink): ReaderContext {
  return { provider: options.provider, sink, mapError: (body) => map({ status: 200, headers: {}, body }, request.modelId) };
}

function pathOf(baseUrl: string, endpoint: string): string {
  const url = new URL(baseUrl);
  return url.pathname.replace(/\/+$/, '') + endpoint + url.search;
}

function headerList(options: DialectOptions, own: Readonly<Record<string, string>>): string[] {
  const headers = new Map<string, string>([
    ['content-type', 'application/json'],
    ['accept', 'text/event-stream'],
    ['user-agent', USER_AGENT],
    ...Object.entries(own),
  ]);
  for (const [name, value] of Object.entries(options.headers)) headers.set(name.toLowerCase(), value);
  return [...headers].flat();
}
