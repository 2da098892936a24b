// The table of slash commands: what the window, the terminal and chats offer, complete and explain. Parses lines; runs nothing.

import { didYouMean, nearNames } from '../base/near-names.ts';
import { err, ok, type Result } from '../base/result.ts';
import { AppError } from './errors.ts';

/** The kind of a parameter's value, used for completion. `text` and `path` take the rest of the line. */
export type CommandParameterKind = 'text' | 'path' | 'model' | 'amount' | 'choice' | 'command' | 'skill' | 'prompt' | 'id';

export interface CommandParameter {
  readonly name: string;
  readonly kind: CommandParameterKind;
  readonly isOptional: boolean;
  readonly choices?: readonly string[];
}

export interface CommandSpec {
  readonly name: string;
  readonly about: string;
  readonly parameters: readonly CommandParameter[];
  /** The operation that the command runs. Its permissions apply. */
  readonly op: string;
  /** The tool that the command runs, which passes the gate like any call. The command is available only while the tool is. */
  readonly tool?: string;
  /** Offered in chats as well as at this computer, or in chats only. A command without it is for this computer. */
  readonly inChats?: 'too' | 'only';
  /** Allows something if it has parameters. A chat whose sender is not proven may not do that, and neither may an old message. */
  readonly decides?: boolean;
}

const needs = (name: string, kind: CommandParameterKind): CommandParameter => ({ name, kind, isOptional: false });
const may = (name: string, kind: CommandParameterKind, choices?: readonly string[]): CommandParameter => ({
  name,
  kind,
  isOptional: true,
  ...(choices === undefined ? {} : { choices }),
});

export const commandTable: readonly CommandSpec[] = [
  { name: 'run', about: 'Run a command, without a model.', parameters: [needs('command', 'text')], op: 'tool.run', tool: 'exec' },
  { name: 'read', about: 'Read a file, without a model.', parameters: [needs('path', 'path')], op: 'tool.run', tool: 'read_file' },
  { name: 'calc', about: 'Calculate.', parameters: [needs('expression', 'text')], op: 'tool.run', tool: 'calc' },
  { name: 'new', about: 'Begin a new session.', parameters: [may('title', 'text')], op: 'session.create', inChats: 'too' },
  {
    name: 'sessions',
    about: 'List the newest sessions; with a number, continue that one; with words, find some.',
    parameters: [may('words', 'text')],
    op: 'session.search',
    inChats: 'too',
  },
  {
    name: 'rule',
    about: 'Pin a rule for this session, shown to the model in every request; with no words, list them.',
    parameters: [may('words', 'text')],
    op: 'rule.pin',
  },
  { name: 'unrule', about: 'Take a pinned rule back.', parameters: [needs('id', 'id')], op: 'rule.unpin' },
  { name: 'compact', about: 'Sum up now what is older than the last exchanges.', parameters: [], op: 'session.compact' },
  { name: 'retry', about: 'Run the last message again.', parameters: [may('model', 'model')], op: 'turn.retry' },
  { name: 'stop', about: 'Stop what this session is doing.', parameters: [], op: 'turn.cancel', inChats: 'too' },
  {
    name: 'undo',
    about: 'Put back the files that the last call, or the named one, changed.',
    parameters: [may('id', 'id')],
    op: 'checkpoint.restore',
  },
  {
    name: 'model',
    about: 'Show the models, or choose one for this session.',
    parameters: [may('model', 'model')],
    op: 'session.configure',
  },
  {
    name: 'plan',
    about: 'Let only reads run here until you approve a plan, or with steps each of its steps too; off ends that.',
    parameters: [may('mode', 'choice', ['whole', 'steps', 'off'])],
    op: 'session.configure',
    inChats: 'too',
    decides: true,
  },
  {
    name: 'budget',
    about: 'Show the budget, or allow so many US dollars more.',
    parameters: [may('amount', 'amount'), may('scope', 'choice', ['turn', 'session', 'day'])],
    op: 'budget.allow',
    inChats: 'too',
    decides: true,
  },
  { name: 'remember', about: 'Keep something for later conversations.', parameters: [needs('text', 'text')], op: 'memory.add' },
  { name: 'recall', about: 'Search what is remembered.', parameters: [needs('words', 'text')], op: 'memory.recall' },
  {
    name: 'skill',
    about: 'Show the skills, or do something by the instructions of one.',
    parameters: [may('skill', 'skill'), may('text', 'text')],
    op: 'message.send',
  },
  {
    name: 'prompt',
    about: 'Show the saved prompts, or send one.',
    parameters: [may('prompt', 'prompt'), may('text', 'text')],
    op: 'message.send',
  },
  { name: 'status', about: 'Show the current state.', parameters: [], op: 'session.get', inChats: 'too' },
  { name: 'export', about: 'Write out this session.', parameters: [may('format', 'choice', ['markdown', 'jsonl'])], op: 'session.export' },
  { name: 'panic', about: 'Stop everything at once.', parameters: [may('reason', 'text')], op: 'panic.engage', inChats: 'too' },
  { name: 'release', about: 'Release the panic stop.', parameters: [], op: 'panic.release' },
  {
    name: 'approve',
    about: 'Approve once the request with this id; without an id, list what waits.',
    parameters: [may('id', 'text')],
    op: 'approval.decide',
    inChats: 'only',
  },
  { name: 'deny', about: 'Deny what waits.', parameters: [may('id', 'text')], op: 'approval.decide', inChats: 'only' },
  { name: 'answer', about: 'Answer what an MCP server asks.', parameters: [may('text', 'text')], op: 'mcp.answer', inChats: 'only' },
  { name: 'help', about: 'Explain the commands.', parameters: [may('command', 'command')], op: 'command.list', inChats: 'too' },
];

