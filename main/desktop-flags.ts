// The command-line flags that make the desktop app do something other than open its window. Pure.

import { resolve } from 'node:path';

/** The running app of the same data folder ends as if asked in its menu, and so does this start. */
export const quitFlag = '--quit';
/** The rest is a command line: the program answers in the terminal and opens no window. */
export const cliFlag = '--cli';

/** Chromium's flags that the `trayclaw` command of an installed app puts before `--cli`. */
const beforeCli = /^--(?:no-sandbox|ozone-platform=\w+)$/;

/**
 * The command line of a start with `--cli`; null for any other. It has to be the first word: one further back may be part of a link or of a
 * file's name that the system handed over.
 */
export function commandLineOf(argv: readonly string[], script: string): readonly string[] | null {
  const [, ...words] = argv;
  const at = words.findIndex((word) => !beforeCli.test(word) && resolve(word) !== script);
  if (words[at] !== cliFlag) return null;
  const rest = words.slice(at + 1);
  return rest[0] === '--' ? rest.slice(1) : rest;
}

/** The command line of an installed app, for a service for example. */
export function packagedCommand(execPath: string, env: Readonly<Record<string, string | undefined>>, isLinux: boolean): readonly string[] {
  // A running AppImage is mounted in a folder that disappears afterwards.
  const program = env['APPIMAGE'] ?? execPath;
  return [program, ...(isLinux ? ['--ozone-platform=headless'] : []), cliFlag, '--'];
}
