// Reads the body of an answer within bounds on raw bytes, decoded bytes and silence. Returns what it has when a byte limit is reached.
// Trusts neither the length nor the encoding that the server declares.

import { pipeline, type Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib';
import { failure, timeoutError } from './fetch-failure.ts';

export interface BodyBounds {
  readonly host: string;
  /** Limits both the decoded body and the bytes received. */
  readonly bytesMax: number;
  /** The maximum time without data. */
  readonly idleMs: number;
}

export interface ReadBody {
  readonly bytes: Buffer;
  /** True if the body was truncated at the limit. */
  readonly isCut: boolean;
}

/** The accepted encodings. All others and combinations of encodings are refused. */
export const acceptedEncodings = 'gzip, br';

/** Fails with `fetch_failed` on silence, damaged data, or an encoding that was not requested. Always closes the stream. */
export async function readBody(body: Readable, encoding: string, bounds: BodyBounds): Promise<ReadBody> {
  // A stream that is closed early reports an error, which is ignored.
  body.on('error', () => undefined);
  const meter = { wireBytes: 0, isCut: false };
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of decode(metered(body, bounds, meter), encoding, bounds.host)) {
      const room = bounds.bytesMax - sizeBytes;
      parts.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      sizeBytes += Math.min(chunk.length, room);
      if (chunk.length > room) {
        meter.isCut = true;
        break;
      }
    }
  } finally {
    body.destroy();
  }
  return { bytes: Buffer.concat(parts), isCut: meter.isCut };
}

/** Counts the bytes received, because compressed data may decode to nothing. */
async function* metered(body: Readable, bounds: BodyBounds, meter: { wireBytes: number; isCut: boolean }): AsyncGenerator<Buffer> {
  const timer = setTimeout(() => body.destroy(timeoutError(bounds.host, 'sent nothing more', bounds.idleMs)), bounds.idleMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      timer.refresh();
      meter.wireBytes += chunk.length;
      yield chunk;
      if (meter.wireBytes > bounds.bytesMax) {
        meter.isCut = true;
        return;
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

function decode(source: AsyncGenerator<Buffer>, encoding: string, host: string): AsyncIterable<Buffer> {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return source;
  const decoder = decoderFor(name);
  if (decoder === null) throw failure(`${host} sent its answer in an encoding that was not requested.`, { code: 'content-encoding' });
  // All errors reach the reader through the last stream, so the callback ignores them.
  return pipeline(source, decoder, () => undefined) as AsyncIterable<Buffer>;
}

/** Accepts a truncated end, as browsers do. */
function decoderFor(name: string) {
  if (name === 'gzip' || name === 'x-gzip') return createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  if (name === 'br') return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
  return null;
}
