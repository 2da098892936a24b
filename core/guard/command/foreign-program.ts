// Finds the program of a line that may bring in text from outside this machine. Every program counts as one, except those that are known to
// use only what is here, and code of the project: its tasks and its scripts.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { readers } from './command-table.ts';
import { localGit } from './git-table.ts';
import type { LineCommand, LineWord } from './line-commands.ts';
import { asksForHelp, isInterpreter, nameOf } from './program-names.ts';
import { readTask } from './project-tasks.ts';
import { unwrap } from './wrappers.ts';

/** Programs that change files here, and built-ins of the shell. */
const others =
  'cp mv rm rmdir mkdir touch ln chmod chown tee dd truncate mktemp patch split zip unzip sleep kill cd export unset set read exit return ' +
  'wait shift trap type umask alias local declare let : [[ pushd popd';
/** Readers that start a program, or sign in to another machine, in other forms. */
const reaching = /^(?:sqlite3|ip|hostnamectl|timedatectl)$/;
const local: ReadonlySet<string> = new Set([...Object.keys(readers).filter((name) => !reaching.test(name)), ...others.split(' ')]);
/** Their inner command may be a package that is downloaded. */
const installers = /^(?:npx|bunx|pnpx)$/;

/** Returns null if every command is known to be local. */
export function foreignProgram(line: { readonly commands: readonly LineCommand[]; readonly isWhole: boolean }, cwd: string): string | null {
  const found = line.commands.find((command) => !isLocal(command, cwd));
  if (found === undefined) return line.isWhole ? null : unnamed;
  return nameOf(found.words[0]?.text ?? '') || unnamed;
}

const unnamed = 'a command line';

function isLocal(command: LineCommand, cwd: string): boolean {
  const { words, elsewhere, isHidden } = command;
  if (elsewhere || isHidden) return false;
  const args = words.slice(1).map(({ text }) => text);
  return words.length === 0 || asksForHelp(args) || isScript(command, cwd) || isKnown(words, args, cwd);
}

function isKnown(words: readonly LineWord[], args: readonly string[], cwd: string): boolean {
  const program = words[0]?.text ?? '';
  const name = nameOf(program);
  if (program !== name && !/^\/(?:usr\/)?bin\//.test(program)) return false;
  if (name === 'git') return localGit.has(args.find((argument) => !argument.startsWith('-')) ?? '');
  if (local.has(name) || readTask([program, ...args], cwd) !== null) return true;
  // The command that it starts is judged separately.
  return !installers.test(name) && unwrap(words) !== null;
}

/** A script of the project, started by its path or by an interpreter. */
function isScript({ words, folders }: LineCommand, cwd: string): boolean {
  const [program = '', first = ''] = words.map(({ text }) => text);
  const script = isInterpreter(program) ? first : program;
  const file = resolve(cwd, ...folders.map(({ text }) => text), script);
  return /[./]/.test(script) && isInside(file, cwd) && existsSync(file);
}
