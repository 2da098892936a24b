// The operations of the bot under their old names, from before all chat services had common operations. They act on the same people, codes
// and state.

import type { Caller, OpHandlers, OpResult } from '../../contracts/ops.ts';
import type { telegramOps } from '../../contracts/features/telegram.ts';
import type { Pairing } from '../../runtime/chats/chats.ts';

export interface BotChannel {
  readonly meId: string;
  readonly state: OpResult<'telegram.status'>['state'];
  readonly pairing: Pick<Pairing, 'offer' | 'list' | 'refuse' | 'revoke'>;
  status(): OpResult<'channel.list'>['channels'][number];
  confirm(pairingId: string, caller: Caller): void;
  setPaused(isPaused: boolean, by: string): void;
}

export function createHandlers(bot: BotChannel): Pick<OpHandlers, keyof typeof telegramOps> {
  const { pairing } = bot;
  const status = (): OpResult<'telegram.status'> => {
    const { sinceMs, problem, lastHeardMs, people, strangers } = bot.status();
    const username = usernameOf(bot);
    return {
      state: bot.state,
      sinceMs,
      problem,
      people,
      strangers,
      bot: username === null ? null : { botId: bot.meId, username },
      lastUpdateMs: lastHeardMs,
      pairings: pairing.list().pairings.length,
    };
  };
  return {
    'telegram.status': status,
    'telegram.pair': (_params, caller) => ({ ...pairing.offer(caller), bot: usernameOf(bot) }),
    'telegram.list': () => pairing.list(),
    'telegram.confirm': ({ pairingId }, caller) => {
      bot.confirm(pairingId, caller);
      return pairing.list();
    },
    'telegram.refuse': ({ pairingId }, caller) => {
      pairing.refuse(pairingId, caller);
      return pairing.list();
    },
    'telegram.revoke': ({ userId }, caller) => {
      pairing.revoke(userId, caller);
      return pairing.list();
    },
    'telegram.pause': (_params, { actor }) => {
      bot.setPaused(true, actor);
      return status();
    },
    'telegram.resume': (_params, { actor }) => {
      bot.setPaused(false, actor);
      return status();
    },
  };
}

function usernameOf(bot: Pick<BotChannel, 'status'>): string | null {
  return bot.status().me?.replace(/^@/, '') ?? null;
}
