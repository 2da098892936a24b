// Assembles the formats for one provider: address, headers, request format, reader, error mapping. Must not open connections or keep
// requests.

import type { ModelRequest } from '../../contracts/llm.ts';
import { mapAnthropicFailure } from './anthropic-errors.ts';
import { createAnthropicFormat } from './anthropic-format.ts';
import { AnthropicReader } from './anthropic-reader.ts';
import { createInWordsFormat } from './in-words-format.ts';
import { wireCallId } from './call-ids.ts';
import { KeptOfCalls, WORDS_HERE } from './kept-of-call.ts';
import { mapOllamaFailure } from './ollama-errors.ts';
import { createOllamaFormat } from './ollama-format.ts';
import { OllamaReader } from './ollama-reader.ts';
import { mapOpenAiFailure } from './openai-errors.ts';
import { createOpenAiFormat, needsNoReasoningWithTools } from './openai-format.ts';
import { OpenAiReader, type ReaderContext } from './openai-reader.ts';
import type { ProgressSink } from './reply-reader.ts';
import { createResponsesFormat } from './responses-format.ts';
import { ResponsesReader } from './responses-reader.ts';
import { RequestBodies, type WireFormat } from './request-body.ts';
import { withLikeness, type ServerProfile } from './server-profile.ts';
import type { VendorFailure } from './vendor-failure.ts';
import type { Dialect } from './wire-client.ts';
import { wordsToLeaveOut, type RefusedWordsStore } from './wire-words.ts';

const MODELS_KEPT = 64;
const USER_AGENT = 'trayclaw';

export interface DialectOptions {
  readonly provider: string;
  readonly baseUrl: string;
  /** The plain key, or null for servers without one. */
  readonly key: string | null;
  /** Extra headers from config; they override ours. */
  readonly headers: Readonly<Record<string, string>>;
  readonly nowMs: () => number;
  /** Whether its models receive images. */
  readonly seesImages: boolean;
  readonly refusedWords: RefusedWordsStore;
}

export function createOpenAiDialect(options: DialectOptions, profile: ServerProfile): Dialect {
  const map = failureMapper(options, (failure) => mapOpenAiFailure(failure, profile));
  const kept = new KeptOfCalls();
  const wantsNoReasoning = profile.maxTokensKey === 'max_completion_tokens';
  return {
    provider: options.provider,
    framing: 'events',
    path: pathOf(options.baseUrl, '/chat/completions'),
    headers: headerList(options, bearer(options)),
    ...bodiesByModel(
      options,
      (refused, modelId) =>
        createOpenAiFormat({
          seesImages: options.seesImages,
          profile: withLikeness(profile, refused),
          refused,
          keptOf: (callId) => kept.of(callId),
          detailsBefore: (callId) => kept.of(`${modelId} ${callId}`)?.blocks ?? [],
          isGemini: modelId.includes('gemini') || refused.has('like:openrouter'),
          needsNoReasoningWithTools: () => wantsNoReasoning && needsNoReasoningWithTools(modelId),
        }),
      { kept },
    ),
    mapFailure: map,
    createReader: (request, sink) => new OpenAiReader(readerContext(options, map, request, sink)),
    onReply(reader, reply, { modelId }) {
      const [first] = reply.calls;
      if (first === undefined || !(reader instanceof OpenAiReader)) return;
      const details = reader.reasoningDetails(reply.calls, (id) => wireCallId(id, profile.callIds));
      if (details.length > 0) kept.keep(`${modelId} ${first.id}`, { blocks: details });
      const extras = reader.callExtras();
      reply.calls.forEach(({ id }, index) => {
        kept.keep(id, { extra: extras[index] ?? '', ...(index === 0 ? { reasoning: reply.reasoning } : {}) });
      });
    },
  };
}

/**
 * OpenAI's newer interface: only here do its models keep their reasoning between the calls of a turn, and some models are available nowhere
 * else.
 */
export function createResponsesDialect(options: DialectOptions, profile: ServerProfile): Dialect {
  const map = failureMapper(options, (failure) => mapOpenAiFailure(failure, profile));
  const kept = new KeptOfCalls();
  return {
    provider: options.provider,
    framing: 'events',
    path: pathOf(options.baseUrl, '/responses'),
    headers: headerList(options, bearer(options)),
    ...bodiesByModel(
      options,
      (refused, modelId) =>
        createResponsesFormat({
          seesImages: options.seesImages,
          profile,
          refused,
          before: (callId) => kept.of(`${modelId} ${callId}`)?.blocks ?? [],
        }),
      { kept },
    ),
    mapFailure: map,
    createReader: (request, sink) => new ResponsesReader(readerContext(options, map, request, sink)),
    onReply(reader, reply, { modelId }) {
      if (!(reader instanceof ResponsesReader)) return;
      const before = reader.beforeCalls();
      // Only the model that produced the reasoning can read it.
      reply.calls.forEach(({ id }, index) => kept.keep(`${modelId} ${id}`, { blocks: before[index] ?? [] }));
    },
  };
}

