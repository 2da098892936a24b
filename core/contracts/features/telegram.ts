// The Telegram bot: its settings, its operations, and the events of the time before all chat services had common events (channels.ts). Used
// by events.ts and ops.ts.

import * as z from 'zod';
import { webUrlSchema } from '../web-url.ts';
import { channelRules } from '../channels.ts';
import { defineOps, id, none } from '../define-ops.ts';
import { secretRefSchema } from '../secret-ref.ts';
import { askedPerson, person } from './channels.ts';

export const telegramSchema = z.strictObject({
  token: secretRefSchema.meta({ title: 'Bot token', description: 'The token of your own bot.' }),
  apiRoot: webUrlSchema.optional().meta({ title: 'Server', description: 'The server of the Bot API. Default: that of Telegram.' }),
  ...channelRules,
});

/** off: no token. conflict: another program polls, or a webhook is set. refused: the token is invalid. */
const telegramStateSchema = z.enum(['off', 'starting', 'running', 'paused', 'offline', 'conflict', 'refused']);

/** A message that was taken but is not finished: its files are not fetched yet, or it is a command whose answer is not queued yet. */
export const heldMessageSchema = z.object({
  botId: z.string(),
  updateId: z.number().int(),
  chatId: z.string(),
  kind: z.enum(['private', 'group']),
  senderId: z.string(),
  senderName: z.string(),
  messageId: z.string(),
  text: z.string(),
  files: z.array(
    z.object({ fileId: z.string(), name: z.string(), mediaType: z.string().nullable(), sizeBytes: z.number().int().nullable() }),
  ),
  replyTo: z.object({ text: z.string(), fromAgent: z.boolean(), messageId: z.string().nullable() }).nullable(),
  forwardedFrom: z.string().nullable(),
  mentioned: z.boolean(),
  atMs: z.number().int(),
  /** Messages of one album arrive separately but belong together. */
  albumId: z.string().optional(),
  /** Whether it is a command that was executed and waits for its answer to be queued. Commands are not passed on. */
  command: z.literal(true).optional(),
});
export type HeldMessage = z.infer<typeof heldMessageSchema>;

/** Events in earlier logs; no longer written. */
export const telegramEvents = {
  /**
   * All updates below `offset` have been handled and are never handled again. `strangers` is the number of messages from unpaired people.
   */
  'telegram.updates_taken': z.object({
    botId: z.string(),
    offset: z.number().int(),
    updates: z.number().int(),
    strangers: z.number().int(),
  }),
  'telegram.message_held': z.object({ message: heldMessageSchema }),
  /** `problem` is why the message was not passed on, as the person saw it; null if it was passed on. */
  'telegram.message_passed': z.object({ botId: z.string(), updateId: z.number().int(), problem: z.string().nullable() }),
  /** The code itself is not stored. */
  'telegram.pairing_offered': z.object({ pairingId: z.string(), codeHash: z.string(), expiresAtMs: z.number().int(), by: z.string() }),
  'telegram.pairing_claimed': z.object({ pairingId: z.string(), ...person }),
  'telegram.pairing_ended': z.object({ pairingId: z.string(), reason: z.enum(['expired', 'refused']), by: z.string() }),
  'telegram.paired': z.object({ pairingId: z.string(), ...person, by: z.string() }),
  'telegram.revoked': z.object({ userId: z.string(), by: z.string() }),
  'telegram.paused': z.object({ by: z.string() }),
  'telegram.resumed': z.object({ by: z.string() }),
  'telegram.state_changed': z.object({ state: telegramStateSchema, problem: z.string().nullable() }),
  /** An approval was sent to a person. Only a button with this nonce answers it. */
  'telegram.asked': z.object(askedPerson),
  /** This message shows the turn's text so far and will become its answer. */
  'telegram.preview_sent': z.object({ turnId: z.string(), chatId: z.string(), messageId: z.string() }),
  /** The message of an approval shows the answer, or can no longer be changed. */
  'telegram.question_closed': z.object({ approvalId: z.string(), userId: z.string() }),
} as const;

const telegramStatusSchema = z.object({
  state: telegramStateSchema,
  sinceMs: z.number().int(),
  /** The problem and its fix; null if there is none. */
  problem: z.string().nullable(),
  bot: z.object({ botId: z.string(), username: z.string() }).nullable(),
  /** When a paired person last wrote. */
  lastUpdateMs: z.number().int().nullable(),
  people: z.number().int(),
  /** Codes that were shown and are neither confirmed nor expired. */
  pairings: z.number().int(),
  /** The number of messages from unpaired people since the start. */
  strangers: z.number().int(),
});

const telegramPersonSchema = z.object({ userId: z.string(), chatId: z.string(), name: z.string(), pairedAtMs: z.number().int() });

const telegramPairingSchema = z.object({
  pairingId: z.string(),
  expiresAtMs: z.number().int(),
  /** The person who sent the code to the bot; null until then. */
  claimedBy: z.object({ userId: z.string(), name: z.string() }).nullable(),
});

const people = z.object({ people: z.array(telegramPersonSchema), pairings: z.array(telegramPairingSchema) });

const pairing = { words: { pairingId: 'the id of the pairing, as in: telegram list' }, example: 'pair_01JD7Q' };

export const telegramOps = defineOps({
  'telegram.status': {
    params: none,
    result: telegramStatusSchema,
    about: 'show the status of the bot',
    commands: { 'telegram status': { example: '' } },
  },
  /**
   * Creates a code to send to the bot. The code is shown only once, and is valid for one hour and one person; at most three codes are open
   * at a time.
   */
  'telegram.pair': {
    params: none,
    result: z.object({ pairingId: z.string(), code: z.string(), expiresAtMs: z.number().int(), bot: z.string().nullable() }),
    about: 'make a pairing code to send to the bot',
    forPerson: true,
    commands: { 'telegram pair': { example: '' } },
  },
  'telegram.list': {
    params: none,
    result: people,
    about: 'list paired people and waiting codes',
    commands: { 'telegram list': { example: '' } },
  },
  /** Pairs the person who sent the code. Never possible over Telegram itself. */
  'telegram.confirm': {
    params: z.strictObject({ pairingId: id }),
    result: people,
    about: 'let the sender of the code talk to the agent',
    forPerson: true,
    commands: { 'telegram confirm': { takes: ['pairingId'], ...pairing } },
  },
  'telegram.refuse': {
    params: z.strictObject({ pairingId: id }),
    result: people,
    about: 'refuse a pairing',
    forPerson: true,
    commands: { 'telegram refuse': { takes: ['pairingId'], ...pairing } },
  },
  'telegram.revoke': {
    params: z.strictObject({ userId: id }),
    result: people,
    about: "revoke a person's access; nothing more is sent to their chat",
    forPerson: true,
    commands: { 'telegram revoke': { takes: ['userId'], words: { userId: 'the numeric id, as in: telegram list' }, example: '4711' } },
  },
  'telegram.pause': {
    params: none,
    result: telegramStatusSchema,
    about: 'pause the bot, also across restarts',
    forPerson: true,
    commands: { 'telegram pause': { example: '' } },
  },
  'telegram.resume': {
    params: none,
    result: telegramStatusSchema,
    about: 'resume the bot',
    forPerson: true,
    commands: { 'telegram resume': { example: '' } },
  },
});
