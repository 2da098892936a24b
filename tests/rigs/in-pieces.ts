// A text that passes through a redactor of streams in pieces of one size.

import type { SafetyChecks } from '../../core/guard/safety/safety.ts';

/** Returns what the stream gives in all. */
export function inPieces(safety: Pick<SafetyChecks, 'stream'>, text: string, size: number): string {
  const stream = safety.stream();
  const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  return pieces.map((one) => stream.push(one)).join('') + stream.end();
}
