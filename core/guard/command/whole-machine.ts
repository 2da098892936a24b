// Lines that only make sense with everything of the machine in reach: another user's rights, or which process holds a port. Known by
// their words alone; whatever else such a line starts keeps it from being one.

import type { LineCommand } from './line-commands.ts';
import { nameOf } from './wrappers.ts';

const otherRights = new Set(['sudo', 'doas', 'pkexec', 'su', 'runuser']);
const lookers = new Set(['lsof', 'fuser', 'ss', 'netstat']);
/** None of these runs what a file says. */
const beside = new Set([
  ...lookers,
  ...'kill pkill killall ps pgrep pidof grep head tail cut tr sort uniq wc xargs echo sleep true'.split(' '),
]);

/** Of all commands of a line that could be read to its end. */
export function needsWholeMachine(commands: readonly LineCommand[]): boolean {
  if (commands.some(({ wrappers }) => wrappers.some((name) => otherRights.has(name)))) return true;
  const names = commands.map(({ words }) => nameOf(words[0]?.text ?? ''));
  return (
    names.some((name) => otherRights.has(name)) || (names.some((name) => lookers.has(name)) && names.every((name) => beside.has(name)))
  );
}
