// Runs a command that is an operation: parses its parameters, asks for confirmation if needed, and shows the result through its view.

import { sleep } from '../../../base/waits.ts';
import { AppError } from '../../../contracts/errors.ts';
import type { OpName, OpParams, OpResult } from '../../../contracts/ops.ts';
import { cliCaller } from '../caller.ts';
import type { CommandContext } from '../command-context.ts';
import { confirmed } from '../questions.ts';
import type { Connection } from '../connect.ts';
import { exitCodes } from '../exit-code.ts';
import { findView } from '../views/views.ts';
import { takenBy, type Entry, type Given } from './entries.ts';
import { fieldsOf } from './fields.ts';
import { readParams } from './read-params.ts';
import { shownBy } from './view.ts';

/** After this time the command tells a person at a terminal that it takes longer. */
const SLOW_MS = 3_000;

export async function runOperation(context: CommandContext, entry: Entry, given: Given): Promise<number> {
  const { source, form } = entry;
  if (!('op' in source)) throw new AppError('internal', 'The command is not an operation.');
  const { op, opForm } = source;
  const read = readParams(entry, fieldsOf(op), { given, cwd: context.io.cwd, userFolder: context.io.userFolder });
  if (form.stdin !== undefined) read[form.stdin] = await context.readStdin();
  if (opForm.follows === true) {
    const { runTurn } = await import('../ask.ts');
    return runTurn(context, (claw) => claw.op(op as 'turn.retry', read as OpParams<'turn.retry'>));
  }
  const shows = form.shows ?? opForm.shows;
  const byHand = await findView(op);
  const view = shows === undefined ? byHand : { ...shownBy<typeof op>(shows), ...byHand };
  if (view === null) throw new AppError('internal', `The operation ${op} has no view.`);
  const params = view.params === undefined ? (read as OpParams<typeof op>) : await view.params(read, { given, context });
  if (form.confirm !== undefined && !(await isConfirmed(context, entry, given))) return exitCodes.failed;
  if ('perform' in view) return view.perform(context, params, given);
  const shown = view.others?.[entry.path.join(' ')] ?? view;
  return context.withClaw(opForm.live === true ? 'live' : 'any', async (connection) => {
    const result = await callOp(context, connection, [op, params]);
    if (result === null) return exitCodes.interrupted;
    const { output } = context;
    const forStdout = (text: string): string => output.forStdout(text);
    const showing = { paint: output.paint, params, forStdout, program: context.program, isRunning: connection.instance !== null };
    const exitCode = shown.exitCode?.(result, params) ?? (isDone(result, opForm.doneWhen) ? exitCodes.done : exitCodes.failed);
    const why = shown.saysWhyNot === true && exitCode !== exitCodes.done;
    output.result(shown.json?.(result, params) ?? result, () => shown.show(result, showing), why ? 'stderr' : 'stdout');
    const next = shown.next?.(result) ?? null;
    if (next !== null) output.note(`There is more: add ${next}`);
    return exitCode;
  });
}

/** Null if Ctrl-C aborted it. Tells a person at a terminal if it takes longer. */
async function callOp<N extends OpName>(
  context: CommandContext,
  { claw }: Connection,
  [op, params]: readonly [N, OpParams<N>],
): Promise<OpResult<N> | null> {
  const gone = new AbortController();
  const over = new AbortController();
  const stopListening = context.io.onInterrupt(() => gone.abort());
  if (context.hasPerson) void sayWhenSlow(context, over.signal);
  try {
    return await claw.op(op, params, { ...cliCaller, signal: gone.signal });
  } catch (cause) {
    if (gone.signal.aborted) return null;
    throw cause;
  } finally {
    over.abort();
    stopListening();
  }
}

async function sayWhenSlow(context: CommandContext, signal: AbortSignal): Promise<void> {
  await sleep(SLOW_MS, signal);
  if (!signal.aborted) context.output.note('Still at work; Ctrl-C gives it up.');
}

function isDone(result: unknown, field: string | undefined): boolean {
  return field === undefined || (result as Readonly<Record<string, unknown>>)[field] === true;
}

/** Without a terminal, only --yes confirms. */
async function isConfirmed(context: CommandContext, { form }: Entry, given: Given): Promise<boolean> {
  if (given['yes'] === true) return true;
  if (!context.hasPerson) throw new AppError('invalid_params', 'Nothing was done: with no terminal to ask at, this needs --yes.');
  const named = takenBy(form)
    .map(({ name }) => given[name])
    .filter((one) => typeof one === 'string');
  const isYes = await confirmed(context, named.join(' '), form.confirm ?? '');
  if (!isYes) context.output.say('Nothing was done.');
  return isYes;
}
