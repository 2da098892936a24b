// The name of this machine in lists of hops: made from the first event of its log, so it stays the same and is stored nowhere else.

import { createHash } from 'node:crypto';
import type { SessionLog } from '../../store/session/session.ts';

/** Read when it is first asked for: a fresh log has no event yet. */
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
