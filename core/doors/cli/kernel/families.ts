// The top level of --help, grouped by purpose, with descriptions of the command families. Features describe theirs in their contracts.
// Commands without a group come last.

import type { Command, Help } from 'commander';
import { familyHelp } from '../../../contracts/op-forms.ts';

/** Null if the command is not a family and has its own description. */
const groups: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  Talk: {
    ask: null,
    chat: null,
    history: null,
    sessions: 'conversations',
    turns: 'show, retry, branch, continue, steer or cancel a turn',
    research: null,
    run: null,
    compare: null,
    calc: null,
    tool: null,
  },
  Decide: {
    approvals: 'calls that wait for your approval',
    grants: 'approvals that reach beyond one call',
    outcomes: 'calls with an unknown outcome',
    panic: null,
    budget: 'limits on money and tokens',
    review: null,
    undo: null,
  },
  Look: {
    usage: null,
    activity: 'what was done, in all sessions',
    running: 'what runs now',
    packs: 'context packs: what the model saw',
    artifacts: 'files that were made or seen',
    tools: null,
    models: null,
    model: 'one model, and where models come from',
    agents: 'the agents of config.yaml',
    subagents: 'agents started by another agent',
    policy: 'what the policy would decide, and why',
    sandbox: 'how commands are confined',
    safety: 'checks of addresses and text',
    signals: 'signals from webhooks, files and other programs',
    outbox: 'messages on their way to chats',
    chats: 'chats of channels, and the session each talks in',
  },
  'Set up': {
    setup: null,
    folders: 'folders TrayClaw may work in besides its own workspace',
    serve: null,
    start: null,
    acp: null,
    service: 'run TrayClaw in the background from login on: systemd on Linux, launchd on macOS',
    config: 'the settings in config.yaml',
    secret: 'keys and passwords in the keychain, or in an encrypted vault',
    identity: 'the identity of an agent',
    prompts: 'prompt files, in versions',
    rules: 'rules the model is shown in every request, word for word',
    skills: 'instructions for kinds of work',
    memory: 'long-term memory',
    knowledge: 'indexed documents',
    schedule: 'scheduled tasks',
    heartbeat: 'the periodic HEARTBEAT.md check',
    tasks: 'the task list',
    telegram: 'the Telegram bot: its status and who may talk to it',
    completion: null,
  },
  Repair: {
    doctor: null,
    recover: null,
    dlq: 'dead letters: failed turns that are kept for a retry',
    backup: 'copies of everything recorded',
    audit: 'the event log',
    replay: null,
  },
};

const places: ReadonlyMap<string, { readonly group: string; readonly about: string | null }> = new Map([
  ...Object.entries(groups).flatMap(([group, names]) => Object.entries(names).map(([name, about]) => [name, { group, about }] as const)),
  ...Object.entries(familyHelp).map(([name, [group, about]]) => [name, { group, about }] as const),
]);

/** The description of a family, by all its words. Empty for a command that describes itself. */
export function aboutFamily(words: string): string {
  return places.get(words)?.about ?? '';
}

/** Must be called after all commands were added. */
export function groupForHelp(program: Command, plain: Help): void {
  const order = [...places.keys()];
  const rankOf = (command: Command): number => (places.has(command.name()) ? order.indexOf(command.name()) : order.length);
  for (const command of program.commands) command.helpGroup(`${places.get(command.name())?.group ?? 'More'}:`);
  program.configureHelp({
    visibleCommands: (command) => {
      const shown = plain.visibleCommands(command);
      return command === program ? shown.toSorted((one, other) => rankOf(one) - rankOf(other)) : shown;
    },
  });
}
