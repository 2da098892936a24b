// How a command line is handed to the system's shell. Starts nothing.

import { existsSync } from 'node:fs';

export interface ShellCommand {
  readonly file: string;
  readonly args: readonly string[];
}

export interface Shell {
  /** Output and errors into one pipe, so that their order is the true one. */
  piped(command: string): ShellCommand;
  /** For a terminal, which is one stream anyway. */
  interactive(command: string): ShellCommand;
}

const bashPlaces = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'];

/** bash where there is one, else sh; PowerShell on Windows. No start-up file is read. */
export function findShell(platform: NodeJS.Platform, exists: (path: string) => boolean = existsSync): Shell {
  if (platform === 'win32') return powershell;
  const bash = bashPlaces.find(exists);
  const argv = (command: string): string[] =>
    bash === undefined ? ['/bin/sh', '-c', command] : [bash, '--noprofile', '--norc', '-c', command];
  return {
    piped: (command) => ({ file: '/bin/sh', args: ['-c', 'exec "$@" 2>&1', 'sh', ...argv(command)] }),
    interactive: (command) => {
      const [file = '/bin/sh', ...args] = argv(command);
      return { file, args };
    },
  };
}

const powershellCommand = (command: string): ShellCommand => ({
  file: 'powershell.exe',
  args: ['-NoProfile', '-NonInteractive', '-Command', command],
});

const powershell: Shell = { piped: powershellCommand, interactive: powershellCommand };
