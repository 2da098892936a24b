// Describes events of chat services as sentences. Names that people chose are quoted.

import { line, type Lines } from './event-line.ts';

/** Turns "discord" into "Discord". */
const titleOf = (channel: string): string => channel.charAt(0).toUpperCase() + channel.slice(1);

export const channelLines: Pick<Lines, Extract<keyof Lines, `channel.${string}`>> = {
  'channel.pairing_offered': ({ body }, { words }) => line(words.channels.log.offered(body.by), titleOf(body.channel)),
  'channel.pairing_claimed': ({ body }, { words }) => line(words.channels.log.claimed(body.name), whoOf(body), 'wait'),
  'channel.pairing_ended': ({ body }, { words }) => line(words.channels.log.ended[body.reason], titleOf(body.channel)),
  'channel.paired': ({ body }, { words }) => line(words.channels.log.paired(body.name, body.by), whoOf(body), 'good'),
  'channel.revoked': ({ body }, { words }) => line(words.channels.log.revoked(body.by), whoOf(body)),
  'channel.paused': ({ body }, { words }) => line(words.channels.service.paused(titleOf(body.channel), body.by), '', 'wait'),
  'channel.resumed': ({ body }, { words }) => line(words.channels.service.resumed(titleOf(body.channel), body.by)),
  'channel.state_changed': ({ body }, { words }) =>
    line(
      words.channels.service.state[body.conflict === true ? 'conflict' : body.state](titleOf(body.channel)),
      body.problem ?? '',
      body.problem === null ? 'plain' : 'bad',
    ),
  'channel.message_taken': ({ body }, { words }) =>
    line(
      body.command === undefined ? words.channels.log.passed : words.channels.service.command(titleOf(body.channel)),
      body.command?.text ?? titleOf(body.channel),
    ),
  'channel.command_answered': ({ body }, { words }) => line(words.channels.service.commandAnswered(titleOf(body.channel))),
  'channel.message_held': ({ body: { message } }, { words }) => line(words.channels.log.held(message.senderName), message.text),
  'channel.message_passed': ({ body }, { words }) =>
    body.problem === null ? line(words.channels.log.passed) : line(words.channels.log.notPassed, body.problem, 'bad'),
  'channel.asked': ({ body }, { words }) => line(words.channels.service.asked(titleOf(body.channel)), body.userId, 'wait'),
  'channel.question_closed': ({ body }, { words }) => line(words.channels.service.closed(titleOf(body.channel)), body.userId),
  'channel.preview_sent': ({ body }, { words }) => line(words.channels.service.preview(titleOf(body.channel))),
  'channel.noted': ({ body }, { words }) => line(words.channels.service.noted(titleOf(body.channel)), body.note),
};

function whoOf({ channel, userId }: { readonly channel: string; readonly userId: string }): string {
  return `${titleOf(channel)}: ${userId}`;
}
