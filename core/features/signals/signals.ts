// Signals: one path for events from outside and from the clock, and its sources: webhooks, watched files, programs of this user. The bounds
// of a turn that a signal starts are fixed before it starts.

import { systemSessionId } from '../../contracts/events.ts';
import { jobBoundsOf, unattendedBounds, type TurnBounds } from '../../contracts/turn-bounds.ts';
import type { NotePort } from '../../runtime/turns/turns.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { FileWatch } from './file-watch.ts';
import { HookGate } from './hook-gate.ts';
import { createSignalOps } from './ops.ts';
import { SignalBook, signalMigrations } from './rows.ts';
import { SignalHub } from './signal-hub.ts';
import { tellSignals } from './signal-words.ts';

export { FileWatch } from './file-watch.ts';
export { HookGate } from './hook-gate.ts';
export { SignalBook, signalMigrations } from './rows.ts';
export { SignalHub, type Signal, type SignalHubDeps } from './signal-hub.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'later' | 'ids' | 'logger' | 'log' | 'facts' | 'secrets' | 'turns'>;

const MINUTE_MS = 60_000;

export const signals = defineBuiltInFeature({
  name: 'signal',
  migrations: signalMigrations,
  rows: ({ db }) => new SignalBook(db),
  create: (spine: Taken, book: SignalBook) => {
    const { log, clock, ids, logger, later, turns, secrets } = spine;
    const { limits, webhooks, watch: watched } = spine.config.signals;
    const boundsOf = (given: Parameters<typeof jobBoundsOf>[0]): TurnBounds =>
      unattendedBounds(jobBoundsOf(given), limits.approvalMinutes * MINUTE_MS);
    const hub = new SignalHub({ log, clock, ids, book, limits, turns });
    const hooks = new HookGate({ hub, clock, webhooks, secret: (ref) => secrets.resolve(ref), boundsOf });
    const { home, workspace } = spine.facts;
    const watch = new FileWatch({ hub, clock, logger, home, workspace, watch: watched, later, boundsOf });
    return {
      handlers: createSignalOps({ book, hub, hooks, ids, boundsOf }),
      gives: { signals: hub, notes: notesOf(log, book, limits.textMax) },
      begin: () => {
        watch.start();
      },
      dispose: () => {
        watch.dispose();
      },
    };
  },
});

/** Signals that wait for the next turn of their session. */
function notesOf(log: Spine['log'], book: SignalBook, textMax: number): NotePort {
  return {
    waiting: (sessionId) => {
      const waiting = book.waiting(sessionId);
      if (waiting.length === 0) return undefined;
      return {
        drafts: (turnId) => tellSignals(turnId, waiting, textMax),
        delivered: (turnId) => {
          const signalIds = waiting.map(({ signalId }) => signalId);
          log.append(systemSessionId, [{ type: 'signal.delivered', body: { signalIds, sessionId, turnId } }]);
        },
      };
    },
  };
}
