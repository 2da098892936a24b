// Signals: one path for events from outside and from the clock, and its sources: webhooks, watched files, programs of this user. The bounds
// of a turn that a signal starts are fixed before it starts.

import { systemSessionId } from '../../contracts/events.ts';
import { jobBoundsOf, unattendedBounds, type TurnBounds } from '../../contracts/turn-bounds.ts';
import type { NotePort } from '../../runtime/turns/turns.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { FileWatch } from './file-watch.ts';
import { HookGate } from './hook-gate.ts';
import { SignalBook, signalMigrations } from './rows.ts';
import { SignalHub } from './signal-hub.ts';
import { tellSignals, signalOrigin } from './signal-words.ts';
import { AppError, noSession } from '../../contracts/errors.ts';
import type { Caller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import { ownSessions } from '../../contracts/system-session.ts';
import type { IdSource } from '../../base/ids.ts';

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

interface Handled {
  readonly book: Pick<SignalBook, 'page'>;
  readonly hub: Pick<SignalHub, 'receive'>;
  readonly hooks: HookGate;
  readonly ids: IdSource;
  boundsOf(given: { readonly tools?: readonly string[]; readonly perTurnUsd?: number }): TurnBounds;
}

const SHOWN = 50;
const DATA_MAX = 100_000;

/** Operations on signals: list them, send one from a program of this user, and receive one from a webhook. */
function createSignalOps(deps: Handled) {
  return {
    'signal.list': ({ source, before = Number.MAX_SAFE_INTEGER, limit = SHOWN }) => {
      // One extra row shows whether there is a next page.
      const rows = deps.book.page({ source, before, limit: limit + 1 });
      const page = rows.slice(0, limit);
      return { signals: page, nextBefore: rows.length > limit ? (page.at(-1)?.seq ?? null) : null };
    },
    'signal.send': (params) => send(deps, params),
    'signal.hook': async (call, caller) => {
      assertDoor(caller);
      const { signalId, repeated } = await deps.hooks.call(call);
      return { signalId, repeated };
    },
  } satisfies Partial<OpHandlers>;
}

function send(deps: Handled, params: OpParsed<'signal.send'>): OpResult<'signal.send'> {
  const { name, text, attention = 'observe', sessionId = ownSessions.signal + name, agentId = 'main' } = params;
  if (sessionId === systemSessionId) throw noSession(sessionId);
  const data = params.data === undefined ? null : JSON.stringify(params.data);
  if ((data?.length ?? 0) > DATA_MAX) throw new AppError('invalid_params', `The data is longer than ${DATA_MAX} characters.`);
  return deps.hub.receive({
    source: 'app',
    name,
    dedupeKey: params.dedupeKey ?? deps.ids.next('sig'),
    text,
    data,
    attention,
    session: { sessionId, title: `Signals of ${name}` },
    agentId,
    // A program may pass on any content, so its text is not the person's own.
    untrusted: [signalOrigin({ source: 'app', name })],
    bounds: deps.boundsOf({}),
  });
}

/** Refuses the window: it is a web page, and its content must not be able to call webhooks. */
function assertDoor(caller: Caller): void {
  if (caller.channel === 'window') throw new AppError('forbidden', 'A webhook is called over its own address.');
}
