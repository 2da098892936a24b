// Extracts from a refusal the names of the fields or schema keywords that a server does not accept. Vendors phrase it in a dozen ways.
// Decides nothing: the caller that built the request decides whether a word can be left out.

import { likenessIn } from './server-profile.ts';

const WORDS_MAX = 12;

/** Each pattern captures a name. Sources: the vendors' and servers' own messages as collected in 2026. */
const sentences: readonly RegExp[] = [
  // Gemini: Unknown name "additionalProperties" at 'tools[0]…': Cannot find field.
  /Unknown name \\?"([^"\\]+)\\?"/gi,
  // pydantic (Mistral, vLLM, FastAPI servers), Anthropic: body.stream_options: Extra inputs are not permitted
  /([\w$.[\]-]+): extra (?:inputs|fields) (?:are )?not permitted/gi,
  // OpenAI: Unsupported parameter: 'max_tokens' …, Unknown parameter: 'tools[0].strict'., Unsupported value: 'reasoning_effort' …
  /(?:unsupported|unknown|unrecognized|unexpected|invalid) (?:parameter|value|argument|field|key|property|keyword|option)s?:? [`'"]([\w$.[\]-]+)[`'"]/gi,
  /unrecognized request arguments? supplied: ([\w$.]+)/gi,
  // OpenAI, strict schemas: 'allOf' is not permitted.
  /[`'"]([\w$.[\]-]+)[`'"] (?:is|are) not (?:permitted|supported|allowed)/gi,
  // Groq: property 'reasoning_content' is unsupported
  /property [`'"]([\w$.]+)[`'"] is (?:unsupported|not supported|not allowed)/gi,
  // xAI: Model grok-4 does not support parameter reasoningEffort.
  /does not support (?:the )?parameter [`'"]?([\w$.]+)/gi,
  // jsonschema, ajv: Additional properties are not allowed ('stream_options' was unexpected)
  /\([`'"]([\w$.]+)[`'"] was unexpected\)/gi,
  // Go and Rust servers: json: unknown field "stream_options"; unknown field `stream_options`, expected …
  /unknown field [`'"\\]+([\w$.]+)/gi,
  // llama-server: Unsupported param: stream_options
  /unsupported param(?:eter)?: ([\w$.]+)/gi,
  // DeepSeek: the reasoning_content field is included in the input messages
  /[`'"]?(reasoning_content)[`'"]? (?:field )?(?:is|in) (?:included|not allowed|not supported)/gi,
];
/**
 * Ollama, and servers whose models lack tool support. vLLM: "auto" tool choice requires --enable-auto-tool-choice. Templates of models
 * without tools: Conversation roles must alternate; Only user and assistant roles are supported.
 */
const noTools =
  /does not support (?:tools|tool use|function calling)\b|tools? (?:is|are) not supported|tool choice requires --|roles must alternate|only user(?:,| and) (?:model|assistant)|does not support successive user/i;

/**
 * Models and servers that cannot enforce a schema, or not this one. Each server has its own field, and only the one that was sent is left
 * out. DeepSeek: This response_format type is unavailable now. Groq: This model does not support response format `json_schema`. Anthropic:
 * output_config.format… , The compiled grammar is too large. Ollama: invalid JSON schema in format.
 */
const noOutput = /\bresponse[_ ]format\b|\boutput[_ ](?:config|format)\b|\bstructured outputs?\b|\bschema in format\b|\bgrammar\b/i;

/** Returns whether a message says that the model does not support tools, whatever its status. */
export function saysNoTools(said: string): boolean {
  return noTools.test(said);
}

/** OpenAI: To use function tools, use /v1/responses or set reasoning_effort to 'none'. */
const noReasoning = /set reasoning_effort to [`'"]none\b/i;

/**
 * Anthropic: Invalid `signature` in `thinking` block (changed, or bound to what preceded it); `thinking` or `redacted_thinking` blocks in
 * the latest assistant message cannot be modified. OpenAI, after a change of account: The encrypted content gAAA… could not be verified.
 */
const noThinking =
  /\bencrypted content\b.{0,80} could not be |[`'"](?:signature[`'"] in|thinking[`'"] or) [`'"](?:redacted_)?thinking[`'"] blocks?/i;

/**
 * Returns the plain names: the last part of a path, and its snake case form if it is in camel case. At most a dozen. A refusal that tells
 * whose rules the server holds gives one word, `like:NAME`.
 */
export function refusedWords(said: string): string[] {
  const words = new Set<string>();
  for (const pattern of sentences) {
    for (const [, path] of said.matchAll(pattern)) {
      const word = lastPart(path ?? '');
      if (word !== '') words.add(word).add(snakeCase(word));
    }
  }
  const likeness = likenessIn(said);
  if (likeness !== null) return [likeness];
  if (noTools.test(said)) words.add('tools');
  if (noReasoning.test(said)) words.add('reasoning_with_tools');
  if (noThinking.test(said)) words.add('thinking');
  if (noOutput.test(said)) words.add('response_format').add('output_config').add('format');
  return [...words].slice(0, WORDS_MAX);
}

function lastPart(path: string): string {
  const parts = path.split(/[.[\]]+/).filter((part) => part !== '' && !/^\d+$/.test(part));
  return parts[parts.length - 1] ?? '';
}

function snakeCase(word: string): string {
  return word.replace(/[a-z][A-Z]/g, (pair) => `${pair[0] ?? ''}_${(pair[1] ?? '').toLowerCase()}`);
}
