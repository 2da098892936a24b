// Exact token counts for models with a public vocabulary. A vocabulary is large, so it is loaded in the background at the first request of
// a model that uses it. Until then, and for all other models, the estimate is used.

import type { Logger } from '../../base/logger.ts';
import { estimateTokens } from './token-estimate.ts';

export interface TextCounter {
  readonly id: string;
  count(text: string): number;
}

export type EncodingName = 'o200k_base';
export type LoadEncoding = (name: EncodingName) => Promise<(text: string) => number>;

/**
 * Matched by the model's own name, on any server. Models that predate this vocabulary are estimated. Source: the vendor's tokenizer tables.
 */
const encodings: readonly (readonly [RegExp, EncodingName])[] = [
  [/(^|\/)(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|gpt-oss|o[1345])([-.:]|$)/, 'o200k_base'],
];

/** For longer texts only this much is counted and the rest extrapolated: 50,000 characters take a few milliseconds. */
const EXACT_CHARS_MAX = 50_000;

export const estimator: TextCounter = { id: 'estimate', count: estimateTokens };

export class ExactCounters {
  readonly #load: LoadEncoding;
  readonly #logger: Logger;
  readonly #counters = new Map<EncodingName, TextCounter>();
  readonly #loading = new Map<EncodingName, Promise<void>>();

  constructor(logger: Logger, load: LoadEncoding = loadEncoding) {
    this.#logger = logger;
    this.#load = load;
  }

  counterOf(ref: string): TextCounter {
    const encoding = encodingOf(ref);
    if (encoding === null) return estimator;
    const ready = this.#counters.get(encoding);
    if (ready !== undefined) return ready;
    if (!this.#loading.has(encoding)) this.#loading.set(encoding, this.#begin(encoding));
    return estimator;
  }

  /** Resolves when all vocabularies in progress are loaded. */
  async ready(): Promise<void> {
    await Promise.all(this.#loading.values());
  }

  async #begin(encoding: EncodingName): Promise<void> {
    try {
      const exact = await this.#load(encoding);
      this.#counters.set(encoding, { id: encoding, count: (text) => countBounded(exact, text) });
    } catch (cause) {
      // The estimate remains in use; it only wastes a little room.
      this.#logger.log('warn', 'a vocabulary could not be loaded', { encoding, cause: String(cause) });
    }
  }
}

export function encodingOf(ref: string): EncodingName | null {
  const modelId = ref.slice(ref.indexOf('/') + 1);
  return encodings.find(([pattern]) => pattern.test(modelId))?.[1] ?? null;
}

async function loadEncoding(): Promise<(text: string) => number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  // Special tokens such as <|endoftext|> in a text count as text.
  const options = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
  return (text) => countTokens(text, options);
}

function countBounded(exact: (text: string) => number, text: string): number {
  if (text.length <= EXACT_CHARS_MAX) return exact(text);
  const head = text.slice(0, EXACT_CHARS_MAX);
  return Math.ceil((exact(head) / Math.max(1, estimateTokens(head))) * estimateTokens(text));
}
