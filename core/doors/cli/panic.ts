// `panic`: engages the panic stop, releases it and shows its state.

import { stoppedWords } from '../../contracts/panic-words.ts';
import type { PanicStatus } from '../../contracts/policy.ts';
import type { CommandContext } from './command-context.ts';
import { when } from './table.ts';

interface PanicOptions {
  readonly reason?: string;
  readonly release?: boolean;
  readonly status?: boolean;
}

export function panic(context: CommandContext, options: PanicOptions): Promise<number> {
  const view = { human: (status: PanicStatus) => describePanic(status) };
  if (options.status === true) return context.runOp('panic.status', {}, view);
  if (options.release === true) return context.runOp('panic.release', {}, view);
  return context.runOp('panic.engage', options.reason === undefined ? {} : { reason: options.reason }, view);
}

function describePanic(status: PanicStatus): string {
  if (!status.engaged) return 'Not stopped; things run.';
  return `${stoppedWords(status, ` since ${when(status.sinceMs)}`)}. Nothing runs until: trayclaw panic --release`;
}
