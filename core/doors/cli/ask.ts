// `ask`, `tool` and `calc`: one message, or one tool call without a model, through the same gate as everything else.

import { isPlainObject } from '../../base/json.ts';
import type { Claw } from '../../contracts/claw.ts';
import { isCommandLine, messageOf } from '../../contracts/command-line.ts';
import { mayBeginSession } from '../../contracts/commands.ts';
import { AppError } from '../../contracts/errors.ts';
import type { OpParams, OpResult } from '../../contracts/ops.ts';
import type { AskResult } from '../../contracts/op-results.ts';
import type { ToolOutcome, ToolRunResult } from '../../contracts/tools.ts';
import { parseJsonArgument, parseNumber, type CommandContext } from './command-context.ts';
import type { Connection } from './connect.ts';
import { exitCodeOfTurn, exitCodes } from './exit-code.ts';
import { meetModel } from './first-contact.ts';
import { LineReader } from './line-reader.ts';
import { sayHowToGoOn } from './more-budget.ts';
import { cliCaller } from './caller.ts';
import { TurnConversation, type ConversationEnd, type ConversationOptions } from './turn-conversation.ts';
import { choosePlace, filesOf, type MessagePlace, type PlaceOptions } from './work-place.ts';

export interface AskOptions extends PlaceOptions {
  readonly agent?: string;
  readonly model?: string;
  readonly file?: readonly string[];
}

/** The fields of a message that depend only on the options. */
export function messageOptions({ agent, model }: AskOptions): Pick<OpParams<'message.send'>, 'agentId' | 'model'> {
  return { ...(agent === undefined ? {} : { agentId: agent }), ...(model === undefined ? {} : { model }) };
}

const timeoutBounds = { minimum: 0.001, maximum: 86_400, unit: 'seconds' };

interface AskGiven extends AskOptions {
  readonly text: readonly string[];
  readonly schema?: string;
  readonly timeout?: string;
}

export async function ask(context: CommandContext, { text: words, schema: schemaFile, timeout, ...options }: AskGiven): Promise<number> {
  const given = words.join(' ');
  const text = given === '-' ? await context.readStdin() : given;
  if (text.trim() === '') throw new AppError('invalid_params', 'There is nothing to ask.');
  const schema = schemaFile === undefined ? null : await readSchema(context, schemaFile);
  if (schema !== null && isCommandLine(text)) throw new AppError('invalid_params', 'A slash command has no answer that could be a value.');
  const timeoutMs = timeout === undefined ? undefined : parseNumber(timeout, '--timeout', timeoutBounds) * 1000;
  const files = filesOf(context, options.file ?? [], given === '-' ? '' : text);
  return context.withClaw('live', async ({ claw }) => {
    if (isCommandLine(text)) return runCommandLine(context, claw, text, { ...options, timeoutMs });
    const streams = !context.output.isJson && schema === null;
    const end = await withLines(context, async (lines) => {
      if (options.session === undefined && options.model === undefined) await meetModel(context, claw, lines);
      const place = await choosePlace(context, options, { claw, lines });
      return new TurnConversation(context, { claw, lines, streams, timeoutMs }).send({
        text: messageOf(text),
        ...place,
        ...messageOptions(options),
        ...files,
      });
    });
    return schema === null ? reportEnd(context, end) : reportValue(context, claw, end, schema);
  });
}

/** Fails with `not_found` or `invalid_params`. */
async function readSchema(context: CommandContext, file: string): Promise<OpParams<'turn.value'>['schema']> {
  const schema = parseJsonArgument(await context.readText(file), `The schema ${file}`);
  if (!isPlainObject(schema)) throw new AppError('invalid_params', `The schema ${file} is not a JSON object.`);
  return schema;
}

/** Prints only the value to standard output, because another program reads it. */
async function reportValue(
  context: CommandContext,
  claw: Claw,
  end: ConversationEnd,
  schema: OpParams<'turn.value'>['schema'],
): Promise<number> {
  const { result } = end;
  if (result.status !== 'done') return reportEnd(context, { ...end, result: { ...result, text: '' } });
  const { value } = await claw.op('turn.value', { turnId: result.turnId, schema });
  context.output.result({ ...result, value }, () => context.output.forStdout(JSON.stringify(value, null, 2)));
  return exitCodes.done;
}

/** Runs a slash command, as in chat. */
async function runCommandLine(
  context: CommandContext,
  claw: Claw,
  line: string,
  { timeoutMs, ...options }: AskOptions & Pick<ConversationOptions, 'timeoutMs'>,
): Promise<number> {
  const choose = (): Promise<MessagePlace> => withLines(context, (lines) => choosePlace(context, options, { claw, lines }));
  // A command that begins no session needs no folder.
  const place = mayBeginSession(line) ? await choose() : options.session === undefined ? {} : { sessionId: options.session };
  const ran = await claw.op('command.run', { line, ...place });
  const { turnId, follow } = ran;
  if (turnId === null || !follow) {
    context.output.result(ran, () => context.output.forStdout(ran.file?.text ?? ran.text));
    return exitCodes.done;
  }
  context.output.note(ran.text);
  const streams = !context.output.isJson;
  const end = await withLines(context, (lines) =>
    new TurnConversation(context, { claw, lines, streams, timeoutMs }).run(() => Promise.resolve({ turnId })),
  );
  return reportEnd(context, end);
}

