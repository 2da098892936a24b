// For tests and the benchmark only: an embedding without a model. Each word and each of its three-letter pieces is hashed into a few
// dimensions (feature hashing), so texts that share words or word forms are similar. It is deterministic and understands nothing beyond
// that: figures measured with it show how vector search works, not the quality of a language model's vectors.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const PER_FEATURE = 4;

export function hashedVector(text: string, dimensions = 384): Float32Array {
  const vector = new Float32Array(dimensions);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  for (const word of words) {
    // Short words are usually common, so they count less.
    const weight = word.length <= 3 ? 0.2 : 1;
    add(vector, `w ${word}`, weight);
    const padded = `<${word}>`;
    const pieces = Math.max(1, padded.length - 2);
    for (let at = 0; at < pieces; at++) add(vector, `p ${padded.slice(at, at + 3)}`, weight / Math.sqrt(pieces));
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector.fill(1 / Math.sqrt(dimensions)) : vector.map((value) => value / length);
}

function add(vector: Float32Array, feature: string, weight: number): void {
  let state = 2_166_136_261;
  for (let at = 0; at < feature.length; at++) state = Math.imul(state ^ feature.charCodeAt(at), 16_777_619) >>> 0;
  for (let i = 0; i < PER_FEATURE; i++) {
    state = Math.imul(state ^ (state >>> 15), 2_246_822_519) >>> 0;
    state = (state + 0x9e3779b9) >>> 0;
    const at = state % vector.length;
    vector[at] = (vector[at] ?? 0) + (state & 0x10000 ? weight : -weight);
  }
}

export interface EmbeddingServer {
  readonly origin: string;
  /** The texts of each request. */
  readonly asked: string[][];
  readonly headers: (string | undefined)[];
  /** While set, the server answers with this instead of vectors. */
  instead: { readonly status: number; readonly body: string } | null;
  dimensions: number;
  /** Delay of each answer, to simulate a slow model. */
  answerAfterMs: number;
  /** The token count reported for a request; null reports none. */
  toldTokens: number | null;
  close(): Promise<void>;
}

/** Returns the vector of each text; `dimensions` comes from the request or the server's state. */
export type VectorsOf = (texts: readonly string[], dimensions: number) => Promise<readonly (readonly number[])[]>;

export const hashed: VectorsOf = async (texts, dimensions) => texts.map((text) => [...hashedVector(text, dimensions || undefined)]);

/** Supports two forms: POST /v1/embeddings, whose vectors are in reverse order so that clients must use the index, and POST /api/embed. */
export async function startEmbeddingServer(vectorsOf = hashed): Promise<EmbeddingServer> {
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { input, dimensions } = JSON.parse(body) as { input: string[]; dimensions?: number };
      state.asked.push(input);
      state.headers.push(request.headers.authorization);
      response.setHeader('content-type', 'application/json');
      if (state.instead !== null) {
        response.statusCode = state.instead.status;
        response.end(state.instead.body);
        return;
      }
      void vectorsOf(input, dimensions ?? state.dimensions).then((vectors) => {
        const data = vectors.map((embedding, index) => ({ index, embedding })).toReversed();
        const [told, usage] =
          state.toldTokens === null ? [{}, {}] : [{ prompt_eval_count: state.toldTokens }, { usage: { total_tokens: state.toldTokens } }];
        const reply = JSON.stringify(request.url === '/api/embed' ? { embeddings: vectors, ...told } : { data, ...usage });
        if (state.answerAfterMs === 0) response.end(reply);
        else setTimeout(() => response.end(reply), state.answerAfterMs);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const state: EmbeddingServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    headers: [],
    instead: null,
    dimensions: 384,
    answerAfterMs: 0,
    toldTokens: null,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return state;
}
