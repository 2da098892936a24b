// `undo`: restores files to their state before a call, a turn or a session, previews that, or lists what can be undone.

import { resolve } from 'node:path';
import { AppError } from '../../contracts/errors.ts';
import type { OpParams, OpResult } from '../../contracts/ops.ts';
import type { CommandContext } from './command-context.ts';
import { tabled } from './kernel/view.ts';
import { exitCodes } from './exit-code.ts';
import { describeFile } from './file-diff.ts';
import type { Paint } from './output.ts';
import { safeForTerminal } from '../../base/visible-text.ts';

interface UndoOptions {
  readonly preview?: boolean;
  readonly keepGoing?: boolean;
  readonly force?: boolean;
  readonly file?: string;
  readonly part?: readonly string[];
  readonly seen?: string;
}

export function undo(context: CommandContext, { id, ...options }: UndoOptions & { readonly id?: string }): Promise<number> {
  return id === undefined ? listUndoable(context, options) : undoOne(context, id, options);
}

function undoOne(context: CommandContext, id: string, options: UndoOptions): Promise<number> {
  const force = options.force === true ? { force: true } : {};
  const keepGoing = options.keepGoing === true ? { keepGoing: true } : {};
  const part = partOf(options, context.io.cwd);
  const isTurn = id.startsWith('trn_');
  // A call may be typed as a prefix of its letters; session names have any form.
  const isSession = !isTurn && (part !== null || !/^(?:call_.*|(?!last$)[0-9A-Za-z]{4,25})$/.test(id));
  const view = {
    human: (result: OpResult<'checkpoint.restore'>, paint: Paint) => describeRestore(result, paint, context.program),
    exitCode: ({ refused }: OpResult<'checkpoint.restore'>) => (refused.length > 0 ? exitCodes.failed : exitCodes.done),
  };
  if (isSession || part !== null) {
    if (options.preview === true)
      throw new AppError('invalid_params', '--preview shows a call or a turn as a whole.', {
        hint: `For others: ${context.program} review ${id}`,
      });
    const of = isSession ? { sessionId: id } : { turnId: id };
    return context.runOp('checkpoint.undo', { ...of, ...part, ...force, ...keepGoing }, view);
  }
  const target = isTurn ? { turnId: id } : { callId: id };
  if (options.preview === true)
    return context.runOp(
      'checkpoint.preview',
      { ...target, ...force },
      {
        human: describePreview,
        exitCode: ({ files }) => (files.some(({ refused }) => refused !== null) ? exitCodes.failed : exitCodes.done),
      },
    );
  return context.runOp('checkpoint.restore', { ...target, ...force, ...keepGoing }, view);
}

/** Null if no part is named. The parts of a review are numbered from 1. */
function partOf({ file, part, seen }: UndoOptions, cwd: string): Pick<OpParams<'checkpoint.undo'>, 'path' | 'hunks' | 'version'> | null {
  if (file === undefined && part === undefined) return null;
  if (file === undefined) throw new AppError('invalid_params', 'Name the --file that the part is of.');
  const path = resolve(cwd, file);
  if (part === undefined) return { path };
  if (seen === undefined) throw new AppError('invalid_params', 'Parts need --seen with the version that the review of the file showed.');
  return { path, hunks: part.map(partNumber), version: seen };
}

function partNumber(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text) - 1;
  throw new AppError('invalid_params', `${JSON.stringify(text)} is not the number of a part; a review counts them from 1.`);
}

function listUndoable(context: CommandContext, options: UndoOptions): Promise<number> {
  if (options.preview === true || options.keepGoing === true || options.force === true || options.file !== undefined)
    throw new AppError('invalid_params', 'Name the call, the turn or the session to undo.');
  return context.runOp(
    'checkpoint.list',
    { limit: 50 },
    {
      json: ({ checkpoints }) => checkpoints,
      human: ({ checkpoints }) =>
        tabled(checkpoints, { CALL: 'callId', TURN: 'turnId', WHEN: 'atMs', WHAT: describeFiles }, 'Nothing was written yet.'),
    },
  );
}

function describeFiles({ files, undoes, closed }: OpResult<'checkpoint.list'>['checkpoints'][number]): string {
  const changed = files.filter(({ change }) => change !== 'none');
  const words = changed.map(({ path, change }) => `${change} ${path}`).join(', ');
  const what = words === '' ? 'changed nothing' : words;
  return `${undoes.length > 0 ? `undo of ${undoes.join(', ')}: ` : ''}${what}${closed ? '' : ' (not seen to its end)'}`;
}

function describePreview({ files }: OpResult<'checkpoint.preview'>, paint: Paint): string {
  if (files.length === 0) return 'There is nothing to put back.';
  return files.map((file) => describePreviewed(file, paint)).join('\n\n');
}

function describePreviewed(file: OpResult<'checkpoint.preview'>['files'][number], paint: Paint): string {
  if (file.refused === null) return describeFile(file, { verb: verbs[file.change], numbered: false }, paint);
  return `${paint('red', 'refused')} ${safeForTerminal(file.path)}: ${safeForTerminal(file.refused)}`;
}

/** The effect of a restore on a file. */
const verbs = {
  created: 'puts back',
  changed: 'puts back',
  removed: 'removes',
  none: 'leaves as it is',
  unknown: 'puts back',
} as const;

function describeRestore(result: OpResult<'checkpoint.restore'>, paint: Paint, program: string): string {
  const { restoreId, restored, refused, unchanged } = result;
  const paths = (files: readonly { readonly path: string }[]): string[] => files.map(({ path }) => `  ${safeForTerminal(path)}`);
  const lines: string[] = [];
  if (restored.length > 0) lines.push(`${paint('green', 'Put back')}:`, ...paths(restored));
  if (unchanged.length > 0) lines.push('As before already:', ...paths(unchanged));
  if (refused.length > 0) {
    lines.push(`${paint('red', restored.length > 0 ? 'Not put back' : 'Nothing was put back. Refused')}:`);
    for (const { path, reason } of refused) lines.push(`  ${safeForTerminal(path)}: ${safeForTerminal(reason)}`);
    lines.push('Look closer with --preview; --keep-going puts back the others, --force also what was changed since.');
  }
  if (lines.length === 0) lines.push('There was nothing to put back.');
  if (restoreId !== null) lines.push(`To take this back: ${program} undo ${restoreId}`);
  return lines.join('\n');
}
