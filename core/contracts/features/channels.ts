// Chat services: Telegram, Discord, email and those of plugins. The events of pairing, messages and approvals, and the operations.

import * as z from 'zod';
import { chatKindSchema, remoteFileSchema } from '../channels.ts';
import { defineOps, id, none } from '../define-ops.ts';

/** refused: the service does not accept the account, and a person has to change it. */
export const channelStateSchema = z.enum(['starting', 'running', 'paused', 'offline', 'refused']);
export type ChannelState = z.infer<typeof channelStateSchema>;

const channel = z.string();
/** Another program receives the messages that people write here. Messages can still be sent. */
const conflict = z.literal(true).exactOptional();
export const person = { userId: z.string(), chatId: z.string(), name: z.string() };
/** An approval that was sent to a person. */
export const askedPerson = { approvalId: z.string(), userId: z.string(), chatId: z.string(), nonce: z.string(), outboundId: z.string() };

/** A command that was taken and whose answer is not queued yet. */
export const takenCommandSchema = z.object({
  userId: z.string(),
  chatId: z.string(),
  threadId: z.string().optional(),
  messageId: z.string().optional(),
  text: z.string(),
});
export type TakenCommand = z.infer<typeof takenCommandSchema>;

/** A message whose files are not fetched yet, or that arrived after such a message in the same chat. */
export const heldInboundSchema = z.object({
  chatId: z.string(),
  threadId: z.string().exactOptional(),
  kind: chatKindSchema,
  chatTitle: z.string().exactOptional(),
  senderId: z.string(),
  senderName: z.string(),
  messageId: z.string().exactOptional(),
  text: z.string(),
  files: z.array(remoteFileSchema),
  albumId: z.string().exactOptional(),
  replyTo: z.object({ text: z.string(), fromAgent: z.boolean(), messageId: z.string().exactOptional() }).exactOptional(),
  forwardedFrom: z.string().exactOptional(),
  mentioned: z.boolean(),
  atMs: z.number().int(),
});
export type HeldInbound = z.infer<typeof heldInboundSchema>;

export const channelEvents = {
  /** The code itself is not stored. */
  'channel.pairing_offered': z.object({
    channel,
    pairingId: z.string(),
    codeHash: z.string(),
    expiresAtMs: z.number().int(),
    by: z.string(),
  }),
  'channel.pairing_claimed': z.object({ channel, pairingId: z.string(), ...person }),
  'channel.pairing_ended': z.object({ channel, pairingId: z.string(), reason: z.enum(['expired', 'refused']), by: z.string() }),
  'channel.paired': z.object({ channel, pairingId: z.string(), ...person, by: z.string() }),
  /** Nothing more is sent to the chat, which is missing in older logs. */
  'channel.revoked': z.object({ channel, userId: z.string(), chatId: z.string().optional(), by: z.string() }),
  'channel.paused': z.object({ channel, by: z.string() }),
  'channel.resumed': z.object({ channel, by: z.string() }),
  'channel.state_changed': z.object({ channel, state: channelStateSchema, problem: z.string().nullable(), conflict }),
  /** A message that started no turn was handled, and is never handled again. With a command: its answer is still pending. */
  'channel.message_taken': z.object({ channel, key: z.string(), command: takenCommandSchema.optional() }),
  'channel.command_answered': z.object({ channel, key: z.string() }),
  'channel.message_held': z.object({ channel, key: z.string(), message: heldInboundSchema }),
  /** `problem` is why the message was not passed on, as the person saw it; null if it was passed on. */
  'channel.message_passed': z.object({ channel, key: z.string(), problem: z.string().nullable() }),
  /** An approval was sent to a person. Only this button or code answers it. */
  'channel.asked': z.object({ channel, ...askedPerson }),
  /** The chat shows the answer, or can no longer show it. */
  'channel.question_closed': z.object({ channel, approvalId: z.string(), userId: z.string() }),
  /** This message shows the turn's text so far and will become its answer. */
  'channel.preview_sent': z.object({ channel, turnId: z.string(), chatId: z.string(), messageId: z.string() }),
  /** A note of the service, for example how far it has read. */
  'channel.noted': z.object({ channel, note: z.string(), value: z.string() }),
} as const;

const channelStatusSchema = z.object({
  channel: z.string(),
  state: channelStateSchema,
  conflict,
  sinceMs: z.number().int(),
  /** The problem and its fix; null if there is none. */
  problem: z.string().nullable(),
  /** The name of the agent there. */
  me: z.string().nullable(),
  /** When a person who may write last wrote. */
  lastHeardMs: z.number().int().nullable(),
  people: z.number().int(),
  /** The number of messages from unpaired people since the start. */
  strangers: z.number().int(),
});
export type ChannelStatus = z.infer<typeof channelStatusSchema>;

