// Reads a scripted GGUF file as the engine does: its vocabulary and, from the output matrix, the successor of each token. For tests only; a
// file of another form is rejected.

import { readFileSync } from 'node:fs';

export interface GgufModel {
  readonly metadata: ReadonlyMap<string, unknown>;
  readonly tokens: readonly string[];
  readonly types: readonly number[];
  readonly next: ReadonlyMap<number, number>;
}

const ALIGNMENT = 32;
const END_TOKEN = 2;

class Bytes {
  at = 0;
  readonly #data: Buffer;

  constructor(data: Buffer) {
    this.#data = data;
  }

  word(): number {
    this.at += 4;
    return this.#data.readUInt32LE(this.at - 4);
  }

  long(): number {
    this.at += 8;
    return Number(this.#data.readBigUInt64LE(this.at - 8));
  }

  text(): string {
    const length = this.long();
    this.at += length;
    return this.#data.toString('utf8', this.at - length, this.at);
  }

  value(type: number): unknown {
    if (type === 4 || type === 5) return this.word();
    if (type === 8) return this.text();
    if (type === 6) {
      this.at += 4;
      return this.#data.readFloatLE(this.at - 4);
    }
    if (type === 7) {
      this.at += 1;
      return this.#data.readUInt8(this.at - 1) === 1;
    }
    if (type !== 9) throw new Error(`a value of the type ${type}`);
    const inner = this.word();
    return Array.from({ length: this.long() }, () => this.value(inner));
  }
}

export function readModel(path: string): GgufModel {
  const data = readFileSync(path);
  if (data.toString('latin1', 0, 4) !== 'GGUF') throw new Error('invalid magic number');
  const bytes = new Bytes(data);
  bytes.at = 8;
  const tensors = bytes.long();
  const entries = bytes.long();
  const metadata = new Map(Array.from({ length: entries }, () => [bytes.text(), bytes.value(bytes.word())] as const));
  let output: { readonly shape: readonly number[]; readonly offset: number } | null = null;
  for (let left = tensors; left > 0; left--) {
    const name = bytes.text();
    const shape = Array.from({ length: bytes.word() }, () => bytes.long());
    bytes.word();
    const offset = bytes.long();
    if (name === 'output.weight') output = { shape, offset };
  }
  if (output === null) throw new Error("missing tensor 'output.weight'");
  const start = Math.ceil(bytes.at / ALIGNMENT) * ALIGNMENT + output.offset;
  return {
    metadata,
    tokens: metadata.get('tokenizer.ggml.tokens') as string[],
    types: metadata.get('tokenizer.ggml.token_type') as number[],
    next: successors(data, start, output.shape),
  };
}

/** Throws if the file was truncated within its weights. */
function successors(data: Buffer, start: number, [width = 0, count = 0]: readonly number[]): Map<number, number> {
  if (data.length < start + width * count * 4) throw new Error("tensor 'output.weight' data is not within the file bounds");
  const next = new Map<number, number>();
  for (let after = 0; after < count; after++) {
    for (let before = 0; before < width; before++) {
      if (data.readUInt32LE(start + (after * width + before) * 4) !== 0) next.set(before, after);
    }
  }
  if (![...next.values()].includes(END_TOKEN)) throw new Error('no word is the last one');
  return next;
}
