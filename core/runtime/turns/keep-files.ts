// Before a call that writes: checkpoints the current state of its paths, or prevents the call. Records nothing but a refusal.

import { resolve } from 'node:path';
import type { BeforeFile } from '../../contracts/checkpoints.ts';
import { toAppError } from '../../contracts/errors.ts';
import type { CallFacts, FactContext } from '../../contracts/tools.ts';
import type { CallState } from '../../agent/brain/brain.ts';
import type { ParsedCall } from './ports.ts';
import type { RunningTurn } from './running-turn.ts';

export interface ReadyCall {
  readonly call: CallState;
  readonly parsed: ParsedCall;
  /** The folders with which the call is judged and run. */
  readonly context: FactContext;
  /** Null for a read-only call without an approval. */
  readonly facts: CallFacts | null;
}

export interface KeptCall extends ReadyCall {
  /** Null if the call is not known to write anything. */
  readonly before: readonly BeforeFile[] | null;
}

/** Returns the calls that may run, in order; synchronously if there is little to save. A call whose files cannot be saved is rejected. */
export function keepFiles(runner: RunningTurn, ready: readonly ReadyCall[]): KeptCall[] | Promise<KeptCall[]> {
  const kept = ready.map((item) => keepOne(runner, item));
  const atOnce: KeptCall[] = [];
  let waits = false;
  for (const item of kept) {
    if (item instanceof Promise) waits = true;
    else if (item !== null) atOnce.push(item);
  }
  if (!waits) return atOnce;
  return Promise.all(kept.map((item) => Promise.resolve(item))).then((items) => items.filter((item) => item !== null));
}

/** The paths of a command as it names them: it may remove or replace a link of that name. */
function namesOf({ facts }: ReadyCall): string[] {
  if (facts === null || facts.command === null) return [];
  const { cwd } = facts.command;
  return facts.paths.filter(({ access }) => access === 'write').map(({ given }) => resolve(cwd, given));
}

export function writtenPaths(facts: CallFacts | null): string[] {
  return facts?.paths.filter(({ access }) => access === 'write').map(({ real }) => real) ?? [];
}

function keepOne(runner: RunningTurn, item: ReadyCall): KeptCall | null | Promise<KeptCall | null> {
  const paths = writtenPaths(item.facts);
  if (paths.length === 0) return { ...item, before: null };
  try {
    const before = runner.deps.checkpoints.take(paths, runner.abort.signal, namesOf(item));
    if (!(before instanceof Promise)) return { ...item, before };
    return before.then(
      (files) => ({ ...item, before: files }),
      (cause: unknown) => reject(runner, item, cause),
    );
  } catch (cause) {
    return reject(runner, item, cause);
  }
}

function reject(runner: RunningTurn, { call }: ReadyCall, cause: unknown): null {
  // A call interrupted because the program is closing is decided again at the next start.
  if (!runner.halted) runner.emit('tool.rejected', { callId: call.callId, tool: call.tool, error: toAppError(cause).toBody() });
  return null;
}
