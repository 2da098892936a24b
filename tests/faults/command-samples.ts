// One command line for each command of the tree, and whether it only reads: written by hand, or the example of an operation's command.
// endings.test.ts checks that the list is complete.

import type { Command } from 'commander';
import { opForms } from '../../core/contracts/op-forms.ts';
import { createProgram } from '../../core/doors/cli/cli.ts';

/** The ids of a used data folder that the samples refer to. */
export interface SamplePlace {
  readonly session: string;
  readonly turn: string;
  readonly call: string;
  readonly approval: string;
  /** A folder of documents and a file, both outside the data folder. */
  readonly folder: string;
  readonly file: string;
}

export interface Sample {
  readonly line: (place: SamplePlace) => readonly string[];
  readonly looks: boolean;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** True if it runs until it is stopped. */
  readonly stays?: boolean;
}

const look = (line: Sample['line'], more: Partial<Sample> = {}): Sample => ({ line, looks: true, ...more });
const act = (line: Sample['line'], more: Partial<Sample> = {}): Sample => ({ line, looks: false, ...more });

/** Commands without arguments that only read. */
const plain = [
  'approvals list',
  'folders list',
  'grants list',
  'outcomes list',
  'sessions list',
  'artifacts list',
  'policy show',
  'budget show',
  'agents list',
  'subagents list',
  'sandbox explain',
  'rules list',
  'tools',
  'packs list',
  'audit verify',
  'usage',
  'models',
  'model presets',
  'model engine',
  'config get',
  'config schema',
  'secret status',
  'secret list',
  'backup list',
  'undo',
  'history',
  'folders list',
  'activity search',
  'dlq list',
  'doctor',
  'recover',
  'outbox list',
  'chats list',
  'telegram status',
  'telegram list',
  'channels list',
  'channels people',
  'schedule list',
  'heartbeat show',
  'tasks list',
  'memory list',
  'memory export',
  'knowledge list',
  'signals list',
  'skills list',
  'identity show',
  'identity versions',
  'prompts list',
];

