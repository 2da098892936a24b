// The two formats of embedding servers: POST /embeddings of OpenAI and compatible servers, and POST /api/embed of Ollama. Pure.

import * as z from 'zod';

export interface EmbeddingAsked {
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions: number | undefined;
}

export interface EmbeddingFormat {
  readonly path: string;
  body(asked: EmbeddingAsked): unknown;
  /**
   * Returns the vectors in the order of the texts, or null if the reply has an unexpected form. `tokens` is null if the server reported no
   * count.
   */
  read(reply: unknown): { readonly vectors: readonly (readonly number[])[]; readonly tokens: number | null } | null;
}

const vectorSchema = z.array(z.number());
/** An invalid count is treated as missing, because the vectors are still good. */
const toldTokens = z.number().int().nonnegative().optional().catch(undefined);
const openAiReply = z.object({
  data: z.array(z.object({ index: z.number().int().optional(), embedding: vectorSchema })),
  usage: z.object({ prompt_tokens: toldTokens, total_tokens: toldTokens }).nullish().catch(undefined),
});
const ollamaReply = z.object({ embeddings: z.array(vectorSchema), prompt_eval_count: toldTokens });

export const openAiFormat: EmbeddingFormat = {
  path: '/embeddings',
  body: ({ model, input, dimensions }) => ({ model, input, encoding_format: 'float', ...(dimensions === undefined ? {} : { dimensions }) }),
  read(reply) {
    const parsed = openAiReply.safeParse(reply);
    if (!parsed.success) return null;
    // The index gives the order. Some servers omit it and return the vectors in order.
    const placed = parsed.data.data.map(({ index, embedding }, place) => ({ at: index ?? place, embedding }));
    placed.sort((a, b) => a.at - b.at);
    if (!placed.every(({ at }, place) => at === place)) return null;
    const { usage } = parsed.data;
    return { vectors: placed.map(({ embedding }) => embedding), tokens: usage?.total_tokens ?? usage?.prompt_tokens ?? null };
  },
};

export const ollamaFormat: EmbeddingFormat = {
  path: '/api/embed',
  body: ({ model, input, dimensions }) => ({ model, input, truncate: true, ...(dimensions === undefined ? {} : { dimensions }) }),
  read(reply) {
    const parsed = ollamaReply.safeParse(reply);
    return parsed.success ? { vectors: parsed.data.embeddings, tokens: parsed.data.prompt_eval_count ?? null } : null;
  },
};
