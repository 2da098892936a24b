// The gaps of the log that no person has accepted yet, and their acceptance. Read from the log itself, so that they survive a restart.

import { systemSessionId, type AnyDraft, type EventOf } from '../../contracts/events.ts';
import { isGapOpen } from '../../contracts/log-gap.ts';
import type { SessionReads } from './session-reads.ts';

const GAPS_MAX = 1_000;

/** Oldest first. */
export function openGaps(reads: Pick<SessionReads, 'slice'>): EventOf<'log.gap_found'>[] {
  let open: EventOf<'log.gap_found'>[] = [];
  for (const event of reads.slice(systemSessionId, { types: ['log.gap_found', 'log.gap_accepted'], limit: GAPS_MAX, newest: true })) {
    if (event.type === 'log.gap_accepted') open = [];
    if (event.type === 'log.gap_found' && isGapOpen(event.body)) open.push(event);
  }
  return open;
}

interface Log {
  readonly reads: Pick<SessionReads, 'slice'>;
  append(sessionId: string, drafts: readonly AnyDraft[], isDurable: boolean): unknown;
}

/** Returns how many were open. */
export function acceptGaps(log: Log, by: string): number {
  const gaps = openGaps(log.reads).length;
  if (gaps > 0) log.append(systemSessionId, [{ type: 'log.gap_accepted', body: { by, gaps } }], true);
  return gaps;
}
