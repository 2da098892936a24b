// Telegram: the person's own bot as a channel. Pairing, chats, approvals with buttons, files; its commands go through the operations, its
// messages through the outbox.

import { randomBytes, randomInt } from 'node:crypto';
import { sleep } from '../../base/deferred.ts';
import type { Claw } from '../../contracts/claw.ts';
import { channelRulesSchema } from '../../contracts/channels.ts';
import { every, readKept } from '../../runtime/chats/chats.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { telegramChecks } from './checks.ts';
import { TelegramStore, telegramMigrations } from './rows.ts';
import { Telegram, type TelegramDeps } from './telegram-bot.ts';
import { createTrial, standardRoot } from './trial.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'ids' | 'logger' | 'log' | 'policy' | 'secrets' | 'outbox' | 'artifacts' | 'options'> &
  Pick<TelegramDeps, 'servers'>;

const POLL_SECONDS = 30;

export const telegram = defineBuiltInFeature({
  name: 'telegram',
  migrations: telegramMigrations,
  rows: ({ db }) => new TelegramStore(db),
  create: (spine: Taken, store: TelegramStore) => {
    const { config, policy, secrets, outbox, artifacts } = spine;
    const { token, apiRoot = standardRoot, ...rules } = config.channels.telegram ?? {};
    const bot = new Telegram({
      ...spine,
      store,
      approvals: policy,
      rules: channelRulesSchema.parse(rules),
      source: token === undefined ? null : { apiRoot: apiRoot.replace(/\/+$/, ''), resolveToken: () => secrets.resolve(token) },
      pollSeconds: POLL_SECONDS,
      fileBytesMax: config.attachments.fileBytesMax,
      fetch,
      random: Math.random,
      randomInt: (below) => randomInt(below),
      nonce: () => randomBytes(15).toString('base64url'),
      wait: spine.options.wait ?? sleep,
      every,
      queue: (item) => outbox.queue(item),
      keep: (text, name, sessionId) => artifacts.put(text, { name, mediaType: 'text/plain', sessionId }),
      readFile: (sha256) => readKept(artifacts, sha256),
    });
    return {
      handlers: bot.handlers,
      trials: [createTrial(fetch)],
      checks: [telegramChecks(() => bot.status())],
      join: (claw: Claw) => [bot.channel(claw)],
    };
  },
});
