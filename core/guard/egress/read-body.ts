// Reads an answer's body within bounds: raw bytes, decoded bytes, silence in between. Keeps what it has when a bound is reached; trusts no
// length and no encoding the server claims.

import { pipeline, type Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib';
import { failure, timeoutError } from './fetch-failure.ts';

export interface BodyBounds {
  readonly host: string;
  /** Limits both the decoded body and the bytes on the wire. */
  readonly bytesMax: number;
  /** The maximum silence. */
  readonly idleMs: number;
}

export interface ReadBody {
  readonly bytes: Buffer;
  /** There was more than the bound. */
  readonly isCut: boolean;
}

/** The accepted encodings; any other is refused, and so are stacked ones. */
export const acceptedEncodings = 'gzip, br';

/** Fails with `fetch_failed`: silence, damage, an encoding that was not requested. The stream is closed in any case. */
export async function readBody(body: Readable, encoding: string, bounds: BodyBounds): Promise<ReadBody> {
  // A stream that is closed early reports that as an error, which is ignored by then.
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

/** Counts the bytes on the wire: compressed data may decode to nothing. */
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
  // Any error reaches the reader through the last stream.
  return pipeline(source, decoder, () => undefined) as AsyncIterable<Buffer>;
}

/** As lenient with a truncated end as browsers are. */
function decoderFor(name: string) {
  if (name === 'gzip' || name === 'x-gzip') return createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  if (name === 'br') return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
  return null;
}
