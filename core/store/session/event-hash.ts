// The hash chain: the hash of each event covers all of its stored fields and the hash of the previous event in its session.

import { hash } from 'node:crypto';
import type { EventEnvelope } from '../../contracts/events.ts';

export interface HashedFields extends Omit<EventEnvelope, 'phase' | 'body'> {
  readonly phase: string | null;
  /** The body exactly as stored. */
  readonly bodyText: string;
}

/** The previous hash of a session's first event. */
export const genesisHash = '0'.repeat(64);

/** SHA-256 in hex. Ids contain no line feed, so two different sets of fields never give the same text. */
export function hashEvent(previousHex: string, event: HashedFields): string {
  const head = `${previousHex}\n${event.seq}\n${event.sessionId}\n${event.sessionSeq}\n${event.turnId ?? ''}\n${event.step}\n`;
  return hash('sha256', `${head}${event.phase ?? ''}\n${event.type}\n${event.v}\n${event.atMs}\n${event.bodyText}`, 'hex');
}
