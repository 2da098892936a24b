// The commands that are not a single operation: a conversation, a server, questions at a terminal, or several operations in one. Their
// descriptions are data like those of other commands; their code is loaded when they run.

import type { CommandForm } from '../../contracts/command-form.ts';
import type { CommandContext } from './command-context.ts';
import type { Entry, Perform } from './kernel/entries.ts';

interface OwnForm<G> extends CommandForm {
  readonly about: string;
  readonly load: () => Promise<(context: CommandContext, given: G, entries: readonly Entry[]) => Promise<number>>;
}

/** `G` is the type of the command's parsed options and arguments. */
function own<G>(words: string, { load, ...form }: OwnForm<G>): Entry {
  return { path: words.split(' '), about: form.about, form, source: { load: load as () => Promise<Perform> } };
}

const messageOptions = {
  '--session <id>': 'continue this session, in its folder',
  '--continue': 'continue the latest session of this folder',
  '--cwd <folder>': 'work in this folder; asks first unless it is trusted',
  '--agent <id>': 'the agent to ask',
  '--model <provider/model>': 'the model to ask',
  '--file <path>': { about: 'attach a file; may be repeated', repeats: true as const },
};

export function ownEntries(): Entry[] {
  return [...talking(), ...deciding(), ...running(), ...repairing()];
}

function talking(): Entry[] {
  return [
    own('ask', {
      about: 'ask the agent, in this folder, and wait for the answer',
      takes: [':text...'],
      words: { text: 'what to ask; - reads it from standard input' },
      options: {
        ...messageOptions,
        '--schema <file>': 'print the answer as a value of this JSON schema, checked',
        '--timeout <seconds>': 'stop the turn after this time; exit code 124',
      },
      example: "'What is 6 times 7?'",
      load: async () => (await import('./ask.ts')).ask,
    }),
    own('chat', {
      about: 'talk with the agent, in this folder',
      options: messageOptions,
      example: '--continue',
      load: async () => (await import('./chat.ts')).chat,
    }),
    own('tool', {
      about: 'run one tool through the gate, without a model',
      takes: [':name', ':args?'],
      words: { name: 'the tool', args: 'its arguments as JSON; {} when left out' },
      options: { '--session <id>': 'run it in this session', '--cwd <folder>': 'work in this folder, which must be trusted' },
      example: `calc '{"expression":"6*7"}'`,
      load: async () => (await import('./ask.ts')).tool,
    }),
    own('calc', {
      about: 'calculate, without a model',
      takes: [':expression...'],
      words: { expression: 'such as 2*(3+4) or sqrt(2)' },
      example: "'2*(3+4)'",
      load: async () => (await import('./ask.ts')).calc,
    }),
  ];
}

function deciding(): Entry[] {
  const wait = { '--no-wait': 'with a running instance: return at once' };
  return [
    own('approvals approve', {
      about: 'approve calls and show the result of the last one',
      takes: [':id...'],
      options: {
        '--scope <scope>': 'once, minutes:N, session or always; once when left out',
        '--choice <n>': 'which of the wider scopes, as the list numbers them; 0 is the narrowest',
        '--args <json>': 'run it with these arguments instead, after the policy has judged them',
        ...wait,
      },
      example: 'apr_01JD7Q --scope minutes:15',
      load: async () => (await import('./approvals.ts')).approve,
    }),
    own('approvals deny', {
      about: 'refuse calls',
      takes: [':id...'],
      options: { '--reason <text>': 'why, or what to do instead; the model is told', ...wait },
      example: "apr_01JD7Q --reason 'Use the test database.'",
      load: async () => (await import('./approvals.ts')).deny,
    }),
    own('panic', {
      about: 'stop everything at once',
      options: {
        '--reason <text>': 'why, for the record',
        '--release': 'let things run again',
        '--status': 'only show whether it is engaged',
      },
      example: '--status',
      load: async () => (await import('./panic.ts')).panic,
    }),
    own('undo', {
      about: 'put files back as they were before a call, a turn, a session or an undo; without an id, list what can be undone',
      takes: [':id?'],
      words: { id: 'of a call, a turn, a session (last is the newest), or an earlier undo' },
      options: {
        '--preview': 'show what would change, and change nothing',
        '--keep-going': 'put back what can be put back, even when some files are refused',
        '--file <path>': 'of a turn or a session, only this file',
        '--part <n>': { about: 'of this file, only this part, as `review` numbers it; may be repeated', repeats: true as const },
        '--seen <version>': 'with --part: the version of the difference that `review` showed',
        '--force': 'also files that were changed since; what they hold now is kept and can be put back',
      },
      example: 'call_01JD7Q --preview',
      load: async () => (await import('./undo.ts')).undo,
    }),
  ];
}

