// The operations on outbound messages and on chats; a part of the table in ops.ts.

import * as z from 'zod';
import { defineOps, id, most, sessionName } from './define-ops.ts';
import { chatAddressSchema, chatKindSchema, outboundKindSchema } from './channels.ts';
import { naming } from './named-things.ts';

export const outboundStateSchema = z.enum(['queued', 'sending', 'sent', 'failed', 'uncertain', 'dropped']);
export type OutboundState = z.infer<typeof outboundStateSchema>;

const outboundInfoSchema = z.object({
  outboundId: z.string(),
  to: chatAddressSchema,
  kind: outboundKindSchema,
  state: outboundStateSchema,
  text: z.string(),
  files: z.number().int(),
  sessionId: z.string(),
  turnId: z.string().nullable(),
  /** Parts that are known to have arrived. `parts` is the total; null until the channel has split the message. */
  partsSent: z.number().int(),
  parts: z.number().int().nullable(),
  /** Why it failed, waits or is uncertain. */
  reason: z.string().nullable(),
  retryAtMs: z.number().int().nullable(),
  createdAtMs: z.number().int(),
  updatedAtMs: z.number().int(),
});
export type OutboundInfo = z.infer<typeof outboundInfoSchema>;

const chatInfoSchema = chatAddressSchema.extend({
  kind: chatKindSchema,
  title: z.string(),
  /** The session of its next message; null for a new session. */
  sessionId: z.string().nullable(),
  lastUsedAtMs: z.number().int(),
});
export type ChatInfo = z.infer<typeof chatInfoSchema>;

export const outboxOps = defineOps({
  /** Newest first. Without `state`, the open ones: queued, being sent, failed or uncertain. */
  'outbox.list': {
    params: z.strictObject({
      state: outboundStateSchema.optional(),
      all: z.boolean().optional(),
      sessionId: sessionName.optional(),
      limit: z.number().int().min(1).max(1000).optional(),
    }),
    result: z.object({ items: z.array(outboundInfoSchema) }),
    about: 'list messages to chats that have not arrived, or those in a state',
    commands: {
      'outbox list': {
        options: {
          state: 'in this state only',
          all: 'also what has arrived or was dropped',
          sessionId: 'of one session',
          limit: most,
        },
        example: '--state uncertain',
      },
    },
  },
  /** Settles an uncertain or failed message: it had arrived, resend it, or drop it. */
  'outbox.settle': {
    params: z.strictObject({ outboundId: id, answer: z.enum(['sent', 'resend', 'drop']) }),
    result: outboundInfoSchema,
    about: 'record what became of a message whose delivery is uncertain',
    shows: 'Settled: {outboundId} is {state} now.',
    forPerson: true,
    commands: {
      'outbox settle': {
        takes: ['outboundId', 'answer'],
        words: { answer: 'sent: it arrived · resend: send it again · drop: give it up' },
        example: 'out_01JD7Q sent',
      },
    },
  },
  /** The known chats, last used first. */
  'chat.list': {
    params: z.strictObject({ channel: naming('channel', id).optional() }),
    result: z.object({ chats: z.array(chatInfoSchema) }),
    about: 'list the chats and their sessions, the last used first',
    commands: { 'chats list': { options: { channel: 'chats of this channel only' }, example: '--channel telegram' } },
  },
  /** Connects a chat to a session. Without a session, its next message begins a new one. */
  'chat.bind': {
    params: z.strictObject({ chat: chatAddressSchema.strict(), sessionId: id.optional() }),
    result: chatInfoSchema,
    about: 'connect a chat to a session; without a session, its next message starts a new one',
    forPerson: true,
    commands: {
      'chats bind': {
        takes: [':channel', ':chat-id', 'sessionId?'],
        options: { '--thread <id>': 'a thread of the chat' },
        example: 'telegram 4711 last',
      },
    },
  },
});
