// The operations on outbound messages and on the session of a chat.

import { AppError, noSession } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { Caller, OpHandlers, OpParsed } from '../../contracts/ops.ts';
import type { ChatInfo, OutboundState } from '../../contracts/outbox-ops.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'chats' | 'log' | 'outbox'>;

const LISTED = 100;
const CHATS_MAX = 1_000;
const open: readonly OutboundState[] = ['queued', 'sending', 'failed', 'uncertain'];
const all: readonly OutboundState[] = [...open, 'sent', 'dropped'];

export function createOutboxOps(deps: Deps) {
  return {
    'outbox.list': ({ state, all: everything, sessionId, limit }) => ({
      items: deps.outbox.list({
        states: state === undefined ? (everything === true ? all : open) : [state],
        sessionId,
        limit: limit ?? LISTED,
      }),
    }),
    'outbox.settle': ({ outboundId, answer }, caller) => deps.outbox.settle(outboundId, answer, caller.actor),
    'chat.list': ({ channel }) => ({ chats: deps.chats.chats({ channel, limit: CHATS_MAX }) }),
    'chat.bind': (params, caller) => bind(deps, params, caller),
  } satisfies Partial<OpHandlers>;
}

/** Fails for an unknown chat. Only its channel registers a chat, because the channel knows the person behind it. */
function bind(deps: Deps, { chat, sessionId }: OpParsed<'chat.bind'>, caller: Caller): ChatInfo {
  const { log, chats } = deps;
  return log.transact(() => {
    const known = chats.chat(chat);
    if (known === null) {
      throw new AppError('not_found', `There is no chat ${chat.chatId} in ${chat.channel}.`, {
        hint: 'See: trayclaw chats list',
      });
    }
    if (sessionId === systemSessionId || (sessionId !== undefined && log.index.session(sessionId) === null)) {
      throw noSession(sessionId);
    }
    const { kind, title } = known;
    const body = { chat, kind, title, sessionId: sessionId ?? null, by: caller.actor };
    log.append(systemSessionId, [{ type: 'chat.bound', body }]);
    return { ...known, sessionId: sessionId ?? null };
  }, true);
}
