// The two forms embedding servers speak: POST /embeddings of OpenAI and its kin, and POST /api/embed of Ollama. Pure.

import * as z from 'zod';

export interface EmbeddingAsked {
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions: number | undefined;
}

export interface EmbeddingFormat {
  readonly path: string;
  body(asked: EmbeddingAsked): unknown;
  /** In the order of the texts; null where the reply has another form. */
  read(reply: unknown): readonly (readonly number[])[] | null;
}

const vectorSchema = z.array(z.number());
const openAiReply = z.object({ data: z.array(z.object({ index: z.number().int().optional(), embedding: vectorSchema })) });
const ollamaReply = z.object({ embeddings: z.array(vectorSchema) });

export const openAiFormat: EmbeddingFormat = {
  path: '/embeddings',
  body: ({ model, input, dimensions }) => ({ model, input, encoding_format: 'float', ...(dimensions === undefined ? {} : { dimensions }) }),
  read(reply) {
    const parsed = openAiReply.safeParse(reply);
    if (!parsed.success) return null;
    // The order is told by the index; some servers leave it out and keep the order.
    const placed = parsed.data.data.map(({ index, embedding }, place) => ({ at: index ?? place, embedding }));
    placed.sort((a, b) => a.at - b.at);
    return placed.every(({ at }, place) => at === place) ? placed.map(({ embedding }) => embedding) : null;
  },
};

export const ollamaFormat: EmbeddingFormat = {
  path: '/api/embed',
  body: ({ model, input, dimensions }) => ({ model, input, truncate: true, ...(dimensions === undefined ? {} : { dimensions }) }),
  read(reply) {
    const parsed = ollamaReply.safeParse(reply);
    return parsed.success ? parsed.data.embeddings : null;
  },
};
