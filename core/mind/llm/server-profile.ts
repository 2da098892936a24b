// Profiles of servers with the OpenAI chat format, one row each. A profile is chosen by the preset that a provider names, else by the host
// of its address, else the form that every known server accepts, until a refusal tells whose rules hold. Data only. Deviations not listed
// here are learned from a server's refusal (refused-words.ts).

import { serverNames, type ServerName } from '../../contracts/server-names.ts';

export interface ServerProfile {
  /** Whether it accepts `stream_options`; without it many servers report no usage while streaming. */
  readonly streamOptions: boolean;
  readonly maxTokensKey: 'max_tokens' | 'max_completion_tokens';
  /** Call ids: any text, or exactly nine letters and digits. */
  readonly callIds: 'any' | 'nine';
  /** Whether a user message may directly follow a tool result; if not, a short assistant message separates them. */
  readonly userAfterTool: boolean;
  /** The part of an answer that the server wants back with a call: its reasoning, that of any vendor, its signatures, or nothing. */
  readonly wantsBack: 'nothing' | 'reasoning' | 'details' | 'signatures';
  /** How a schema is enforced: `strict` as OpenAI wants it (every key required, objects closed), `plain` as it is, or not at all. */
  readonly outputs: 'strict' | 'plain' | 'none';
  /** Whether a 400 without a body means that the request was too long. */
  readonly emptyRefusalIsTooLong: boolean;
}

/**
 * For an unknown server. Includes `stream_options`: llama-server, LM Studio, vLLM, SGLang, Ollama and the gateways accept it, and without
 * it the usage is lost. A server that refuses it costs one more request.
 */
const common: ServerProfile = {
  streamOptions: true,
  maxTokensKey: 'max_tokens',
  callIds: 'any',
  userAfterTool: true,
  wantsBack: 'nothing',
  outputs: 'plain',
  emptyRefusalIsTooLong: false,
};

const profiles: Readonly<Record<ServerName, Partial<ServerProfile>>> = {
  // o-series and gpt-5 refuse max_tokens; older models accept the newer name as well. Source: API reference.
  openai: { maxTokensKey: 'max_completion_tokens', outputs: 'strict' },
  // Drops fields that the model behind it does not accept. Source: its documentation.
  // "Gemini models require OpenRouter reasoning details to be preserved in each request."
  openrouter: { wantsBack: 'details' },
  // Refuses reasoning fields in the history ("property 'reasoning' is unsupported").
  groq: {},
  // 422 extra_forbidden for stream_options (usage comes without it); ids of nine characters, code 3280;
  // "Unexpected role 'user' after role 'tool'", code 3230. Source: client-ts field list, mistral-common validator, issues of 2025-26.
  mistral: { streamOptions: false, callIds: 'nine', userAfterTool: false },
  // "The `reasoning_content` in the thinking mode must be passed back to the API." V4 thinks by default.
  // "This response_format type is unavailable now" for json_schema.
  deepseek: { wantsBack: 'reasoning', outputs: 'none' },
  // From Gemini 3 each step's first call needs its signature, in tool_calls[].extra_content. Unknown fields: 400 Unknown name "…".
  gemini: { wantsBack: 'signatures' },
  // Refuses penalties, stop and reasoning_effort on reasoning models; none of them is sent.
  xai: {},
  // 400 or 413 without a body if the request is too long.
  cerebras: { emptyRefusalIsTooLong: true },
  lmstudio: {},
  llamacpp: {},
  vllm: {},
};

/** By suffix of the host name. */
const hosts: readonly (readonly [string, ServerName])[] = [
  ['api.openai.com', 'openai'],
  ['openai.azure.com', 'openai'],
  ['openrouter.ai', 'openrouter'],
  ['api.groq.com', 'groq'],
  ['mistral.ai', 'mistral'],
  ['api.deepseek.com', 'deepseek'],
  ['generativelanguage.googleapis.com', 'gemini'],
  ['aiplatform.googleapis.com', 'gemini'],
  ['api.x.ai', 'xai'],
  ['api.cerebras.ai', 'cerebras'],
];

export function serverProfile(baseUrl: string, preset?: ServerName): ServerProfile {
  const name = preset ?? serverNameOf(baseUrl);
  return name === null ? common : { ...common, ...profiles[name] };
}

export function serverNameOf(baseUrl: string): ServerName | null {
  const { hostname } = new URL(baseUrl);
  return hosts.find(([host]) => hostname === host || hostname.endsWith(`.${host}`))?.[1] ?? null;
}

/**
 * Messages by which a server without a known name tells whose rules it holds: a gateway, or the vendor behind another address. Sources:
 * mistral-common's validator; Google's and DeepSeek's refusals, as reported in 2026.
 */
const telling: readonly (readonly [RegExp, ServerName])[] = [
  // It quotes Google's refusal.
  [/require OpenRouter reasoning details/i, 'openrouter'],
  [/tool call id was .{0,80} with a length of 9|unexpected role '?user'? after role '?tool/i, 'mistral'],
  [/missing a [`'"]?thought_signature/i, 'gemini'],
  [/reasoning_content\W.{0,60}must be passed back|missing [`'"]?reasoning_content/i, 'deepseek'],
];

/** The word that is kept with the refused ones of a server and model; null if the message tells nothing. */
export function likenessIn(said: string): string | null {
  const found = telling.find(([sentence]) => sentence.test(said));
  return found === undefined ? null : `like:${found[1]}`;
}

/** The profile after what the server's refusals told. */
export function withLikeness(profile: ServerProfile, learned: ReadonlySet<string>): ServerProfile {
  return serverNames.reduce((known, name) => (learned.has(`like:${name}`) ? { ...known, ...profiles[name] } : known), profile);
}