const byHand: Readonly<Record<string, Sample>> = {
  ...Object.fromEntries(plain.map((path) => [path, look(() => [])])),
  'grants preview': look(() => ['{"kind":"folder","tool":"write_file","folder":"/tmp"}']),
  'sessions show': look(({ session }) => [session]),
  'sessions search': look(() => ['hello']),
  'sessions export': look(({ session }) => [session]),
  'artifacts get': look(() => ['0'.repeat(64)]),
  'policy explain': look(() => ['{"tool":"exec","args":{"command":"ls"}}']),
  'safety url': look(() => ['https://example.org/']),
  'safety redact': look(() => [], { stdin: 'plain words' }),
  'agents show': look(() => ['main']),
  'turns show': look(({ turn }) => [turn]),
  'packs show': look(() => ['pck_none']),
  replay: look(({ turn }) => [turn]),
  'backup create': look(() => []),
  'backup verify': look(({ file }) => [file]),
  'activity events': look(({ turn }) => [turn]),
  'activity export': look(({ turn }) => [turn]),
  'schedule show': look(() => ['sch_none']),
  'schedule next': look(() => ['--every', '1h']),
  'memory recall': look(() => ['cats']),
  'memory show': look(() => ['mem_none']),
  'knowledge status': look(() => ['docs']),
  'knowledge search': look(() => ['cats']),
  'knowledge preview': look(({ folder }) => [folder]),
  'skills show': look(() => ['none']),
  'skills lint': look(() => ['none']),
  'identity diff': look(() => []),
  'prompts show': look(() => ['none']),
  'prompts versions': look(() => ['none']),
  'prompts diff': look(() => ['none']),
  'service install': look(() => ['--print']),
  'service status': look(() => []),
  completion: look(() => ['bash']),
  panic: look(() => ['--status']),

  ask: act(() => ['Calculate 1 + 1']),
  tool: act(() => ['calc', '{"expression":"1+1"}']),
  calc: act(() => ['1+1']),
  'turns cancel': act(({ turn }) => [turn]),
  'turns steer': act(({ turn }) => [turn, 'Be brief.']),
  chat: act(() => [], { stdin: 'Calculate 2 + 2\n/quit\n' }),
  'approvals approve': act(({ approval }) => [approval]),
  'approvals deny': act(({ approval }) => [approval]),
  'folders trust': act(({ folder }) => [folder]),
  'folders forget': act(({ folder }) => [folder]),
  setup: act(() => ['--provider', 'demo', '--yes']),
  'grants revoke': act(() => ['grt_none']),
  'outcomes settle': act(({ call }) => [call, 'done']),
  'sessions compact': act(({ session }) => [session]),
  'sessions fork': act(({ session }) => [session]),
  'sessions rename': act(({ session }) => [session, 'A name']),
  'sessions archive': act(({ session }) => [session]),
  'sessions pin': act(({ session }) => [session]),
  'sessions seen': act(({ session }) => [session]),
  'sessions configure': act(({ session }) => [session]),
  'sessions delete': act(() => ['ses_none']),
  'budget allow': act(() => ['1']),
  'subagents cancel': act(() => ['job_none']),
  'rules pin': act(() => ['Be brief.']),
  'rules unpin': act(() => ['rul_none']),
  'turns continue': act(({ turn }) => [turn]),
  'turns retry': act(({ turn }) => [turn]),
  'turns branch': act(({ turn }) => [turn, 'Calculate 3 + 3']),
  'model test': act(() => ['demo/offline']),
  'audit accept': act(() => []),
  'config set': act(() => ['limits.steps', '40']),
  'secret set': act(() => ['name'], { stdin: 'a value to keep\n' }),
  'secret unlock': act(() => [], { stdin: 'a passphrase\n' }),
  'secret delete': act(() => ['name']),
  'backup restore': act(({ file }) => [file]),
  serve: act(() => [], { stays: true }),
  'service uninstall': act(() => []),
  start: act(() => ['--port', '0'], { stays: true }),
  'dlq retry': act(() => ['dlq_none']),
  'dlq clear': act(() => ['--all']),
  'outbox settle': act(() => ['out_none', 'sent']),
  'chats bind': act(() => ['telegram', '1']),
  'telegram pair': act(() => []),
  'telegram confirm': act(() => ['none']),
  'telegram refuse': act(() => ['none']),
  'telegram revoke': act(() => ['1']),
  'telegram pause': act(() => []),
  'telegram resume': act(() => []),
  'channels pair': act(() => ['none']),
  'channels confirm': act(() => ['none']),
  'channels refuse': act(() => ['none']),
  'channels revoke': act(() => ['none', '1']),
  'channels pause': act(() => ['none']),
  'channels resume': act(() => ['none']),
  'schedule add': act(() => ['Say hello', '--every', '1d']),
  'schedule run': act(() => ['sch_none']),
  'schedule change': act(() => ['sch_none', '--every', '2h']),
  'schedule pause': act(() => ['sch_none']),
  'schedule resume': act(() => ['sch_none']),
  'schedule remove': act(() => ['sch_none']),
  'heartbeat run': act(() => []),
  'tasks add': act(() => ['Read the notes']),
  'tasks done': act(() => ['tsk_none']),
  'tasks drop': act(() => ['tsk_none']),
  'memory add': act(() => ['The cat is called Tom.']),
  'memory promote': act(() => ['mem_none']),
  'memory reject': act(() => ['mem_none']),
  'memory forget': act(() => ['mem_none']),
  'memory pin': act(() => ['mem_none']),
  'memory settle': act(() => ['mem_none', 'mem_other', 'first']),
  'memory import': act(() => ['-']),
  'knowledge add': act(({ folder }) => ['more', folder, '--outside']),
  'knowledge remove': act(() => ['more']),
  'knowledge reindex': act(() => []),
  'signals send': act(() => ['note', 'hello']),
  'skills import': act(({ folder }) => [folder]),
  'skills remove': act(() => ['none']),
  'skills trust': act(() => ['none']),
  'skills enable': act(() => ['none']),
  'skills disable': act(() => ['none']),
  'skills reload': act(() => []),
  'skills search': act(() => ['none']),
  'skills install': act(({ folder }) => [folder, '--yes']),
  'skills update': act(() => ['--yes']),
  'skills outdated': act(() => []),
  'skills info': look(() => ['none']),
  'skills pin': act(() => ['none']),
  'skills unpin': act(() => ['none']),
  'skills new': act(({ folder }) => ['made', folder]),
  'skills test': act(({ folder }) => [folder]),
  'skills pack': act(({ folder }) => [folder]),
  'skills publish': act(({ folder }) => [folder, folder]),
  'models route': look(() => ['hello']),
  'governor explain': look(() => ['trn_none']),
  'governor try': look(() => []),
  'model opinion': act(() => ['trn_none']),
  'model opinions': look(() => ['trn_none']),
  // Without --yes it prints the sizes and downloads nothing.
  'model install-engine': act(() => []),
  'model remove-engine': act(() => []),
  // Run as if by a tool call, which is refused, because it downloads a list from the internet.
  'model refresh-prices': act(() => [], { env: { TRAYCLAW_CALL: 'call_1' } }),
  acp: act(() => []),
  'doors list': look(() => []),
  'doors token list': look(() => []),
  'doors token create': act(() => ['--name', 'sample']),
  'doors token revoke': act(() => ['sample']),
  'a2a card': look(() => []),
  'a2a peers': look(() => []),
  'telemetry export': act(() => ['none']),
  'telemetry flush': act(() => []),
  'mcp list': look(() => []),
  'mcp add': act(() => ['web', '--url', 'http://127.0.0.1:9/mcp']),
  'mcp remove': act(() => ['none', '--yes']),
  'mcp test': act(() => ['none']),
  'mcp stop': act(() => ['none']),
  'mcp serve': act(() => []),
  'mcp approve': act(() => ['none', '0'.repeat(64)]),
  'mcp import': act(() => ['none.json']),
  'mcp resources': act(() => ['none']),
  'mcp read': act(() => ['none', 'demo://a']),
  'mcp prompts': act(() => ['none']),
  'mcp prompt': act(() => ['none', 'review']),
  'mcp answer': act(() => ['qst_none', '--action', 'decline']),
  'mcp login': act(() => ['none']),
  'mcp logout': act(() => ['none']),
  'plugins list': look(() => []),
  'plugins approve': act(() => ['none.mjs', '0'.repeat(64)]),
  'plugins call': act(() => ['none.report']),
  'identity set': act(() => ['--soul', 'Kind and brief.']),
  'identity revert': act(() => ['1']),
  'prompts set': act(() => ['style', '-'], { stdin: 'Be brief.' }),
  'prompts refresh': act(() => []),
  'report make': look(() => []),
  'prompts accept': act(() => ['style', '0'.repeat(64)]),
};

const examples = Object.values(opForms).flatMap(({ commands = {} }) => Object.entries(commands));

/** The samples written by hand and, for every other command, its example. */
export const samples: Readonly<Record<string, Sample>> = {
  ...Object.fromEntries(examples.map(([path, { example = '' }]) => [path, act(() => exampleWords(example))])),
  ...byHand,
};

function exampleWords(example: string): readonly string[] {
  return [...example.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? '');
}

/** Every command of the tree that does something, in the words a person types. */
export async function commandPaths(): Promise<string[]> {
  const paths: string[] = [];
  const visit = (command: Command, words: readonly string[]): void => {
    // A group with options is a command as well: `models` lists, and `models route` explains a choice.
    const isCommand = command.commands.length === 0 || (words.length > 0 && command.options.length > 0);
    if (isCommand) paths.push(words.join(' '));
    for (const below of command.commands) visit(below, [...words, below.name()]);
  };
  visit(await createProgram('0.0.0', () => Promise.resolve()), []);
  return paths;
}
