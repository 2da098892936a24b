// Fields and schema keywords that are left out of requests to one server because it refused them: per model, kept in memory and passed to a
// longer-lived store. A word is left out only if a request can do without it.

import { isPlainObject } from '../../base/json.ts';

/** Stores refused words across restarts. `server` is an origin, so that another address starts without any. */
export interface RefusedWordsStore {
  refusedBy(server: string, modelId: string): ReadonlySet<string>;
  refuse(server: string, modelId: string, words: readonly string[]): void;
}

export class RefusedWordsInMemory implements RefusedWordsStore {
  readonly #words = new Map<string, ReadonlySet<string>>();

  refusedBy(server: string, modelId: string): ReadonlySet<string> {
    return this.#words.get(`${server} ${modelId}`) ?? noWords;
  }

  refuse(server: string, modelId: string, words: readonly string[]): void {
    const known = this.refusedBy(server, modelId);
    this.#words.set(`${server} ${modelId}`, new Set([...known, ...words].slice(0, WORDS_PER_MODEL_MAX)));
  }
}

export const noWords: ReadonlySet<string> = new Set();
export const WORDS_PER_MODEL_MAX = 64;

/** Optional top-level fields and parts of messages. Model, messages and stream are essential. */
const optionalFields: ReadonlySet<string> = new Set([
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'reasoning_effort',
  'reasoning_content',
  'reasoning_details',
  'extra_content',
  'truncate',
  'tools',
  'response_format',
  'output_config',
  'store',
  'include',
  'max_output_tokens',
  'phase',
]);

/** Returns the refused words that were sent, may be left out and are not left out already; and a likeness that was not known. */
export function wordsToLeaveOut(words: readonly string[], sent: Buffer, already: ReadonlySet<string>): string[] {
  return words.filter((word) => {
    // Refused for what precedes it, and so again whenever that has changed.
    if (word === 'thinking')
      return ['"thinking":', '"redacted_thinking"', '"encrypted_content":', '"reasoning_details":'].some((key) => sent.includes(key));
    if (already.has(word)) return false;
    if (word === 'reasoning_with_tools') return sent.includes('"tools":') && !sent.includes('"reasoning_effort":');
    // Its rules are about calls in the history.
    if (word.startsWith('like:')) return sent.includes('"tool_calls":');
    return (optionalFields.has(word) || schemaWords.has(word)) && sent.includes(`"${word}":`);
  });
}

/**
 * Keywords of JSON Schema (draft 2020-12 and earlier) that a tool can do without. Not type, properties and description, which are
 * essential.
 */
const schemaWords: ReadonlySet<string> = new Set(
  `$schema $id $ref $defs $comment definitions title default examples example const enum format pattern
  additionalProperties unevaluatedProperties unevaluatedItems patternProperties propertyNames required items prefixItems contains
  minItems maxItems uniqueItems minProperties maxProperties minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum
  multipleOf minContains maxContains dependentRequired dependentSchemas oneOf anyOf allOf not if then else nullable readOnly writeOnly
  deprecated contentEncoding contentMediaType strict`.split(/\s+/),
);

/** Returns the schema without these keywords; a property of the same name stays. */
export function withoutWords(schema: unknown, words: ReadonlySet<string>): unknown {
  if (words.size === 0) return schema;
  if (Array.isArray(schema)) return (schema as unknown[]).map((one) => withoutWords(one, words));
  if (!isPlainObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([word]) => !words.has(word) || !schemaWords.has(word));
  return Object.fromEntries(kept.map(([word, value]) => [word, within(word, value, words)]));
}

const namedSchemas: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties']);
const data: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required']);

function within(word: string, value: unknown, words: ReadonlySet<string>): unknown {
  if (data.has(word)) return value;
  if (!namedSchemas.has(word) || !isPlainObject(value)) return withoutWords(value, words);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, withoutWords(schema, words)]));
}
