// The order in which --help shows the commands: by what a person wants to do. A command that is not named here comes last.

import type { Command, Help } from 'commander';

const groups: readonly (readonly [string, readonly string[]])[] = [
  ['Talk', ['ask', 'chat', 'history', 'sessions', 'turns', 'calc', 'tool']],
  ['Decide', ['approvals', 'grants', 'outcomes', 'panic', 'budget', 'undo']],
  [
    'Look',
    [
      'usage',
      'activity',
      'packs',
      'artifacts',
      'tools',
      'models',
      'model',
      'agents',
      'helpers',
      'policy',
      'sandbox',
      'safety',
      'signals',
      'outbox',
      'chats',
    ],
  ],
  [
    'Set up',
    [
      'setup',
      'folders',
      'serve',
      'start',
      'service',
      'config',
      'secret',
      'identity',
      'prompts',
      'rules',
      'skills',
      'memory',
      'knowledge',
      'schedule',
      'heartbeat',
      'tasks',
      'telegram',
    ],
  ],
  ['Repair', ['doctor', 'recover', 'dlq', 'backup', 'audit', 'replay']],
];

/** To be called once every command is registered. */
export function groupForHelp(program: Command, plain: Help): void {
  const place = new Map(
    groups.flatMap(([title, names], group) => names.map((name, at) => [name, { title, rank: group * 100 + at }] as const)),
  );
  for (const command of program.commands) command.helpGroup(`${place.get(command.name())?.title ?? 'More'}:`);
  const rankOf = (command: Command): number => place.get(command.name())?.rank ?? Number.MAX_SAFE_INTEGER;
  program.configureHelp({
    visibleCommands: (command) => {
      const shown = plain.visibleCommands(command);
      return command === program ? shown.toSorted((one, other) => rankOf(one) - rankOf(other)) : shown;
    },
  });
}
