// Operations on signals: list them, send one from a program of this user, and receive one from a webhook.

import { AppError, noSession } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { Caller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import { ownSessions } from '../../contracts/system-session.ts';
import { signalOrigin } from './signal-words.ts';
import type { signalOps } from '../../contracts/features/signals.ts';
import type { IdSource } from '../../base/ids.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import type { HookGate } from './hook-gate.ts';
import type { SignalBook } from './rows.ts';
import type { SignalHub } from './signal-hub.ts';

type SignalOps = Pick<OpHandlers, keyof typeof signalOps>;

interface Handled {
  readonly book: Pick<SignalBook, 'page'>;
  readonly hub: Pick<SignalHub, 'receive'>;
  readonly hooks: HookGate;
  readonly ids: IdSource;
  /** The bounds of an unattended turn. */
  boundsOf(given: { readonly tools?: readonly string[]; readonly perTurnUsd?: number }): TurnBounds;
}

const SHOWN = 50;
const DATA_MAX = 100_000;

export function createSignalOps(deps: Handled): SignalOps {
  return {
    'signal.list': ({ source, before = Number.MAX_SAFE_INTEGER, limit = SHOWN }) => {
      // One extra row shows whether there is a next page.
      const rows = deps.book.page({ source, before, limit: limit + 1 });
      const signals = rows.slice(0, limit);
      return { signals, nextBefore: rows.length > limit ? (signals.at(-1)?.seq ?? null) : null };
    },
    'signal.send': (params) => send(deps, params),
    'signal.hook': async (call, caller) => {
      assertDoor(caller);
      const { signalId, repeated } = await deps.hooks.call(call);
      return { signalId, repeated };
    },
  };
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
