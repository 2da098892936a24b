// Decompresses an answer that a server or a proxy compressed although the request did not ask for it. Passes on each piece when it arrives.

import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Transform } from 'node:stream';
import { AppError } from '../../contracts/errors.ts';

export interface UnpackedAnswer {
  data(chunk: Buffer): void;
  end(): void;
  /** Stops decompressing: the target gets no further calls. */
  drop(): void;
}

export interface UnpackedTarget {
  data(chunk: Buffer): void;
  end(): void;
  failed(error: AppError): void;
}

const GZIP_START = 0x1f;

/** Null for an answer that is not compressed. If the header says gzip but the bytes are not gzip, they are passed on unchanged. */
export function unpackerFor(encoding: unknown, provider: string, target: UnpackedTarget): UnpackedAnswer | null {
  if (encoding === 'br') return new Unpacker(createBrotliDecompress(), provider, target);
  if (encoding === 'deflate') return new Unpacker(createInflate(), provider, target);
  if (encoding !== 'gzip' && encoding !== 'x-gzip') return null;
  let chosen: UnpackedAnswer | null = null;
  return {
    data: (chunk) => {
      chosen ??= chunk[0] === GZIP_START ? new Unpacker(createGunzip(), provider, target) : { ...target, drop: () => undefined };
      chosen.data(chunk);
    },
    end: () => (chosen ?? target).end(),
    drop: () => chosen?.drop(),
  };
}

class Unpacker implements UnpackedAnswer {
  readonly #stream: Transform;

  constructor(stream: Transform, provider: string, target: UnpackedTarget) {
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => target.data(chunk));
    stream.on('end', () => target.end());
    stream.on('error', (cause) => {
      const message = `${provider} broke off in the middle of its answer.`;
      target.failed(new AppError('model_cut_off', message, { data: { provider }, cause, isRetryable: true }));
    });
  }

  data(chunk: Buffer): void {
    if (!this.#stream.destroyed) this.#stream.write(chunk);
  }

  end(): void {
    if (!this.#stream.destroyed) this.#stream.end();
  }

  drop(): void {
    this.#stream.destroy();
  }
}
