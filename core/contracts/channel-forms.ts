// The operations on Telegram, chats and delivery as commands. Plain data; see command-form.ts.

import type { OpForms } from './command-form.ts';

const pairing = { words: { pairingId: 'the id of the pairing, as in: telegram list' }, example: 'pair_01JD7Q' };

export const channelForms = {
  'telegram.status': { about: 'show the status of the bot', commands: { 'telegram status': { example: '' } } },
  'telegram.pair': { about: 'make a pairing code to send to the bot', forPerson: true, commands: { 'telegram pair': { example: '' } } },
  'telegram.list': { about: 'list paired people and waiting codes', commands: { 'telegram list': { example: '' } } },
  'telegram.confirm': {
    about: 'let the sender of the code talk to the agent',
    forPerson: true,
    commands: { 'telegram confirm': { takes: ['pairingId'], ...pairing } },
  },
  'telegram.refuse': {
    about: 'refuse a pairing',
    forPerson: true,
    commands: { 'telegram refuse': { takes: ['pairingId'], ...pairing } },
  },
  'telegram.revoke': {
    about: "take a person's access back",
    forPerson: true,
    commands: { 'telegram revoke': { takes: ['userId'], words: { userId: 'the numeric id, as in: telegram list' }, example: '4711' } },
  },
  'telegram.pause': { about: 'pause the bot, also across restarts', forPerson: true, commands: { 'telegram pause': { example: '' } } },
  'telegram.resume': { about: 'resume the bot', forPerson: true, commands: { 'telegram resume': { example: '' } } },
  'chat.list': {
    about: 'list the chats and their sessions, the last used first',
    commands: { 'chats list': { options: { channel: 'chats of this channel only' }, example: '--channel telegram' } },
  },
  'chat.bind': {
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
  'outbox.list': {
    about: 'list messages to chats that have not arrived, or those in a state',
    commands: {
      'outbox list': {
        options: {
          state: 'in this state only',
          all: 'also what has arrived or was dropped',
          sessionId: 'of one session',
          limit: 'how many at most',
        },
        example: '--state uncertain',
      },
    },
  },
  'outbox.settle': {
    about: 'say what became of a message that may or may not have arrived',
    forPerson: true,
    commands: {
      'outbox settle': {
        takes: ['outboundId', 'answer'],
        words: { answer: 'sent: it had arrived · resend: send it again · drop: let it be' },
        example: 'out_01JD7Q sent',
      },
    },
  },
} as const satisfies OpForms<'telegram' | 'chat' | 'outbox'>;
