// Describes what the panic stop ended, with the same text in a terminal and in chats.

import { counted } from '../base/counted.ts';
import type { PanicStatus } from './policy.ts';

/** For example `Everything is stopped; 2 processes ended in 40 ms`. Mentions processes only if some were running. */
export function stoppedWords({ killed, tookMs }: Pick<PanicStatus, 'killed' | 'tookMs'>, since = ''): string {
  const stopped = `Everything is stopped${since}`;
  if (killed === 0) return stopped;
  return `${stopped}; ${counted(killed, 'process', 'processes')} ended${tookMs === null ? '' : ` in ${Math.round(tookMs)} ms`}`;
}
