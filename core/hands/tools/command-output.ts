// Turns spooled output into what a result shows: text without terminal codes, head and tail, the whole in an artifact.

import { stripVTControlCharacters } from 'node:util';
import type { ArtifactRef, ToolContext } from '../../contracts/tools.ts';
import { missingNote } from './hosted-result.ts';
import type { OutputSpool } from './output-spool.ts';
import { continuationHeadBytes, incompleteTailBytes } from './utf8-cut.ts';

export interface ShownOutput {
  readonly text: string;
  readonly artifacts: readonly ArtifactRef[];
}

const HEAD_SHARE = 0.4;
const NOTE_BYTES_MAX = 400;

/** Output that fits is whole; longer output keeps head and tail and is stored as an artifact named after the call. */
export function showOutput(spool: OutputSpool, bytesMax: number, context: ToolContext): ShownOutput {
  const total = spool.totalBytes;
  if (total <= bytesMax) return { text: plainText(spool.read(0, total).bytes), artifacts: [] };
  const room = Math.max(0, bytesMax - NOTE_BYTES_MAX);
  const head = spool.read(0, Math.floor(room * HEAD_SHARE)).bytes;
  const tail = spool.read(total - Math.floor(room * (1 - HEAD_SHARE)), total).bytes;
  const ref = store(spool, context);
  const note = missingNote(total - head.length - tail.length, ref);
  return { text: `${plainText(head)}\n${note}\n${plainText(tail)}`, artifacts: ref === null ? [] : [ref] };
}

/** Text of a piece of output; a character cut at either end is left out. */
export function plainText(bytes: Buffer): string {
  const whole = bytes.subarray(continuationHeadBytes(bytes), bytes.length - incompleteTailBytes(bytes));
  const text = whole.toString('utf8');
  const stripped = text.includes('\u001b') || text.includes('\u009b') ? stripVTControlCharacters(text) : text;
  return stripped.replaceAll('\r\n', '\n');
}

/** Null when the store has no room: the output itself still counts. */
function store(spool: OutputSpool, context: ToolContext): ArtifactRef | null {
  try {
    return context.artifacts.put(spool.content(), {
      name: `exec-${context.callId}.txt`.slice(-120),
      mediaType: 'text/plain; charset=utf-8',
      callId: context.callId,
      sessionId: context.sessionId,
    });
  } catch {
    // The note in the text says that the rest could not be kept.
    return null;
  }
}
