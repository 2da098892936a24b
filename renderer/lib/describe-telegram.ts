// Describes events that the Telegram bot wrote before it became one of the chat services. Names that people chose are quoted.

import { line, type Lines } from './event-line.ts';

export const telegramLines: Pick<Lines, Extract<keyof Lines, `telegram.${string}`>> = {
  'telegram.updates_taken': ({ body }, { words }) => {
    const { log } = words.channels;
    return line(log.taken(body.updates), body.strangers === 0 ? '' : words.channels.strangers(body.strangers));
  },
  'telegram.message_held': ({ body: { message } }, { words }) =>
    line(words.channels.log[message.command === true ? 'command' : 'held'](message.senderName), message.text),
  'telegram.message_passed': ({ body }, { words }) =>
    body.problem === null ? line(words.channels.log.passed) : line(words.channels.log.notPassed, body.problem, 'bad'),
  'telegram.pairing_offered': ({ body }, { words }) => line(words.channels.log.offered(body.by)),
  'telegram.pairing_claimed': ({ body }, { words }) =>
    line(words.channels.log.claimed(body.name), words.channels.idThere(body.userId), 'wait'),
  'telegram.pairing_ended': ({ body }, { words }) => line(words.channels.log.ended[body.reason]),
  'telegram.paired': ({ body }, { words }) =>
    line(words.channels.log.paired(body.name, body.by), words.channels.idThere(body.userId), 'good'),
  'telegram.revoked': ({ body }, { words }) => line(words.channels.log.revoked(body.by), words.channels.idThere(body.userId)),
  'telegram.paused': ({ body }, { words }) => line(words.channels.log.paused(body.by), '', 'wait'),
  'telegram.resumed': ({ body }, { words }) => line(words.channels.log.resumed(body.by)),
  'telegram.state_changed': ({ body }, { words }) =>
    line(words.channels.log.state[body.state], body.problem ?? '', body.problem === null ? 'plain' : 'bad'),
  'telegram.asked': ({ body }, { words }) => line(words.channels.log.asked, words.channels.idThere(body.userId), 'wait'),
  'telegram.preview_sent': (_event, { words }) => line(words.channels.log.preview),
  'telegram.question_closed': ({ body }, { words }) => line(words.channels.log.closed, words.channels.idThere(body.userId)),
};
