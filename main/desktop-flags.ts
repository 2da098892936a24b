// The command-line flags that make the desktop app do something other than open its window. Pure.

import { resolve } from 'node:path';

/** Quits the running app of the same data folder, as its menu would; this start then ends too. */
export const quitFlag = '--quit';
/** Treats the remaining arguments as a command line: the program answers in the terminal and opens no window. */
export const cliFlag = '--cli';

/** The Chromium flags that the `trayclaw` command of an installed app puts before `--cli`. */
const beforeCli = /^--(?:no-sandbox|ozone-platform=\w+)$/;

/**
 * The command line of a start with `--cli`; null for any other start. `--cli` must be the first argument: further back it may be part of a
 * link or a file name that the system passed on.
 */
export function commandLineOf(argv: readonly string[], script: string): readonly string[] | null {
  const [, ...words] = argv;
  const at = words.findIndex((word) => !beforeCli.test(word) && resolve(word) !== script);
  if (words[at] !== cliFlag) return null;
  const rest = words.slice(at + 1);
  return rest[0] === '--' ? rest.slice(1) : rest;
}

/** The command that runs the command line of an installed app, for use in a service definition. */
export function packagedCommand(execPath: string, env: Readonly<Record<string, string | undefined>>, isLinux: boolean): readonly string[] {
  // A running AppImage is mounted in a folder that disappears when it ends.
  const program = env['APPIMAGE'] ?? execPath;
  return [program, ...(isLinux ? ['--ozone-platform=headless'] : []), cliFlag, '--'];
}
