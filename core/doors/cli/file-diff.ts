// Formats differences of files for a terminal.

import type { FileDiff } from '../../contracts/checkpoints.ts';
import { counted } from '../../base/counted.ts';
import { revealed, safeForTerminal } from '../../base/visible-text.ts';
import type { Paint } from './output.ts';

export function describeFile(
  file: FileDiff,
  { verb, numbered, safe = safeForTerminal }: { readonly verb: string; readonly numbered: boolean; readonly safe?: typeof safeForTerminal },
  paint: Paint,
): string {
  const note = file.note === null ? [] : [paint('dim', safe(file.note))];
  const lines = file.diff === null || file.diff === '' ? [] : file.diff.trimEnd().split('\n');
  let part = 0;
  const painted = lines.map((line) => {
    const shown = safe(line);
    if (line.startsWith('+')) return paint('green', shown);
    if (line.startsWith('-')) return paint('red', shown);
    if (!line.startsWith('@@')) return shown;
    part += 1;
    return paint('dim', numbered ? `${shown} part ${part}` : shown);
  });
  return [`${paint('bold', verb)} ${safe(file.path)}`, ...note, ...painted].join('\n');
}

const verbs = { created: 'Creates', changed: 'Changes', removed: 'Removes', none: 'Leaves as it is:', unknown: 'Changes' } as const;
const lineCharsMax = 500;

/** Shows the change that a waiting call would make, with every character visible. Cuts long changes and long lines. */
export function describeChanges(files: readonly FileDiff[], linesMax: number, paint: Paint): string {
  const safe = (text: string): string => {
    const whole = text.split('\t').map(revealed).join('\t');
    return whole.length > lineCharsMax ? `${whole.slice(0, lineCharsMax)} … (${whole.length - lineCharsMax} more characters)` : whole;
  };
  const lines = files.flatMap((file) => describeFile(file, { verb: verbs[file.change], numbered: false, safe }, paint).split('\n'));
  const rest = lines.length - linesMax;
  return [...lines.slice(0, linesMax), ...(rest > 0 ? [`… and ${counted(rest, 'more line')}`] : [])].join('\n');
}
