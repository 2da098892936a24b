// How a command is handed to the system: a plain one as the list it is, anything else to the shell. The one place that turns either
// into a file and its arguments. Starts nothing.

import { existsSync } from 'node:fs';

export interface ShellCommand {
  readonly file: string;
  readonly args: readonly string[];
}

/** plain: a file and its argument list, whose first word is the name it is called by. line: text only a shell understands. */
export type Runnable =
  { readonly kind: 'plain'; readonly file: string; readonly argv: readonly string[] } | { readonly kind: 'line'; readonly line: string };

export interface Shell {
  /** Output and errors into one pipe, so that their order is the true one. */
  piped(run: Runnable): ShellCommand;
  /** For a terminal, which is one stream anyway. */
  interactive(run: Runnable): ShellCommand;
}

const bashPlaces = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'];

/** bash where there is one, else sh; PowerShell on Windows. No start-up file is read. */
export function findShell(platform: NodeJS.Platform, exists: (path: string) => boolean = existsSync): Shell {
  if (platform === 'win32') return { piped: onWindows, interactive: onWindows };
  const bash = bashPlaces.find(exists);
  return {
    piped: (run) => posixCommand(run, bash, ' 2>&1'),
    interactive: (run) => posixCommand(run, bash, ''),
  };
}

/**
 * A fixed line joins the two outputs and becomes the program: what a plain command consists of is handed over as a list and is never
 * read by the shell. Only bash can keep the name a program was called by, which shows in its messages.
 */
function posixCommand(run: Runnable, bash: string | undefined, join: string): ShellCommand {
  if (run.kind === 'line') {
    const argv = bash === undefined ? ['/bin/sh', '-c', run.line] : [bash, '--noprofile', '--norc', '-c', run.line];
    const [file = '/bin/sh', ...args] = argv;
    return join === '' ? { file, args } : { file: '/bin/sh', args: ['-c', `exec "$@"${join}`, 'sh', ...argv] };
  }
  const [name = '', ...args] = run.argv;
  if (bash === undefined) return { file: '/bin/sh', args: ['-c', `exec "$@"${join}`, 'sh', run.file, ...args] };
  return { file: bash, args: ['--noprofile', '--norc', '-c', `exec -a "$0" -- "$@"${join}`, name, run.file, ...args] };
}

function onWindows(run: Runnable): ShellCommand {
  if (run.kind === 'plain') return { file: run.file, args: run.argv.slice(1) };
  return { file: 'powershell.exe', args: ['-NoProfile', '-NonInteractive', '-Command', run.line] };
}
