// The difference between two versions in the form of a file diff. Pure.

import type { FileDiff } from '../../core/contracts/checkpoints.ts';
import type { VersionDiffLine } from '../../core/contracts/features/identity.ts';

/** The number of unchanged lines shown around a change. */
const around = 3;

const signs = { same: ' ', added: '+', removed: '-' } as const;

/** Long unchanged runs are replaced by a mark. */
export function toFileDiff(lines: readonly VersionDiffLine[], name: string): FileDiff {
  const shown = lines.map((_, index) => lines.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== 'same'));
  const texts: string[] = [];
  for (const [index, { kind, text }] of lines.entries()) {
    if (shown[index]) texts.push(`${signs[kind]}${text}`);
    else if (texts.at(-1) !== '@@') texts.push('@@');
  }
  const count = (wanted: VersionDiffLine['kind']): number => lines.filter(({ kind }) => kind === wanted).length;
  const [addedLines, removedLines] = [count('added'), count('removed')];
  const isChanged = addedLines + removedLines > 0;
  return {
    path: name,
    change: isChanged ? 'changed' : 'none',
    diff: isChanged ? texts.join('\n') : null,
    addedLines,
    removedLines,
    note: null,
  };
}