function running(): Entry[] {
  const port = { '--port <n>': 'the port of the window; that of the run before, or a free one, when left out' };
  return [
    own('setup', {
      about: 'choose a model: a key from the environment or a pasted one, a local server, or the offline demo',
      options: {
        '--provider <name>': 'openai, anthropic, ollama or another one of: trayclaw model presets; or demo',
        '--key-env <variable>': 'the environment variable that holds the key',
        '--key-stdin': 'read the key from standard input; it is kept in the keychain or the vault',
        '--base-url <url>': 'the address of the provider',
        '--file <path>': 'a GGUF file on this computer, instead of an address',
        '--model <name>': 'the model; a usual one of the provider when left out',
        '--workspace <folder>': 'the folder the agent works in',
        '--yes': 'write it without asking',
      },
      example: '--provider demo --yes',
      load: async () => (await import('./setup.ts')).setup,
    }),
    ...downloading(),
    own('serve', {
      about: 'run with the window served on 127.0.0.1, until stopped',
      options: {
        '--port <n>': 'the port; a free one when left out',
        '--open': 'open the window',
        '--print-token': 'print the access token, also into the log of a service manager',
        '--no-print-token': 'print the address without the access token',
      },
      example: '--port 4711',
      load: async () => (await import('./serve.ts')).serve,
    }),
    ...forOthers(),
    own('start', {
      about: 'start the app',
      options: { '--port <n>': 'the port of the window' },
      example: '',
      load: async () => (await import('./serve.ts')).start,
    }),
    own('service install', {
      about: 'install, enable and start the service; again after an update or for another data folder',
      options: { ...port, '--print': 'show the file it would write, and write nothing' },
      example: '--print',
      load: async () => (await import('./service.ts')).install,
    }),
    own('service uninstall', {
      about: 'stop the service and remove its file; the data folder stays',
      example: '',
      load: async () => (await import('./service.ts')).uninstall,
    }),
    own('service status', {
      about: 'show whether the service is installed and runs; exit code 1 when it does not run',
      example: '',
      load: async () => (await import('./service.ts')).status,
    }),
  ];
}

/** Commands that other programs start to connect to TrayClaw. */
function forOthers(): Entry[] {
  return [
    own('acp', {
      about: 'be an agent inside an editor: the Agent Client Protocol on standard input and output',
      example: '',
      load: async () => (await import('./acp/acp.ts')).acp,
    }),
    own('mcp serve', {
      about: 'be a server of the Model Context Protocol for other programs: on standard input and output, or at /mcp of a port',
      options: {
        '--http <port>': 'serve it on 127.0.0.1 together with the window; clients need a token of: doors token create --door mcp',
        '--scope <scope>': {
          about: 'on standard input and output: what the client may use, as for a token; all and approvals when left out; may be repeated',
          repeats: true as const,
        },
      },
      example: '',
      load: async () => (await import('./mcp-serve.ts')).mcpServe,
    }),
    own('completion', {
      about: 'print a script that completes commands, options and ids in your shell',
      takes: [':shell'],
      words: { shell: 'bash, zsh or fish' },
      example: 'bash > trayclaw.bash',
      load: async () => (await import('./completion/completion.ts')).completion,
    }),
  ];
}

/** Downloads that a person confirms. */
function downloading(): Entry[] {
  return [
    own('model install-engine', {
      about: 'install the engine that runs GGUF files without a server; says first what it downloads',
      options: { '--yes': 'without asking' },
      example: '--yes',
      load: async () => (await import('./engine.ts')).installEngine,
    }),
    own('model refresh-prices', {
      about: 'download the public price list, show what it would change, and use it',
      options: { '--yes': 'use it without asking' },
      example: '--yes',
      load: async () => (await import('./prices.ts')).refreshPrices,
    }),
  ];
}

function repairing(): Entry[] {
  return [
    own('doctor', {
      about: 'check that everything works',
      options: {
        '--full': 'also what takes long or asks the model: the whole chain, every artifact, every index, a try of the model',
        '--fix': 'do what the program can do about it; asks first, and with no terminal does only what is harmless',
      },
      example: '--fix',
      load: async () => (await import('./recover.ts')).doctor,
    }),
    own('recover', {
      about: 'guided recovery; lists the plans when no name is given',
      takes: [':kind?', ':target?'],
      words: { kind: 'the name of a plan, as the list shows it', target: 'the target of the plan, where the list shows one' },
      options: { '--yes': 'do it without asking' },
      example: 'rebuild-index --yes',
      load: async () => (await import('./recover.ts')).recover,
    }),
    own('backup restore', {
      about: 'put a backup in place; nothing may run meanwhile',
      takes: [':file'],
      paths: [':file'],
      words: { file: 'a file; last is the newest sound one in the data folder' },
      example: 'last',
      load: async () => (await import('./restore.ts')).restore,
    }),
  ];
}