/** `contextTokens` returns the window to load a model with. */
export function createOllamaDialect(options: DialectOptions, contextTokens: (modelId: string) => number): Dialect {
  const map = failureMapper(options, mapOllamaFailure);
  const kept = new KeptOfCalls();
  return {
    provider: options.provider,
    framing: 'lines',
    path: pathOf(withoutApi(options.baseUrl), '/api/chat'),
    headers: headerList(options, { accept: 'application/x-ndjson', ...bearer(options) }),
    ...bodiesByModel(options, (refused) =>
      createOllamaFormat({
        seesImages: options.seesImages,
        contextTokens,
        refused,
        thinkingBefore: (callId) => kept.of(callId)?.reasoning ?? '',
      }),
    ),
    mapFailure: map,
    createReader: (request, sink) => new OllamaReader(readerContext(options, map, request, sink)),
    onReply(_reader, reply) {
      const [first] = reply.calls;
      if (first !== undefined && reply.reasoning !== '') kept.keep(first.id, { reasoning: reply.reasoning });
    },
  };
}

/** `maxOutputTokens` returns the `max_tokens` for a request that names none. */
export function createAnthropicDialect(options: DialectOptions, maxOutputTokens: (modelId: string) => number): Dialect {
  const map = failureMapper(options, mapAnthropicFailure);
  const kept = new KeptOfCalls();
  const blocksBefore = (callId: string): readonly string[] => kept.of(callId)?.blocks ?? [];
  const createFormat = (refused: ReadonlySet<string>): WireFormat =>
    createAnthropicFormat({ seesImages: options.seesImages, maxOutputTokens, before: blocksBefore, refused });
  const { origin } = new URL(options.baseUrl);
  return {
    provider: options.provider,
    framing: 'events',
    path: pathOf(withV1(options.baseUrl), '/messages'),
    headers: headerList(options, { 'anthropic-version': '2023-06-01', ...(options.key === null ? {} : { 'x-api-key': options.key }) }),
    ...bodiesByModel(options, createFormat, { mayUseWords: false, kept }),
    mapFailure: map,
    createReader: (request, sink) => new AnthropicReader(readerContext(options, map, request, sink)),
    onReply(reader, reply, { modelId, tail }) {
      if (!(reader instanceof AnthropicReader)) return;
      // Newer models refuse thinking after something before it has changed, and the transient text will be gone.
      if (tail !== undefined && options.refusedWords.refusedBy(origin, modelId).has('thinking')) return;
      const blocks = reader.beforeCalls();
      reply.calls.forEach(({ id }, index) => {
        const before = blocks[index] ?? [];
        if (before.some((block) => block !== WORDS_HERE)) kept.keep(id, { blocks: before });
      });
    },
  };
}

/**
 * Keeps bodies per model, because a server's refusals may depend on it. A newly refused word rebuilds them. A model whose server refuses
 * tools gets them in words.
 */
function bodiesByModel(
  { baseUrl, refusedWords }: DialectOptions,
  createFormat: (refused: ReadonlySet<string>, modelId: string) => WireFormat,
  { mayUseWords = true, kept }: { readonly mayUseWords?: boolean; readonly kept?: KeptOfCalls } = {},
): Pick<Dialect, 'bodiesOf' | 'leaveOut' | 'toolsInWords'> {
  const { origin } = new URL(baseUrl);
  const needsWords = (refused: ReadonlySet<string>): boolean => mayUseWords && refused.has('tools');
  const known = new Map<string, { readonly refused: ReadonlySet<string>; readonly bodies: RequestBodies }>();
  return {
    bodiesOf(modelId) {
      const refused = refusedWords.refusedBy(origin, modelId);
      const found = known.get(modelId);
      if (found?.refused === refused) return found.bodies;
      const format = createFormat(refused, modelId);
      const bodies = new RequestBodies(needsWords(refused) ? createInWordsFormat(format) : format);
      if (known.size >= MODELS_KEPT) known.clear();
      known.set(modelId, { refused, bodies });
      return bodies;
    },
    toolsInWords: (modelId) => needsWords(refusedWords.refusedBy(origin, modelId)),
    leaveOut(words, modelId, sent) {
      const found = wordsToLeaveOut(words, sent, refusedWords.refusedBy(origin, modelId));
      if (found.length > 0) refusedWords.refuse(origin, modelId, found);
      if (found.includes('thinking')) kept?.clear();
      return found;
    },
  };
}

function bearer({ key }: DialectOptions): Readonly<Record<string, string>> {
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

/** Ollama's address is given with or without `/api`. */
export function withoutApi(baseUrl: string): string {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/(api)?\/*$/, '');
  return url.href;
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
  const mapError = (body: unknown): ReturnType<FailureMapper> => map({ status: 200, headers: {}, body }, request.modelId);
  return { provider: options.provider, sink, mapError, wantsOutput: request.output !== undefined };
}

function pathOf(baseUrl: string, endpoint: string): string {
  const url = new URL(baseUrl);
  return url.pathname.replace(/\/+$/, '') + endpoint + url.search;
}

function headerList(options: DialectOptions, own: Readonly<Record<string, string>>): string[] {
  const headers = new Map<string, string>([
    ['content-type', 'application/json'],
    ['accept', 'text/event-stream'],
    // A compressed answer would arrive in delayed pieces.
    ['accept-encoding', 'identity'],
    ['user-agent', USER_AGENT],
    ...Object.entries(own),
  ]);
  for (const [name, value] of Object.entries(options.headers)) headers.set(name.toLowerCase(), value);
  return [...headers].flat();
}
