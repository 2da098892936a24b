// The operations on the Telegram bot: how it stands, who may talk to it, pausing it. A part of the table in ops.ts.

import * as z from 'zod';
import { id, none } from './op-params.ts';
import { telegramStateSchema } from './telegram-events.ts';

const telegramStatusSchema = z.object({
  state: telegramStateSchema,
  sinceMs: z.number().int(),
  /** What is wrong and what to do; null while all is well. */
  problem: z.string().nullable(),
  bot: z.object({ botId: z.string(), username: z.string() }).nullable(),
  /** When something last came in from anybody paired. */
  lastUpdateMs: z.number().int().nullable(),
  people: z.number().int(),
  /** Codes that were shown and neither confirmed nor over. */
  pairings: z.number().int(),
  /** Messages of people nobody paired, since the start. */
  strangers: z.number().int(),
});
export type TelegramStatus = z.infer<typeof telegramStatusSchema>;

const telegramPersonSchema = z.object({ userId: z.string(), chatId: z.string(), name: z.string(), pairedAtMs: z.number().int() });
export type TelegramPerson = z.infer<typeof telegramPersonSchema>;

const telegramPairingSchema = z.object({
  pairingId: z.string(),
  expiresAtMs: z.number().int(),
  /** Who sent the code to the bot; null until somebody did. */
  claimedBy: z.object({ userId: z.string(), name: z.string() }).nullable(),
});
export type TelegramPairing = z.infer<typeof telegramPairingSchema>;

const people = z.object({ people: z.array(telegramPersonSchema), pairings: z.array(telegramPairingSchema) });

export const telegramOps = {
  'telegram.status': { params: none, result: telegramStatusSchema },
  /** A code to send to the bot, shown this once. It holds for an hour and one person; at most three wait at a time. */
  'telegram.pair': {
    params: none,
    result: z.object({ pairingId: z.string(), code: z.string(), expiresAtMs: z.number().int(), bot: z.string().nullable() }),
  },
  'telegram.list': { params: none, result: people },
  /** Whoever sent the code may talk to the agent from now on. Never over Telegram itself. */
  'telegram.confirm': { params: z.strictObject({ pairingId: id }), result: people },
  'telegram.refuse': { params: z.strictObject({ pairingId: id }), result: people },
  'telegram.revoke': { params: z.strictObject({ userId: id }), result: people },
  'telegram.pause': { params: none, result: telegramStatusSchema },
  'telegram.resume': { params: none, result: telegramStatusSchema },
} as const;
