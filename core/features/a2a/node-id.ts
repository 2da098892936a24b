// The id of this machine in lists of hops. It is a hash of the first event of the log, so it is stable and not stored anywhere else.

import { createHash } from 'node:crypto';
import type { SessionLog } from '../../store/session/session.ts';

/** Reads the log lazily, because a new log has no event yet. */
export function nodeIdOf(log: Pick<SessionLog, 'reads'>): () => string {
  let known: string | null = null;
  return () => (known ??= hashOf(log));
}

function hashOf({ reads }: Pick<SessionLog, 'reads'>): string {
  const [first] = reads.after(0, 1);
  return createHash('sha256')
    .update(JSON.stringify(first ?? null))
    .digest('base64url')
    .slice(0, 16);
}
