// Reads a JSON request body: one content type, no encodings, a hard size limit. The server's own timeouts end slow senders.

import type { IncomingMessage } from 'node:http';
import { err, ok, type Result } from '../../base/result.ts';
import { parseJson } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import { refusal, type Refusal } from './reply.ts';

/** Above the tool host's own limit of 10 MB for arguments, so that people see its clearer error. */
export const bodyBytesMax = 12 * 1024 * 1024;

const tooLarge = (): Refusal =>
  refusal(
    new AppError('payload_too_large', `The request body is larger than ${bodyBytesMax / 1024 / 1024} MB.`, { data: { bodyBytesMax } }),
  );

/** The parsed body; an empty or absent body is `{}`. Rejects only if the connection breaks. */
export async function readJsonBody(request: IncomingMessage): Promise<Result<unknown, Refusal>> {
  if (hasNoBody(request)) return ok({});
  if (!isJson(request.headers['content-type']) || request.headers['content-encoding'] !== undefined) {
    return err(refusal(new AppError('invalid_params', 'The body must be application/json, not encoded.'), {}, 415));
  }
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) return err(tooLarge());

  const bytes = await collectBody(request, bodyBytesMax);
  if (bytes === null) return err(tooLarge());
  if (bytes.length === 0) return ok({});
  const parsed = parseJson(bytes.toString('utf8'));
  if (!parsed.ok) return err(refusal(new AppError('invalid_params', `The body is not valid JSON: ${parsed.error}`)));
  return ok(parsed.value);
}

/** As `curl -X POST` sends it. What has no body needs no content type. */
function hasNoBody({ headers }: IncomingMessage): boolean {
  return (
    headers['content-type'] === undefined && headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
  );
}

function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(contentType);
}

/** Null if the body is over the limit; the rest of it is not read. */
export function collectBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const onData = (chunk: Buffer): void => {
      sizeBytes += chunk.length;
      chunks.push(chunk);
      if (sizeBytes > bytesMax) {
        request.off('data', onData);
        chunks.length = 0;
        resolve(null);
      }
    };
    request.on('data', onData);
    const onClose = (): void => reject(new AppError('cancelled', 'The connection closed before the request was complete.'));
    request.once('end', () => {
      // Every request emits close, so remove the listener to avoid creating an unused error.
      request.off('close', onClose);
      resolve(Buffer.concat(chunks));
    });
    request.once('error', reject);
    request.once('close', onClose);
  });
}