const knownPersonSchema = z.object({
  channel: z.string(),
  state: z.enum(['paired', 'waits for you', 'code not used']),
  name: z.string(),
  userId: z.string(),
  /** Empty for a paired person. */
  pairingId: z.string(),
  atMs: z.number().int(),
});
const people = z.object({ people: z.array(knownPersonSchema) });
const peopleTable = {
  each: 'people',
  columns: { CHANNEL: 'channel', STATE: 'state', NAME: 'name', ID: 'userId', PAIRING: 'pairingId' },
  none: 'No one is paired.',
} as const;

const statuses = z.object({ channels: z.array(channelStatusSchema) });
const statusTable = {
  each: 'channels',
  columns: { CHANNEL: 'channel', STATE: 'state', AGENT: 'me', PEOPLE: 'people', PROBLEM: 'problem' },
  none: 'No channel is set up.',
} as const;

const secrets = z.record(z.string().regex(/^[A-Za-z0-9._-]{1,100}$/), z.string().min(1).max(10_000));

const named = z.strictObject({ channel: id });
const words = { channel: 'the channel, as in: channels list' };
const pairing = {
  takes: ['pairingId'],
  words: { pairingId: 'the id of the pairing, as in: channels people' },
  example: 'pair_01JD7Q',
} as const;

export const channelOps = defineOps({
  'channel.list': {
    params: none,
    result: statuses,
    about: 'list the chat services and their state',
    shows: statusTable,
    commands: { 'channels list': { example: '' } },
  },
  'channel.people': {
    params: none,
    result: people,
    about: 'list the people who may talk to the agent over these services, and the codes that wait',
    shows: peopleTable,
    commands: { 'channels people': { example: '' } },
  },
  /** Creates a code to send over the service. The code is shown only once, and is valid for one hour and one person. */
  'channel.pair': {
    params: named,
    result: z.object({ pairingId: z.string(), code: z.string(), expiresAtMs: z.number().int(), me: z.string() }),
    about: 'make a pairing code to send over a chat service',
    forPerson: true,
    shows: 'Code: {code}\nSend it to {me} within the hour, then confirm: trayclaw channels confirm {pairingId}',
    commands: { 'channels pair': { takes: ['channel'], words, example: 'discord' } },
  },
  /** Pairs the person who sent the code. Never possible over a chat itself. */
  'channel.confirm': {
    params: z.strictObject({ pairingId: id }),
    result: people,
    about: 'let the sender of the code talk to the agent',
    forPerson: true,
    shows: peopleTable,
    commands: { 'channels confirm': pairing },
  },
  'channel.refuse': {
    params: z.strictObject({ pairingId: id }),
    result: people,
    about: 'refuse a pairing over a chat service',
    forPerson: true,
    shows: peopleTable,
    commands: { 'channels refuse': pairing },
  },
  'channel.revoke': {
    params: z.strictObject({ channel: id, userId: z.string().min(1).max(320) }),
    result: people,
    about: "revoke a person's access over a chat service; nothing more is sent to their chat",
    forPerson: true,
    shows: peopleTable,
    commands: {
      'channels revoke': {
        takes: ['channel', 'userId'],
        words: { ...words, userId: 'the id or address, as in: channels people' },
        example: 'discord 4711',
      },
    },
  },
  /**
   * Checks unsaved settings, and connects with them unless `checkOnly` is set. `secrets` are values keyed by the names that the settings
   * refer to as `keychain:NAME`. Writes nothing.
   */
  'channel.try': {
    params: z.strictObject({
      channel: id,
      settings: z.record(z.string(), z.unknown()),
      secrets: secrets.default({}),
      checkOnly: z.boolean().optional(),
    }),
    result: z.object({
      /** The problems of single fields, with their dotted paths. */
      fields: z.array(z.object({ path: z.string(), problem: z.string() })),
      /** The name of the agent there, if connecting succeeded. */
      me: z.string().nullable(),
      /** Why connecting failed. */
      problem: z.string().nullable(),
    }),
    about: 'test the settings of a chat service without writing anything',
    forPerson: true,
  },
  'channel.pause': {
    params: named,
    result: statuses,
    about: 'pause a chat service, also across restarts',
    forPerson: true,
    shows: statusTable,
    commands: { 'channels pause': { takes: ['channel'], words, example: 'discord' } },
  },
  'channel.resume': {
    params: named,
    result: statuses,
    about: 'resume a chat service',
    forPerson: true,
    shows: statusTable,
    commands: { 'channels resume': { takes: ['channel'], words, example: 'discord' } },
  },
});

export const channelContract = {
  events: channelEvents,
  ops: channelOps,
  families: { channel: 'Channels and delivery' },
  help: { channels: ['Set up', 'Discord, email and the chat services of plugins: their state and who may talk to the agent'] },
} as const;
