// Views of the Telegram bot, chats and deliveries.

import { counted } from '../../../base/counted.ts';
import { safeForTerminal } from '../../../base/visible-text.ts';
import type { OpName, OpResult } from '../../../contracts/ops.ts';
import { listed, tabled, type ViewsOf } from '../kernel/view.ts';
import { oneLine, when } from '../table.ts';

export const telegramViews: ViewsOf<'telegram'> = {
  'telegram.status': { show: describeStatus },
  'telegram.pair': { show: (offer, { program }) => describeOffer(program, offer) },
  'telegram.list': { show: describePeople },
  'telegram.confirm': { show: describePeople },
  'telegram.refuse': { show: describePeople },
  'telegram.revoke': { show: describePeople },
  'telegram.pause': { show: describeStatus },
  'telegram.resume': { show: describeStatus },
};

export const chatViews: ViewsOf<'chat'> = {
  'chat.list': listed(
    'chats',
    {
      CHANNEL: 'channel',
      CHAT: ({ chatId, threadId }) => (threadId === undefined ? chatId : `${chatId} (${threadId})`),
      KIND: 'kind',
      SESSION: 'sessionId',
      'LAST USED': 'lastUsedAtMs',
      TITLE: 'title',
    },
    'No chat is known yet.',
  ),
  'chat.bind': {
    params: ({ sessionId }, { given }) => {
      const { channel, 'chat-id': chatId, thread } = given;
      const place = { channel: String(channel), chatId: String(chatId), ...(typeof thread === 'string' ? { threadId: thread } : {}) };
      return { chat: place, ...(sessionId === undefined ? {} : { sessionId }) };
    },
    show: ({ title, sessionId }) => `${oneLine(title)} continues in ${sessionId ?? 'a new session'}.`,
  },
};

export const outboxViews: ViewsOf<'outbox'> = {
  'outbox.list': listed(
    'items',
    {
      MESSAGE: 'outboundId',
      STATE: 'state',
      CHAT: ({ to }) => `${to.channel}:${to.chatId}`,
      WHEN: 'createdAtMs',
      WHY: 'reason',
      TEXT: 'text',
    },
    'Nothing is on its way.',
  ),
};

type Of<N extends OpName> = OpResult<N>;

const states = {
  off: 'off: no token in channels.telegram of config.yaml',
  starting: 'starting',
  running: 'running',
  paused: 'paused',
  offline: 'offline',
  conflict: 'stopped: another program uses this bot',
  refused: 'stopped: the token is not valid',
} as const;

function describeStatus({ state, problem, bot, people, pairings, strangers, lastUpdateMs }: Of<'telegram.status'>): string {
  const lines = [
    `Telegram is ${states[state]}.`,
    ...(problem === null ? [] : [problem]),
    ...(bot === null ? [] : [`The bot is @${bot.username}.`]),
    `${counted(people, 'person is', 'people are')} paired${pairings === 0 ? '' : `; ${counted(pairings, 'code waits', 'codes wait')}`}.`,
    ...(lastUpdateMs === null ? [] : [`Last heard of at ${when(lastUpdateMs)}.`]),
    ...(strangers === 0 ? [] : [`Messages of strangers, ignored: ${strangers}.`]),
  ];
  return safeForTerminal(lines.join('\n'));
}

function describeOffer(program: string, { code, pairingId, expiresAtMs, bot }: Of<'telegram.pair'>): string {
  return [
    `Code: ${code}`,
    `Send it to ${bot === null ? 'the bot' : `@${bot}`} before ${when(expiresAtMs)}, then confirm:`,
    `  ${program} telegram confirm ${pairingId}`,
  ].join('\n');
}

function describePeople({ people, pairings }: Of<'telegram.list'>): string {
  const paired = tabled(people, { USER: 'userId', NAME: 'name', PAIRED: 'pairedAtMs' }, 'No person is paired.');
  const sender = ({ claimedBy }: (typeof pairings)[number]): string =>
    claimedBy === null ? 'not used yet' : `${claimedBy.name} (${claimedBy.userId})`;
  const waiting = tabled(pairings, { PAIRING: 'pairingId', 'SENT BY': sender, UNTIL: 'expiresAtMs' }, '');
  return `${paired}\n\n${waiting}`.trimEnd();
}
