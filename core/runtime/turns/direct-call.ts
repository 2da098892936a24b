// Records the beginning of a call that a person makes directly. Runs nothing.

import { AppError } from '../../contracts/errors.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import type { RequestedCall } from '../../contracts/llm.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { markForeign, type DirectCall } from './inbound.ts';
import type { TurnDeps } from './ports.ts';
import { startedDirect } from './turn-start.ts';

interface Begun {
  readonly turnId: string;
  readonly callId: string;
  /** The first events of its turn. */
  readonly events: readonly AnyEvent[];
}

/** Commits the call before it returns. Fails with `denied` in a folder that is not trusted. */
export function recordDirect(deps: TurnDeps, call: DirectCall): Begun {
  const { log, ids, workspaces } = deps;
  workspaces.contextOf(call.workspace ?? null);
  const turnId = ids.next('trn');
  const callId = ids.next('call');
  const { text: args, found } = deps.redactJson(call.args);
  const withheld = found.length === 0 ? {} : { withheld: [...found] };
  const requested: RequestedCall = { callId, providerCallId: callId, tool: call.tool, args, ...withheld };
  const start = startedDirect(deps, turnId, call, requested);
  const events = log.transact(() => {
    if (call.dedupeKey !== undefined) log.index.putInbound(call.channel, call.dedupeKey, call.sessionId, turnId);
    return log.append(call.sessionId, [...call.before, ...markForeign(turnId, call), start], true);
  }, true);
  return { turnId, callId, events: events.filter((event) => event.turnId === turnId) };
}

/** The call of a direct turn that began earlier. */
export function directCallOf(log: SessionLog, { sessionId, turnId }: { readonly sessionId: string; readonly turnId: string }): string {
  const firstSeq = log.index.turn(turnId)?.firstSeq ?? 0;
  for (const event of log.reads.turn(sessionId, turnId, firstSeq)) {
    const call = event.type === 'turn.started' ? event.body.calls[0] : undefined;
    if (call !== undefined) return call.callId;
  }
  throw new AppError('internal', `The turn ${turnId} has no call.`);
}
