// Turns spooled output into the text of a result: without terminal codes, head and tail only, with the whole in an artifact.

import { stripVTControlCharacters } from 'node:util';
import { decodeText } from '../../base/text-encoding.ts';
import type { ArtifactRef, ToolContext } from '../../contracts/tools.ts';
import { cutEnd } from './bound-text.ts';
import { missingNote } from './hosted-result.ts';
import type { OutputSpool } from './output-spool.ts';
import { continuationHeadBytes, incompleteTailBytes } from '../../base/utf8-cut.ts';

export interface ShownOutput {
  readonly text: string;
  readonly artifacts: readonly ArtifactRef[];
}

const HEAD_SHARE = 0.4;
const NOTE_BYTES_MAX = 400;
/** Longer than any secret in any recognised encoding. */
const MARGIN_BYTES = 32_768;

/** Output that fits is returned whole. Longer output keeps head and tail and is stored as an artifact named after the call. */
export function showOutput(spool: OutputSpool, bytesMax: number, context: ToolContext): ShownOutput {
  const total = spool.totalBytes;
  if (total <= bytesMax) return { text: plainText(spool.read(0, total).bytes), artifacts: [] };
  const room = Math.max(0, bytesMax - NOTE_BYTES_MAX);
  const headBytes = Math.floor(room * HEAD_SHARE);
  const tailBytes = Math.floor(room * (1 - HEAD_SHARE));
  const head = cutEnd(redacted(spool.read(0, headBytes + MARGIN_BYTES).bytes, context), headBytes);
  const tail = keepEnd(redacted(spool.read(Math.max(0, total - tailBytes - MARGIN_BYTES), total).bytes, context), tailBytes);
  const ref = store(spool, context);
  const note = missingNote(total - headBytes - tailBytes, ref);
  return { text: `${head}\n${note}\n${tail}`, artifacts: ref === null ? [] : [ref] };
}

/** Redacts a piece together with the text beyond the cut, so that a secret across the cut is recognised. */
function redacted(bytes: Buffer, context: ToolContext): string {
  const text = plainText(bytes);
  return context.redaction?.redact(text) ?? text;
}

function keepEnd(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= bytesMax ? text : plainText(bytes.subarray(bytes.length - bytesMax));
}

/** The text of a piece of output, without a partial character at either end. */
export function plainText(bytes: Buffer): string {
  const whole = bytes.subarray(continuationHeadBytes(bytes), bytes.length - incompleteTailBytes(bytes));
  const text = decodeText(whole)?.text ?? whole.toString('utf8');
  const stripped = text.includes('\u001b') || text.includes('\u009b') ? stripVTControlCharacters(text) : text;
  return stripped.replaceAll('\r\n', '\n');
}

/** Null if the store has no room: the output itself is still returned. */
function store(spool: OutputSpool, context: ToolContext): ArtifactRef | null {
  try {
    return context.artifacts.put(spool.content(), {
      name: `exec-${context.callId}.txt`.slice(-120),
      mediaType: 'text/plain; charset=utf-8',
      callId: context.callId,
      sessionId: context.sessionId,
    });
  } catch {
    // The note in the text says that the rest could not be stored.
    return null;
  }
}
