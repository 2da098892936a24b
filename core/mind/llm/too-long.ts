// Recognises from a vendor's message that a request was too long for the model, and reads the model's limit if stated. Must rule out rate
// limits first: they mention tokens as well, but a smaller request would not help.

import { isPlainObject } from '../../base/json.ts';

export interface StatedSizes {
  /** The server's limit. */
  readonly limitTokens?: number;
  /** The size of the request by the server's count. */
  readonly requestTokens?: number;
}

const LIMIT_TOKENS_MIN = 256;
const LIMIT_TOKENS_MAX = 20_000_000;

const rateLimitSentences =
  /(tokens|requests|input tokens) (per|a) (minute|hour|day)|\b[TR]P[MD]\b|rate.?limit|quota|too many requests|overloaded/i;

/** One line per wording. Sources: the vendors' own errors as collected in 2026; the source code of local servers. */
const tooLongSentences: readonly RegExp[] = [
  // OpenAI, vLLM, SGLang, OpenRouter, LM Studio's gateway form
  /maximum context length|exceeds? the context window|context[ _]length[ _]exceeded/i,
  // Anthropic
  /prompt is too long|exceeds? (the )?context limit|input length and .max_tokens. exceed/i,
  // Gemini
  /input token count .* exceeds the maximum number of tokens/i,
  // xAI
  /maximum prompt length is/i,
  // Groq
  /reduce the length of (the|your) (messages|prompt)/i,
  // llama-server
  /exceeds? the (available|model'?s?) context|context (size|length|window) (exceeded|is|of)/i,
  // LM Studio
  /greater than the context length|context the overflows|context length of only/i,
  // Mistral
  /too large for model with .* maximum context length/i,
  // Bedrock, Copilot, Kimi, MiniMax
  /input is too long for (the )?requested model|token count .* exceeds the limit|exceeded model token limit|context window exceeds limit/i,
  // Ollama with truncation switched off
  /input (length )?exceeds the context length|exceeds? .{0,40}context/i,
  /too many tokens|prompt (is )?too long|request (is )?too (large|long) for/i,
];

export function isTooLong(said: string): boolean {
  return said !== '' && !rateLimitSentences.test(said) && tooLongSentences.some((pattern) => pattern.test(said));
}

const limitSentences: readonly RegExp[] = [
  /maximum context length (?:is|of) ([\d,]+)/i,
  /([\d,]+) maximum context length/i,
  /tokens? > ([\d,]+) maximum/i,
  /maximum number of tokens allowed \(?([\d,]+)/i,
  /maximum prompt length is ([\d,]+)/i,
  /n_ctx:? ?=? ?([\d,]+)/i,
  /exceeds the limit of ([\d,]+)/i,
  /model token limit:? ([\d,]+)/i,
  /context length of only ([\d,]+)/i,
  /context (?:size|window|length) ?(?:of|is|\(|:)? ?([\d,]+)/i,
];
const requestSentences: readonly RegExp[] = [
  /you requested (?:about )?([\d,]+) tokens/i,
  /resulted in ([\d,]+) tokens/i,
  /prompt is too long: ([\d,]+)/i,
  /input token count \(?([\d,]+)/i,
  /request contains ([\d,]+)/i,
  /request \(([\d,]+) tokens\)/i,
  /n_keep: ?([\d,]+)/i,
  /requested:? ([\d,]+)/i,
  /keep the first ([\d,]+) tokens/i,
  /token count of ([\d,]+)/i,
];

/** Call it only for a known length error. */
export function statedSizes(body: unknown, said: string): StatedSizes {
  const inner = isPlainObject(body) && isPlainObject(body['error']) ? body['error'] : body;
  const field = (name: string): unknown => (isPlainObject(inner) ? inner[name] : undefined);
  const limitTokens = tokens(field('n_ctx') ?? firstMatch(limitSentences, said));
  const requestTokens = tokens(field('n_prompt_tokens') ?? firstMatch(requestSentences, said));
  return { ...(limitTokens === null ? {} : { limitTokens }), ...(requestTokens === null ? {} : { requestTokens }) };
}

function firstMatch(patterns: readonly RegExp[], said: string): number {
  const words = patterns.map((pattern) => pattern.exec(said)?.[1]).find((found) => found !== undefined);
  return Number(words?.replaceAll(',', '') ?? Number.NaN);
}

function tokens(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= LIMIT_TOKENS_MIN && value <= LIMIT_TOKENS_MAX ? value : null;
}
