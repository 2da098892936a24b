// One hook of any kind: the events it applies to, its time limit, and the validation of its answer. Runs nothing itself.

import { basename } from 'node:path';
import { parseJson } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import {
  hookAnswerSchema,
  type HookAnswer,
  type HookConfig,
  type HookPoint,
  type HookSubject,
  type LibraryHook,
} from '../../contracts/features/hooks.ts';
import { endWords, type AskProgram, type ProgramEnd } from '../../hands/tools/tools.ts';

export interface HookEntry {
  readonly on: HookPoint;
  readonly name: string;
  readonly match: HookConfig['match'];
  readonly timeoutMs: number;
  readonly onFailure: 'deny' | 'ask' | 'ignore';
  /** Fails with an AppError if the hook gives no answer. */
  ask(subject: HookSubject, signal: AbortSignal): Promise<HookAnswer>;
}

const TIMEOUT_MS = 10_000;

export function entryOfConfig(hook: HookConfig, run: AskProgram): HookEntry {
  const { on, match, timeoutMs, command } = hook;
  const name = basename(command[0] ?? '');
  const ask = async (subject: HookSubject, signal: AbortSignal): Promise<HookAnswer> =>
    answerOf(name, await run(command, JSON.stringify(subject) + '\n', { timeoutMs, signal }));
  return { on, name, match, timeoutMs, onFailure: hook.onFailure ?? failureAt(on), ask };
}

export function entryOfLibrary(hook: LibraryHook): HookEntry {
  const { on, name, match, timeoutMs = TIMEOUT_MS } = hook;
  const ask = async (subject: HookSubject, signal: AbortSignal): Promise<HookAnswer> => {
    const answer = await within(Promise.resolve(hook.run(subject, signal)), name, timeoutMs);
    return checked(name, answer ?? {});
  };
  return { on, name, match, timeoutMs, onFailure: hook.onFailure ?? failureAt(on), ask };
}

/** Fails closed: a broken hook that runs before a tool denies the call. */
function failureAt(on: HookPoint): 'deny' | 'ignore' {
  return on === 'before_tool' ? 'deny' : 'ignore';
}

export function isAbout({ match }: HookEntry, { agentId, channel, tool }: HookSubject): boolean {
  if (match === undefined) return true;
  const fits = (wanted: readonly string[] | undefined, is: string | undefined): boolean =>
    wanted === undefined || (is !== undefined && wanted.includes(is));
  return fits(match.tools, tool?.name) && fits(match.classes, tool?.class) && fits(match.agents, agentId) && fits(match.channels, channel);
}

function answerOf(name: string, end: ProgramEnd): HookAnswer {
  const fail = (what: string): AppError => new AppError('tool_failed', `The hook ${name} ${what}.`);
  if (end.ending === 'timeout') throw fail('took too long and was ended');
  if (end.ending === 'cancelled') throw new AppError('cancelled', `The hook ${name} was stopped.`);
  if (end.ending === 'flooded') throw fail('printed too much and was ended');
  if (end.exitCode !== 0) throw fail(endWords(end.exitCode));
  if (end.remarks.length > 0) throw fail(`did what it may not: ${end.remarks.join('; ')}`);
  const text = end.output.trim();
  if (text === '') return {};
  const parsed = parseJson(text);
  if (!parsed.ok) throw fail('printed something that is not one JSON document');
  return checked(name, parsed.value);
}

function checked(name: string, value: unknown): HookAnswer {
  const answer = hookAnswerSchema.safeParse(value);
  if (answer.success) return answer.data;
  throw new AppError('tool_failed', `The hook ${name} gave an answer that is none: a hook may say deny or ask, a reason and a note.`);
}

async function within<T>(work: Promise<T>, name: string, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppError('tool_failed', `The hook ${name} took too long.`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
