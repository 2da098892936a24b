// The test of a bot's settings: asks Telegram who the bot is, and fetches nothing.

import type { ChannelTrial } from '../../contracts/channels.ts';
import { AppError } from '../../contracts/errors.ts';
import { telegramSchema } from '../../contracts/features/telegram.ts';
import { readFailure } from './api-failure.ts';
import { createBotApi } from './bot-api.ts';
import { tokenWords } from './telegram-bot.ts';

export const standardRoot = 'https://api.telegram.org';

export function createTrial(send: typeof fetch): ChannelTrial {
  return {
    channel: 'telegram',
    settings: telegramSchema,
    connect: async (given, resolve, signal) => {
      const { token, apiRoot = standardRoot } = telegramSchema.parse(given);
      const api = await createBotApi(await resolve(token), apiRoot.replace(/\/+$/, ''), send);
      try {
        return `@${(await api.getMe(signal)).username}`;
      } catch (cause) {
        const failure = readFailure(cause, signal);
        const isRefused = failure.kind === 'refused' && (failure.why === 'unauthorized' || failure.why === 'not_found');
        throw new AppError(isRefused ? 'unauthorized' : 'fetch_failed', isRefused ? tokenWords : 'Telegram cannot be reached.', {
          data: { hint: '', ...(isRefused ? { field: 'token' } : {}) },
          cause,
        });
      }
    },
  };
}
