// Telegram: the person's own bot as a chat service, which polls and is never called from outside. Also the operations of the bot under
// their old names.

import { sleep } from '../../base/waits.ts';
import { channelRulesSchema, type ChannelTrial, type ChatService } from '../../contracts/channels.ts';
import { AppError } from '../../contracts/errors.ts';
import { telegramSchema } from '../../contracts/features/telegram.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { createBotApi } from './bot-api.ts';
import { identifyBot, runBot } from './bot-run.ts';
import { PollLeases, telegramMigrations } from './rows.ts';
import type { Caller, OpHandlers, OpResult } from '../../contracts/ops.ts';
import type { Pairing } from '../../runtime/chats/chats.ts';

const SET_UP = 'Store its token: trayclaw secret set telegram. Name it in config.yaml as channels.telegram.token, and restart TrayClaw.';

type Taken = Pick<Spine, 'config' | 'clock' | 'logger' | 'secrets' | 'options'>;

export const telegram = defineBuiltInFeature({
  name: 'telegram',
  migrations: telegramMigrations,
  rows: ({ db }) => new PollLeases(db),
  create: ({ config, secrets, options, ...spine }: Taken, leases: PollLeases) => {
    const { token, apiRoot, ...rules } = config.channels.telegram ?? {};
    const resolveToken = async (): Promise<string> => {
      if (token === undefined) throw new AppError('unauthorized', 'No bot is set up.');
      return secrets.resolve(token);
    };
    const deps = { ...spine, leases, resolveToken, apiRoot: rootOf(apiRoot), fetch, random: Math.random, wait: options.wait ?? sleep };
    const service: ChatService = {
      name: 'telegram',
      title: 'Telegram',
      rules: channelRulesSchema.parse(rules),
      answers: 'buttons',
      answersStrangers: true,
      checkId: 'telegram',
      // The apps cut after 4,096 characters, or at the best break in the second half of that.
      splitTexts: { least: 2_048, full: 4_096 },
      isOff: token === undefined,
      secret: resolveToken,
      run: (desk, signal) => runBot(deps, desk, signal),
    };
    return { services: [service], trials: [trial] };
  },
});

/** Created after the channels feature, which stores the people and the state of the bot. */
export const telegramOperations = defineBuiltInFeature({
  name: 'telegram-operations',
  create: ({ chatChannel }: { readonly chatChannel: (name: string) => BotChannel }) => ({
    handlers: createHandlers(chatChannel('telegram')),
  }),
});

function rootOf(apiRoot = 'https://api.telegram.org'): string {
  return apiRoot.replace(/\/+$/, '');
}

/** Checks the identity of the bot without fetching any updates. */
const trial: ChannelTrial = {
  channel: 'telegram',
  settings: telegramSchema,
  connect: async (given, resolve, signal) => {
    const { token, apiRoot } = telegramSchema.parse(given);
    const api = await createBotApi(await resolve(token), rootOf(apiRoot), fetch);
    return `@${(await identifyBot(api, signal)).username}`;
  },
};

interface BotChannel {
  readonly meId: string;
  readonly state: OpResult<'telegram.status'>['state'];
  readonly pairing: Pick<Pairing, 'offer' | 'list' | 'refuse' | 'revoke'>;
  status(): OpResult<'channel.list'>['channels'][number];
  confirm(pairingId: string, caller: Caller): void;
  setPaused(isPaused: boolean, by: string): void;
}

/**
 * The operations of the bot under their old names, from before all chat services had common operations. They act on the same people,
 * codes and state.
 */
function createHandlers(bot: BotChannel) {
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
    'telegram.pair': (_params, caller) => {
      if (bot.state === 'off')
        throw new AppError('conflict', 'No Telegram bot is set up, so no one could send a code to it.', { hint: SET_UP });
      return { ...pairing.offer(caller), bot: usernameOf(bot) };
    },
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
  } satisfies Partial<OpHandlers>;
}

function usernameOf(bot: Pick<BotChannel, 'status'>): string | null {
  return bot.status().me?.replace(/^@/, '') ?? null;
}
