// Searches people's messages for statements worth remembering. Follows the log with a cursor, never on the path of a turn. Each statement
// becomes a candidate; untrusted content is skipped.

import type { AnyEvent, EventOf, EventType } from '../../../contracts/events.ts';
import { sharedScope } from '../../../contracts/features/memory.ts';
import type { SliceQuery } from '../../../store/session/session.ts';
import type { MemoryExtractor, Proposal } from '../../../contracts/memory-ports.ts';
import type { ProposedBy } from './ports.ts';

export interface CollectorDeps {
  readonly book: { propose(proposal: Proposal & { readonly scope: string }, origin: ProposedBy): unknown };
  readonly extractor: MemoryExtractor;
  readonly reads: {
    afterOfTypes(seq: number, limit: number, types: readonly EventType[]): { events: AnyEvent[]; scannedTo: number };
    slice(sessionId: string, query: SliceQuery): AnyEvent[];
  };
  readonly cursor: { cursor: number };
  readonly transact: <T>(work: () => T) => T;
}

const BATCH = 200;
/** How many taint marks before a message are checked. The marks of a message directly precede it. */
const MARKS_LOOKED_AT = 5;

export class MemoryCollector {
  readonly #deps: CollectorDeps;

  constructor(deps: CollectorDeps) {
    this.#deps = deps;
  }

  /** Reads up to one batch of new events. Returns true if there may be more. */
  catchUp(): boolean {
    const { reads, cursor, transact } = this.#deps;
    const from = cursor.cursor;
    const { events, scannedTo } = reads.afterOfTypes(from, BATCH, ['user.message']);
    if (scannedTo === from) return false;
    // Candidates and cursor are stored in one transaction: after a crash, nothing is proposed twice and nothing is skipped.
    transact(() => {
      for (const event of events) if (event.type === 'user.message') this.#lookThrough(event);
      cursor.cursor = scannedTo;
    });
    // The events stored here follow the cursor. They alone are not reason to continue at once.
    return events.length > 0 || scannedTo - from >= BATCH;
  }

  #lookThrough(event: EventOf<'user.message'>): void {
    if (!this.#isOwnWords(event)) return;
    const { sessionId, turnId, body } = event;
    for (const { kind, text, importance } of this.#deps.extractor.extract({ sessionId, turnId, text: body.text })) {
      const origin = { by: 'turn', actor: body.sender, sessionId, turnId, untrusted: [] } as const;
      this.#deps.book.propose({ kind, text, importance, scope: sharedScope }, origin);
    }
  }

  /** Whether the owner wrote the message: it is not an outsider's, not forwarded, not another agent's task, and its turn is attended. */
  #isOwnWords({ sessionId, sessionSeq, turnId, body }: EventOf<'user.message'>): boolean {
    const { unattended = null, outsider } = body.bounds ?? {};
    if (body.helper !== undefined || unattended !== null || outsider !== undefined) return false;
    const before = this.#deps.reads.slice(sessionId, { types: ['taint.marked'], before: sessionSeq, limit: MARKS_LOOKED_AT, newest: true });
    return !before.some(
      (mark) => mark.type === 'taint.marked' && mark.turnId === turnId && mark.body.callId === null && mark.body.attached !== true,
    );
  }
}
