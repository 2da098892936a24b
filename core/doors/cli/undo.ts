// `undo`: restore files to their state before a call or a turn, preview that, or list what can be undone.

import { AppError } from '../../contracts/errors.ts';
import type { FileDiff } from '../../contracts/checkpoints.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodes } from './exit-code.ts';
import type { Paint } from './output.ts';
import { table, when } from './table.ts';
import { safeForTerminal } from '../../base/visible-text.ts';

interface UndoOptions {
  readonly preview?: boolean;
  readonly keepGoing?: boolean;
  readonly force?: boolean;
}

export function undo(context: CommandContext, { id, ...options }: UndoOptions & { readonly id?: string }): Promise<number> {
  return id === undefined ? listUndoable(context, options) : undoOne(context, id, options);
}

function undoOne(context: CommandContext, id: string, options: UndoOptions): Promise<number> {
  const target = id.startsWith('trn_') ? { turnId: id } : { callId: id };
  const force = options.force === true ? { force: true } : {};
  if (options.preview === true)
    return context.runOp(
      'checkpoint.preview',
      { ...target, ...force },
      {
        human: describePreview,
        exitCode: ({ files }) => (files.some(({ refused }) => refused !== null) ? exitCodes.failed : exitCodes.done),
      },
    );
  return context.runOp(
    'checkpoint.restore',
    { ...target, ...force, ...(options.keepGoing === true ? { keepGoing: true } : {}) },
    {
      human: (result, paint) => describeRestore(result, paint, context.program),
      exitCode: ({ refused }) => (refused.length > 0 ? exitCodes.failed : exitCodes.done),
    },
  );
}

function listUndoable(context: CommandContext, options: UndoOptions): Promise<number> {
  if (options.preview === true || options.keepGoing === true || options.force === true)
    throw new AppError('invalid_params', 'Name the call or the turn to undo.');
  return context.runOp(
    'checkpoint.list',
    { limit: 50 },
    {
      json: ({ checkpoints }) => checkpoints,
      human: ({ checkpoints }) =>
        table(
          ['CALL', 'TURN', 'WHEN', 'WHAT'],
          checkpoints.map((one) => [one.callId, one.turnId ?? '-', when(one.atMs), describeFiles(one)]),
          'Nothing was written yet.',
        ),
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
  return files.map((file) => describeFile(file, file.refused, paint)).join('\n\n');
}

function describeFile(file: FileDiff, refused: string | null, paint: Paint): string {
  const path = safeForTerminal(file.path);
  if (refused !== null) return `${paint('red', 'refused')} ${path}: ${safeForTerminal(refused)}`;
  const lines =
    file.diff === null || file.diff === ''
      ? []
      : file.diff
          .trimEnd()
          .split('\n')
          .map((line) => paintLine(line, paint));
  const note = file.note === null ? [] : [paint('dim', safeForTerminal(file.note))];
  return [`${paint('bold', verbs[file.change])} ${path}`, ...note, ...lines].join('\n');
}

/** The effect of a restore on a file. */
const verbs = {
  created: 'puts back',
  changed: 'puts back',
  removed: 'removes',
  none: 'leaves as it is',
  unknown: 'puts back',
} as const;

function paintLine(line: string, paint: Paint): string {
  const shown = safeForTerminal(line);
  if (line.startsWith('+')) return paint('green', shown);
  if (line.startsWith('-')) return paint('red', shown);
  return line.startsWith('@@') ? paint('dim', shown) : shown;
}

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
