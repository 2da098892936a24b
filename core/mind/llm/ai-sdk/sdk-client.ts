// A model behind an AI SDK package that a person installed. The package calls the vendor with its own client; conversation, limits, retries
// and errors are those of every other model. Loaded with the first request.

import { parseJson } from '../../../base/json.ts';
import { type ProviderConfig, secretRefSchema } from '../../../contracts/config.ts';
import type { ModelClient, ModelReply, ModelRequest } from '../../../contracts/llm.ts';
import { wireCallId } from '../call-ids.ts';
import { abortReason } from '../http-transport.ts';
import { KeptOfCalls } from '../kept-of-call.ts';
import {
  groupMessages,
  inWords,
  type MessageGroup,
  nextAssistant,
  safeArgs,
  safeToolName,
  spoken,
  type Spoken,
} from '../message-groups.ts';
import type { ProgressSink } from '../reply-reader.ts';
import { completeReply } from '../wire-client.ts';
import { mapSdkError } from './sdk-errors.ts';
import { openPackage, type SdkModel } from './sdk-package.ts';
import { SdkReader } from './sdk-reader.ts';

export type SdkConfig = Extract<ProviderConfig, { kind: 'ai-sdk' }>;

export interface SdkClientDeps {
  /** The data folder, which contains the packages. */
  readonly home: string;
  readonly keyRef: string | null;
  readonly secrets: { resolve(ref: string): Promise<string> };
  readonly nowMs: () => number;
  readonly nextCallId: () => string;
}

interface Opened {
  readonly modelOf: (modelId: string) => SdkModel;
  /** Values that must never be shown. */
  readonly secrets: readonly string[];
}

export class SdkClient implements ModelClient {
  readonly #provider: string;
  readonly #config: SdkConfig;
  readonly #deps: SdkClientDeps;
  readonly #kept = new KeptOfCalls();
  #opened: Promise<Opened> | null = null;

  constructor(provider: string, config: SdkConfig, deps: SdkClientDeps) {
    this.#provider = provider;
    this.#config = config;
    this.#deps = deps;
  }

  async stream(request: ModelRequest, sink: ProgressSink, signal: AbortSignal): Promise<ModelReply> {
    this.#opened ??= this.#open();
    const { modelOf, secrets } = await this.#opened.catch((cause: unknown) => {
      // Retries at the next request, in case the package has been installed meanwhile.
      this.#opened = null;
      throw cause;
    });
    const reader = new SdkReader(this.#provider, sink, this.#kept);
    let hasAnswered = false;
    try {
      const model = modelOf(request.modelId);
      const { specificationVersion } = model;
      const options = optionsOf(request, { specificationVersion, seesImages: this.#config.images ?? false, kept: this.#kept });
      const { stream } = await model.doStream({ ...options, abortSignal: signal });
      hasAnswered = true;
      for await (const part of stream) reader.part(part);
    } catch (cause) {
      throw signal.aborted
        ? abortReason(signal)
        : mapSdkError(cause, {
            provider: this.#provider,
            modelId: request.modelId,
            package: this.#config.package,
            secrets,
            hasAnswered,
            nowMs: this.#deps.nowMs(),
          });
    }
    const isTaken = (id: string): boolean =>
      request.messages.some((message) => message.role === 'assistant' && message.calls.some((call) => call.id === id));
    const sentBytes = JSON.stringify(request.messages).length;
    return completeReply(reader.finish(), { next: this.#deps.nextCallId, isTaken }, sentBytes);
  }

  async #open(): Promise<Opened> {
    const { package: name, options = {}, baseUrl, headers } = this.#config;
    const secrets: string[] = [];
    const resolve = async (ref: string): Promise<string> => {
      const value = (await this.#deps.secrets.resolve(ref)).trim();
      secrets.push(value);
      return value;
    };
    const given: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(options))
      given[key] = secretRefSchema.safeParse(value).success ? await resolve(value) : value;
    if (this.#deps.keyRef !== null) given['apiKey'] = await resolve(this.#deps.keyRef);
    if (baseUrl !== undefined) given['baseURL'] = baseUrl;
    if (headers !== undefined) given['headers'] = headers;
    return { modelOf: await openPackage(this.#deps.home, name, given), secrets: [...secrets, ...Object.values(headers ?? {})] };
  }
}

// Converts a request to the form that AI SDK models accept. Pure; the messages are in the order that every vendor accepts.

interface PromptOptions {
  readonly specificationVersion: string;
  readonly seesImages: boolean;
  readonly kept: Pick<KeptOfCalls, 'of'>;
}

type Part = Readonly<Record<string, unknown>>;

function optionsOf(request: ModelRequest, options: PromptOptions): Record<string, unknown> {
  const { maxOutputTokens, tools, output } = request;
  return {
    prompt: promptOf(request, options),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(tools.length === 0 ? {} : { tools: tools.map(({ name, description, parameters }) => toolOf(name, description, parameters)) }),
    ...(output === undefined ? {} : { responseFormat: { type: 'json', name: output.name, schema: output.schema } }),
  };
}

function toolOf(name: string, description: string, inputSchema: unknown): Part {
  return { type: 'function', name, description, inputSchema };
}

function promptOf({ system, messages, tail }: ModelRequest, options: PromptOptions): Part[] {
  const prompt: Part[] = system === '' ? [] : [{ role: 'system', content: system }];
  for (let at = 0; at < messages.length;) {
    const end = nextAssistant(messages, at + 1);
    prompt.push(...groupParts(groupMessages(messages, at, end), options));
    at = end;
  }
  if (tail !== undefined) prompt.push(userOf(spoken({ role: 'note', text: tail }), options));
  return prompt;
}

function groupParts({ assistant, results, said }: MessageGroup, options: PromptOptions): Part[] {
  const parts: Part[] = [];
  if (assistant !== null) {
    const text = assistant.text === '' ? [] : [{ type: 'text', text: assistant.text }];
    const calls = assistant.calls.map(({ id, tool, args }) => {
      const parsed = parseJson(safeArgs(args));
      const call = {
        type: 'tool-call',
        toolCallId: wireCallId(id, 'plain'),
        toolName: safeToolName(tool),
        input: parsed.ok ? parsed.value : {},
      };
      const extra = options.kept.of(id)?.extra;
      return extra === undefined ? call : { ...call, providerOptions: JSON.parse(extra) as unknown };
    });
    parts.push({ role: 'assistant', content: [...text, ...calls] });
  }
  const told = results.map(({ id, tool, text, isError }) => ({
    type: 'tool-result',
    toolCallId: wireCallId(id, 'plain'),
    toolName: safeToolName(tool),
    output: { type: isError ? 'error-text' : 'text', value: text },
  }));
  if (told.length > 0) parts.push({ role: 'tool', content: told });
  return [...parts, ...said.map((words) => userOf(words, options))];
}

function userOf(words: Spoken, { seesImages, specificationVersion }: PromptOptions): Part {
  const { text, images } = seesImages ? words : inWords(words);
  const files = images.map(({ mediaType, base64, name }) => ({
    type: 'file',
    filename: name,
    mediaType,
    data: specificationVersion === 'v4' ? { type: 'data', data: base64 } : base64,
  }));
  return { role: 'user', content: [{ type: 'text', text }, ...files] };
}
