// The Telegram part of the composition.

import { randomBytes, randomInt } from 'node:crypto';
import { sleep } from './base/deferred.ts';
import { channelRulesSchema } from './contracts/channels.ts';
import type { Claw } from './contracts/claw.ts';
import { Telegram } from './doors/telegram/telegram.ts';
import type { Outbox } from './runtime/outbox/outbox.ts';
import type { Base, Store } from './compose-base.ts';
import type { Guard } from './compose-guard.ts';

const POLL_SECONDS = 30;

// eslint-disable-next-line max-params -- one parameter a floor
export function composeTelegram(base: Base, store: Store, { secrets }: Guard, outbox: Outbox, claw: () => Pick<Claw, 'op' | 'onDelta'>) {
  const { clock, ids, logger, config, options } = base;
  const { token, apiRoot = 'https://api.telegram.org', ...rules } = config.channels.telegram ?? {};
  return new Telegram({
    log: store.log,
    clock,
    ids,
    logger,
    claw,
    store: store.telegramRows,
    approvals: store.policy,
    rules: channelRulesSchema.parse(rules),
    source: token === undefined ? null : { apiRoot: apiRoot.replace(/\/+$/, ''), resolveToken: () => secrets.resolve(token) },
    pollSeconds: POLL_SECONDS,
    fileBytesMax: config.attachments.fileBytesMax,
    fetch,
    random: Math.random,
    randomInt: (below) => randomInt(below),
    nonce: () => randomBytes(15).toString('base64url'),
    wait: options.wait ?? sleep,
    every,
    queue: (item) => outbox.queue(item),
    keep: (text, name, sessionId) => store.safeArtifacts.put(text, { name, mediaType: 'text/plain', sessionId }),
    readFile: (sha256) => readKept(store, sha256),
  });
}

/** What is gone or damaged is not sent; the health check tells of it. */
function readKept({ safeArtifacts }: Store, sha256: string): Uint8Array | null {
  try {
    return safeArtifacts.read(sha256);
  } catch {
    return null;
  }
}

function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms).unref();
  return () => {
    clearInterval(timer);
  };
}
