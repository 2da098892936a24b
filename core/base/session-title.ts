// The title of a new session: the beginning of its first message.

import type { Redacted } from './redacted.ts';

const TITLE_MAX = 60;

/** Only redacted text may be cut, because half a secret is not recognized. */
export function titleOf(text: Redacted): string {
  const line = text.trim().split('\n')[0] ?? '';
  return line.length > TITLE_MAX ? `${line.slice(0, TITLE_MAX - 1).trimEnd()}…` : line;
}
