// `panic`: engages the panic stop, releases it and shows its state. Ends an instance that does not answer, and needs no valid settings.

import { isAppError, type AppError } from '../../contracts/errors.ts';
import { stoppedWords } from '../../contracts/panic-words.ts';
import type { PanicStatus } from '../../contracts/policy.ts';
import type { CommandContext } from './command-context.ts';
import { when } from './table.ts';

interface PanicOptions {
  readonly reason?: string;
  readonly release?: boolean;
  readonly status?: boolean;
}

export async function panic(context: CommandContext, options: PanicOptions): Promise<number> {
  try {
    return await perform(context, options);
  } catch (cause) {
    if (!isAppError(cause) || cause.code !== 'invalid_config') throw cause;
    context.output.note(`config.yaml cannot be used, and the panic stop does without it. What is wrong: ${context.program} doctor`);
    return perform(context.withDefaultSettings(), options);
  }
}

function perform(context: CommandContext, options: PanicOptions): Promise<number> {
  const view = { human: (status: PanicStatus) => describePanic(status) };
  if (options.status === true) return context.runOp('panic.status', {}, view);
  if (options.release === true) return context.runOp('panic.release', {}, view);
  const params = options.reason === undefined ? {} : { reason: options.reason };
  return engageForSure(context, () => context.runOp('panic.engage', params, { ...view, need: 'urgent' }));
}

/**
 * A process that owns the data folder and does not answer cannot stop its work, so it is ended; the next one here stops what it left. It is
 * asked twice, because it may only be slow on a busy machine.
 */
async function engageForSure(context: CommandContext, engage: () => Promise<number>): Promise<number> {
  const locked = await lockedOr(engage);
  if (typeof locked === 'number') return locked;
  context.output.note('TrayClaw does not answer. It is asked once more, and ended if it stays silent.');
  const stillLocked = await lockedOr(engage);
  if (typeof stillLocked === 'number') return stillLocked;
  const pid = await context.parts.endOwner(context.home);
  if (pid === null) throw stillLocked;
  context.output.note(`TrayClaw (process ${pid}) did not answer and was ended. What it was doing: ${context.program} outcomes list`);
  return engage();
}

async function lockedOr(engage: () => Promise<number>): Promise<number | AppError> {
  try {
    return await engage();
  } catch (cause) {
    if (isAppError(cause) && cause.code === 'store_locked') return cause;
    throw cause;
  }
}

function describePanic(status: PanicStatus): string {
  if (!status.engaged) return 'Not stopped; things run.';
  return `${stoppedWords(status, ` since ${when(status.sinceMs)}`)}. Nothing runs until: trayclaw panic --release`;
}
