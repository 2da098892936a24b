// Finds the program of a line that may bring in text from outside this machine. Every program counts as one, except those that are known to
// use only what is here, and code of the project: its tasks and its scripts.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { readers } from './command-table.ts';
import { localGit } from './git-table.ts';
import type { LineCommand } from './line-commands.ts';
import { asksForHelp, isInterpreter, nameOf } from './program-names.ts';
import { readTask } from './project-tasks.ts';
import { unwrap } from './wrappers.ts';

/** Programs that change files here, and built-ins of the shell. */
const others =
  'cp mv rm rmdir mkdir touch ln chmod chown tee dd truncate mktemp patch split zip unzip sleep kill cd export unset set read exit return ' +
  'wait shift trap type umask alias local declare let : [[ pushd popd';
const local: ReadonlySet<string> = new Set([...Object.keys(readers), ...others.split(' ')]);
/** Their inner command may be a package that is downloaded. */
const installers = /^(?:npx|bunx|pnpx)$/;

/** Returns null if every command is known to be local. */
export function foreignProgram(commands: readonly LineCommand[], cwd: string): string | null {
  const found = commands.find((command) => !isLocal(command, cwd));
  return found === undefined ? null : nameOf(found.words[0]?.text ?? '') || 'a command line';
}

function isLocal({ words, elsewhere, isHidden, folders }: LineCommand, cwd: string): boolean {
  if (elsewhere || isHidden) return false;
  const argv = words.map(({ text }) => text);
  const [program = '', ...args] = argv;
  const name = nameOf(program);
  if (program === '' || asksForHelp(args)) return true;
  const script = isInterpreter(name) ? (args[0] ?? '') : program;
  if (/[./]/.test(script) && isOfProject(resolve(cwd, ...folders.map(({ text }) => text), script), cwd)) return true;
  if (program !== name && !/^\/(?:usr\/)?bin\//.test(program)) return false;
  if (name === 'git') return localGit.has(args.find((argument) => !argument.startsWith('-')) ?? '');
  if (local.has(name) || readTask(argv, cwd) !== null) return true;
  // The command that it starts is judged separately.
  return !installers.test(name) && unwrap(words) !== null;
}

function isOfProject(file: string, cwd: string): boolean {
  return isInside(file, cwd) && existsSync(file);
}
