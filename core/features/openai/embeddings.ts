// POST /v1/embeddings with the embedding model of config.yaml, under its budget and redaction. Client libraries ask for base64 by default:
// 32-bit floats, little-endian.

import * as z from 'zod';
import { AppError } from '../../contracts/errors.ts';
import { readBody, refuse } from './read-parts.ts';

export interface EmbeddingPort {
  readonly model: string;
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
}

const TEXTS_MAX = 2_048;
const noTokens = 'send text: tokens of another model mean nothing here';
const text = z.string(noTokens).min(1, 'an empty text has no meaning').max(1_000_000);

const bodySchema = z.looseObject({
  model: z.string().min(1).max(400),
  input: z.union([text, z.array(text).min(1).max(TEXTS_MAX)], noTokens),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.number().int().min(1).nullish(),
});

/** For an API key without the scope. */
export const embeddingsScope = 'This API key does not have the scope embeddings: trayclaw doors token create --scope embeddings';
export const embeddingsModel = 'trayclaw/embeddings';

export interface EmbeddingsAsked {
  readonly model: string;
  readonly texts: readonly string[];
  readonly isBase64: boolean;
  readonly dimensions: number | null;
}

export function readEmbeddings(body: unknown): EmbeddingsAsked {
  const { model, input, encoding_format: format, dimensions } = readBody(bodySchema, body);
  return { model, texts: typeof input === 'string' ? [input] : input, isBase64: format === 'base64', dimensions: dimensions ?? null };
}

/** Fails with model_unknown if there is no such embedding model, and with the errors of an embedding call. */
export async function vectorsOf(
  port: EmbeddingPort | null,
  { model, texts, dimensions }: EmbeddingsAsked,
  signal: AbortSignal,
): Promise<Float32Array[]> {
  if (port === null) {
    const hint = 'Set one up in config.yaml: embeddings. See docs/guide/memory.md.';
    throw new AppError('model_unknown', 'No embedding model is set up.', { data: { param: 'model' }, hint });
  }
  if (model !== 'trayclaw' && model !== embeddingsModel && model !== port.model)
    throw new AppError('model_unknown', `There is no embedding model ${model}.`, {
      data: { param: 'model' },
      hint: `There is: ${embeddingsModel} (${port.model}).`,
    });
  const vectors = await port.embed(texts, signal);
  const [first] = vectors;
  if (dimensions !== null && dimensions !== first?.length)
    throw refuse(
      'dimensions',
      `The embedding model gives ${first?.length ?? 0} dimensions; leave this out or set embeddings.dimensions in config.yaml.`,
    );
  return vectors;
}

/** Fails with the errors of `vectorsOf`. */
export async function embeddingsOf(
  port: EmbeddingPort | null,
  asked: EmbeddingsAsked,
  { count, signal }: { readonly count: (text: string) => number; readonly signal: AbortSignal },
): Promise<unknown> {
  const vectors = await vectorsOf(port, asked, signal);
  const { texts, isBase64, model } = asked;
  const tokens = texts.reduce((sum, one) => sum + count(one), 0);
  const data = vectors.map((vector, index) => ({ object: 'embedding', index, embedding: isBase64 ? base64Of(vector) : [...vector] }));
  return { object: 'list', data, model: port?.model ?? model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

function base64Of(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4);
  return bytes.toString('base64');
}
