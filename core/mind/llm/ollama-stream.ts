// Stands between Ollama and its provider package: the package prints lines it cannot read to the console and loses error lines.
// Lets whole, readable lines through and turns the others into failures of the stream.

import { isPlainObject, parseJson } from '../../base/json.ts';
import { lineBytesMax } from './sse-parser.ts';

const LF = 10;

/** The server reported a failure inside its answer; `body` is what it sent. */
export class InStreamFailure extends Error {
  override readonly name = 'InStreamFailure';
  readonly body: unknown;

  constructor(body: unknown) {
    super('the server reported a failure inside its answer');
    this.body = body;
  }
}

/** A line of the answer is not JSON, or never ends. */
export class UnreadableLine extends Error {
  override readonly name = 'UnreadableLine';
}

type Fetch = typeof globalThis.fetch;

export function guardOllamaLines(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const isStream = response.headers.get('content-type')?.includes('ndjson') ?? false;
    if (!response.ok || response.body === null || !isStream) return response;
    const { status, headers } = response;
    return new Response(ReadableStream.from(readLines(response.body, init?.signal)), { status, headers });
  };
}

/**
 * Whole lines of the body. After an abort it just ends: the package cancels a failed body without catching what that gives.
 * What is left without a line end at the close is dropped: the package then reports no end, which is a cut-off.
 */
async function* readLines(body: AsyncIterable<Uint8Array>, signal: AbortSignal | null | undefined): AsyncGenerator<Uint8Array> {
  let carry: Uint8Array = new Uint8Array();
  try {
    for await (const chunk of body) {
      const bytes = carry.length === 0 ? chunk : Buffer.concat([carry, chunk]);
      const end = bytes.lastIndexOf(LF) + 1;
      carry = bytes.subarray(end);
      if (carry.length > lineBytesMax) throw new UnreadableLine('a line is too long');
      if (end === 0) continue;
      for (const line of Buffer.from(bytes.subarray(0, end)).toString('utf8').split('\n')) checkLine(line);
      yield bytes.subarray(0, end);
    }
    if (parseJson(Buffer.from(carry).toString('utf8')).ok) {
      checkLine(Buffer.from(carry).toString('utf8'));
      yield carry;
    }
  } catch (cause) {
    if (signal?.aborted !== true) throw cause;
  }
}

function checkLine(line: string): void {
  if (line.trim() === '') return;
  const parsed = parseJson(line);
  if (!parsed.ok || !isPlainObject(parsed.value)) throw new UnreadableLine('a line is not a JSON object');
  if (parsed.value['error'] !== undefined) throw new InStreamFailure(parsed.value);
}
