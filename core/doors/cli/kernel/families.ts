// The top of the command tree in --help, grouped by what a person wants to do, with descriptions of the command families. A command that is
// not named here comes last.

import type { Command, Help } from 'commander';

/** Null if the command is not a family and has its own description. */
const groups: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  Talk: {
    ask: null,
    chat: null,
    history: null,
    sessions: 'conversations',
    turns: 'show, retry, branch, continue, steer or cancel a turn',
    calc: null,
    tool: null,
  },
  Decide: {
    approvals: 'calls that wait for your approval',
    grants: 'approvals that reach beyond one call',
    outcomes: 'calls with an unknown outcome',
    panic: null,
    budget: 'limits on money and tokens',
    undo: null,
  },
  Look: {
    usage: null,
    activity: 'what was done, in all sessions',
    packs: 'context packs: what the model saw',
    artifacts: 'files that were made or seen',
    tools: null,
    models: null,
    model: 'one model, and where models come from',
    agents: 'the agents of config.yaml',
    helpers: 'subagents: agents started by another agent',
    policy: 'what the policy would decide, and why',
    governor: 'more caution than the policy asks for: what its rules say',
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
    service: 'run TrayClaw in the background from login on: systemd on Linux, launchd on macOS',
    config: 'the settings in config.yaml',
    secret: 'keys and passwords in the keychain, or in an encrypted vault',
    identity: 'the identity of an agent',
    prompts: 'prompt files, in versions',
    rules: 'rules the model is shown in every request, word for word',
    skills: 'instructions for kinds of work',
    plugins: 'your own features, approved by you',
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

export const families: ReadonlyMap<string, string> = new Map(
  Object.values(groups).flatMap((names) =>
    Object.entries(names).flatMap(([name, about]) => (about === null ? [] : [[name, about] as const])),
  ),
);

/** To be called once every command is there. */
export function groupForHelp(program: Command, plain: Help): void {
  const places = Object.entries(groups).flatMap(([title, names]) => Object.keys(names).map((name) => [name, title] as const));
  const titles = new Map(places);
  const order = places.map(([name]) => name);
  const rankOf = (command: Command): number => (titles.has(command.name()) ? order.indexOf(command.name()) : order.length);
  for (const command of program.commands) command.helpGroup(`${titles.get(command.name()) ?? 'More'}:`);
  program.configureHelp({
    visibleCommands: (command) => {
      const shown = plain.visibleCommands(command);
      return command === program ? shown.toSorted((one, other) => rankOf(one) - rankOf(other)) : shown;
    },
  });
}
