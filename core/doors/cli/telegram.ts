// `telegram`: how the bot stands, who may talk to it, pausing it. Codes and confirmations are for a person at a terminal.

import type { Command } from 'commander';
import type { OpName, OpResult } from '../../contracts/ops.ts';
import { safeForTerminal } from '../../base/visible-text.ts';
import type { CommandContext, Run } from './command-context.ts';
import { table } from './table.ts';

export function registerTelegram(program: Command, run: Run): void {
  const telegram = program.command('telegram').description('the Telegram bot: its status and who may talk to it');
  telegram
    .command('status')
    .description('show the status of the bot')
    .action(() => run((context) => context.runOp('telegram.status', {}, { human: describeStatus })));
  telegram
    .command('pair')
    .description('make a pairing code to send to the bot')
    .action(() => run((context) => context.runOp('telegram.pair', {}, { human: (offer) => describeOffer(context, offer) })));
  telegram
    .command('list')
    .description('list paired people and waiting codes')
    .action(() => run((context) => context.runOp('telegram.list', {}, { human: describePeople })));
  const named = (name: 'confirm' | 'refuse', what: string): void => {
    telegram
      .command(name)
      .description(what)
      .argument('<pairing>', 'the id of the pairing, as in: telegram list')
      .action((pairingId: string) => run((context) => context.runOp(`telegram.${name}`, { pairingId }, { human: describePeople })));
  };
  named('confirm', 'let the sender of the code talk to the agent');
  named('refuse', 'refuse a pairing');
  telegram
    .command('revoke')
    .description("take a person's access back")
    .argument('<user>', 'the numeric id, as in: telegram list')
    .action((userId: string) => run((context) => context.runOp('telegram.revoke', { userId }, { human: describePeople })));
  telegram
    .command('pause')
    .description('pause the bot, also across restarts')
    .action(() => run((context) => context.runOp('telegram.pause', {}, { human: describeStatus })));
  telegram
    .command('resume')
    .description('resume the bot')
    .action(() => run((context) => context.runOp('telegram.resume', {}, { human: describeStatus })));
}

type Of<N extends OpName> = OpResult<N>;

const states = {
  off: 'off: no token in channels.telegram of config.yaml',
  starting: 'starting',
  running: 'running',
  paused: 'paused',
  offline: 'offline',
  conflict: 'stopped: another program uses this bot',
  refused: 'stopped: the token does not hold',
} as const;

function describeStatus({ state, problem, bot, people, pairings, strangers, lastUpdateMs }: Of<'telegram.status'>): string {
  const lines = [
    `Telegram is ${states[state]}.`,
    ...(problem === null ? [] : [problem]),
    ...(bot === null ? [] : [`The bot is @${bot.username}.`]),
    `${people === 1 ? '1 person is' : `${people} people are`} paired${pairings === 0 ? '' : `; ${pairings} codes wait`}.`,
    ...(lastUpdateMs === null ? [] : [`Last heard of at ${new Date(lastUpdateMs).toISOString()}.`]),
    ...(strangers === 0 ? [] : [`Messages of strangers, not looked at: ${strangers}.`]),
  ];
  return safeForTerminal(lines.join('\n'));
}

function describeOffer({ program }: CommandContext, { code, pairingId, expiresAtMs, bot }: Of<'telegram.pair'>): string {
  return [
    `Code: ${code}`,
    `Send it to ${bot === null ? 'the bot' : `@${bot}`} before ${new Date(expiresAtMs).toISOString()}, then confirm:`,
    `  ${program} telegram confirm ${pairingId}`,
  ].join('\n');
}

function describePeople({ people, pairings }: Of<'telegram.list'>): string {
  const rows = people.map(({ userId, name, pairedAtMs }) => [userId, safeForTerminal(name), new Date(pairedAtMs).toISOString()]);
  const waiting = pairings.map(({ pairingId, claimedBy, expiresAtMs }) => [
    pairingId,
    claimedBy === null ? 'nobody yet' : `${safeForTerminal(claimedBy.name)} (${claimedBy.userId})`,
    new Date(expiresAtMs).toISOString(),
  ]);
  const paired = table(['USER', 'NAME', 'PAIRED'], rows, 'Nobody is paired.');
  return waiting.length === 0 ? paired : `${paired}\n\n${table(['PAIRING', 'SENT BY', 'UNTIL'], waiting, '')}`;
}