/** Starts a turn that continues the work of an ended one, and follows it like a message. */
export function runTurn(context: CommandContext, start: (claw: Claw) => Promise<OpResult<'message.send'>>): Promise<number> {
  return context.withClaw('live', async ({ claw }) => {
    const streams = !context.output.isJson;
    const end = await withLines(context, (lines) => new TurnConversation(context, { claw, lines, streams }).run(() => start(claw)));
    return reportEnd(context, end);
  });
}

/** Like `reportAnswer`, plus the commands to continue if a budget ended the turn. */
function reportEnd(context: CommandContext, end: ConversationEnd): number {
  const code = reportAnswer(context, end);
  sayHowToGoOn(context, end.result);
  return code;
}

/** Reports how a streamed turn ended. Its text has already been printed. */
export function reportAnswer(context: CommandContext, { result, stopCode }: ConversationEnd): number {
  const { output } = context;
  if (output.isJson) output.jsonLine(result);
  else {
    if (result.text !== '') output.raw('\n');
    if (result.error !== undefined) output.explain(result.error);
    if (result.status === 'waiting') sayPending(context, result.pending ?? []);
  }
  return stopCode ?? exitCodeOfTurn(result);
}

interface ToolGiven {
  readonly name: string;
  readonly args?: string;
  readonly session?: string;
  readonly cwd?: string;
}

export function calc(context: CommandContext, { expression }: { readonly expression: readonly string[] }): Promise<number> {
  return tool(context, { name: 'calc', args: JSON.stringify({ expression: expression.join(' ') }) });
}

export async function tool(context: CommandContext, { name, ...given }: ToolGiven): Promise<number> {
  const args = parseJsonArgument(given.args ?? '{}', 'The tool arguments');
  return context.withClaw('live', async (connection) => {
    // Arithmetic needs no folder.
    const place = name === 'calc' && given.session === undefined ? {} : await choosePlace(context, given, { ...connection, lines: null });
    const params: OpParams<'tool.run'> = { tool: name, args, wait: false, ...place };
    let started: OpResult<'tool.run'> | null = null;
    const end = await withLines(context, (lines) => {
      const conversation = new TurnConversation(context, { claw: connection.claw, lines, streams: false });
      return conversation.run(async (signal) => (started = await connection.claw.op('tool.run', params, { ...cliCaller, signal })));
    });
    if (started === null) throw new AppError('internal', 'The tool call gave no result.');
    const result = await finalResult(connection, started, end);
    // The text of a failed call is not a result, so it must not end up in a variable or a file of a script.
    if (context.output.isJson || result.outcome === 'ok' || result.outcome === 'waiting')
      context.output.result(result, () => context.output.forStdout(result.forUser));
    else context.output.explain({ message: result.forUser });
    sayPending(context, end.result.pending ?? []);
    return end.stopCode ?? exitCodeOfCall(connection, result.outcome);
  });
}

type DirectResult = Omit<OpResult<'tool.run'>, 'pending'>;

/** The result of the call, which ended at once or after an approval given here. */
async function finalResult({ claw }: Connection, started: OpResult<'tool.run'>, end: ConversationEnd): Promise<DirectResult> {
  const { callId, outcome, forUser, forModel, artifacts, sessionId, turnId } = started;
  const first: DirectResult = { callId, outcome, forUser, forModel, artifacts, sessionId, turnId };
  if (outcome !== 'waiting' || end.result.status === 'waiting') return first;
  return { ...first, ...(await resultOfCall(claw, callId, end)) };
}

/** The events of a running instance may arrive after the end of the turn; the turn itself has the result then. Null while there is none. */
export async function resultOfCall(claw: Claw, callId: string, { calls, result }: ConversationEnd): Promise<ToolRunResult | null> {
  const seen = calls.findLast(({ body }) => body.callId === callId)?.body;
  if (seen !== undefined) {
    const { outcome, forUser, forModel, artifacts } = seen;
    return { callId, outcome, forUser, forModel, artifacts };
  }
  const turn = await claw.op('turn.get', { turnId: result.turnId });
  const call = turn.calls.find((one) => one.callId === callId);
  if (call === undefined) return null;
  const { outcome, forUser, forModel, artifacts } = call;
  const isOver = outcome !== 'running' && outcome !== 'proposed' && outcome !== 'waiting';
  return isOver ? { callId, outcome, forUser, forModel, artifacts } : null;
}

export async function exitCodeOfCall({ claw }: Pick<Connection, 'claw'>, outcome: ToolOutcome | 'waiting'): Promise<number> {
  if (outcome === 'ok') return exitCodes.done;
  if (outcome === 'waiting') return exitCodes.waiting;
  // A panic stop shows up as a denied or cancelled call. Scripts need to know that it was the stop.
  const panic = await claw.op('panic.status', {});
  if (panic.engaged) return exitCodes.panic;
  return outcome === 'denied' ? exitCodes.waiting : exitCodes.failed;
}

export function sayPending(context: CommandContext, pending: NonNullable<AskResult['pending']>): void {
  const { output } = context;
  if (output.isJson) return;
  for (const { approvalId, summary, risk } of pending) {
    output.say(`${output.paintNote('yellow', 'Waits for approval:')} ${summary} (${risk})`);
    output.say(`  ${context.program} approvals approve ${approvalId} --scope once`);
    output.say(`  ${context.program} approvals deny ${approvalId}`);
  }
}

async function withLines<T>(context: CommandContext, use: (lines: LineReader | null) => Promise<T>): Promise<T> {
  const lines = context.hasPerson ? await LineReader.open(context.io) : null;
  try {
    return await use(lines);
  } finally {
    lines?.close();
  }
}
