// Formats the diff of one file for a terminal.

import type { FileDiff } from '../../contracts/checkpoints.ts';
import { safeForTerminal } from '../../base/visible-text.ts';
import type { Paint } from './output.ts';

export function describeFile(
  file: FileDiff,
  { verb, numbered }: { readonly verb: string; readonly numbered: boolean },
  paint: Paint,
): string {
  const note = file.note === null ? [] : [paint('dim', safeForTerminal(file.note))];
  const lines = file.diff === null || file.diff === '' ? [] : file.diff.trimEnd().split('\n');
  let part = 0;
  const painted = lines.map((line) => {
    const shown = safeForTerminal(line);
    if (line.startsWith('+')) return paint('green', shown);
    if (line.startsWith('-')) return paint('red', shown);
    if (!line.startsWith('@@')) return shown;
    part += 1;
    return paint('dim', numbered ? `${shown} part ${part}` : shown);
  });
  return [`${paint('bold', verb)} ${safeForTerminal(file.path)}`, ...note, ...painted].join('\n');
}