const beginning: ReadonlySet<string> = new Set(['tool.run', 'message.send', 'session.create', 'session.configure']);

export function mayBeginSession(line: string): boolean {
  const { name } = splitLine(line);
  return commandTable.some((command) => command.name === name.toLowerCase() && beginning.has(command.op));
}

export const chatCommands = commandTable.filter(({ inChats }) => inChats !== undefined);

export interface ParsedCommand {
  readonly spec: CommandSpec;
  /** Keyed by parameter name. Omitted parameters are missing. */
  readonly values: Readonly<Record<string, string>>;
}

/** For example `/budget [amount] [turn|session|day]`. */
export function usageOf({ name, parameters }: CommandSpec): string {
  const shown = parameters.map((parameter) => {
    const word = parameter.choices?.join('|') ?? parameter.name;
    return parameter.isOptional ? `[${word}]` : word.toUpperCase();
  });
  return [`/${name}`, ...shown].join(' ');
}

function splitLine(line: string): { readonly name: string; readonly given: string } {
  const [, name = '', given = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line.trim()) ?? [];
  return { name, given };
}

/** Fails with `invalid_params` for an unknown command, a missing or extra parameter, or an invalid choice. */
export function parseCommand(line: string, commands: readonly CommandSpec[] = commandTable): Result<ParsedCommand, AppError> {
  const { name, given } = splitLine(line);
  const spec = commands.find((command) => command.name === name.toLowerCase());
  if (spec === undefined) {
    const near = nearNames(
      name,
      commands.map((command) => command.name),
    ).map((one) => `/${one}`);
    const hint = [didYouMean(near), `See /help, or write //${name} to send it as a message.`].filter((one) => one !== null).join(' ');
    return err(new AppError('invalid_params', `There is no command /${name}.`, { hint }));
  }
  const values: Record<string, string> = {};
  let rest = given.trim();
  for (const parameter of spec.parameters) {
    const [value, after] = takeValue(rest, parameter);
    if (value === '' && !parameter.isOptional) return err(wrong(spec, `/${spec.name} needs ${article(parameter.name)}.`));
    if (value !== '' && !fits(value, parameter)) return err(wrong(spec, `"${value}" is not ${article(expected(parameter))}.`));
    if (value !== '') values[parameter.name] = value;
    rest = after;
  }
  return rest === '' ? ok({ spec, values }) : err(wrong(spec, `/${spec.name} does not take "${rest.slice(0, 60)}".`));
}

function takeValue(text: string, { kind }: CommandParameter): readonly [value: string, rest: string] {
  if (kind === 'text') return [text, ''];
  if (kind === 'path') return [/^(["'])(.*)\1$/s.exec(text)?.[2] ?? text, ''];
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
  return [word, rest];
}

function fits(value: string, { kind, choices }: CommandParameter): boolean {
  if (kind === 'amount') return /^\$?\d{1,6}(\.\d{1,6})?$/.test(value) && Number(value.replace('$', '')) > 0;
  return choices === undefined || choices.includes(value);
}

function expected({ kind, choices, name }: CommandParameter): string {
  if (kind === 'amount') return 'amount in US dollars';
  return choices === undefined ? name : `choice of ${choices.join(', ')}`;
}

function article(words: string): string {
  return /^[aeiou]/.test(words) ? `an ${words}` : `a ${words}`;
}

function wrong(spec: CommandSpec, message: string): AppError {
  return new AppError('invalid_params', message, { hint: `Use it like this: ${usageOf(spec)}` });
}
