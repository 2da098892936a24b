// Passes a command to the system: a plain one as a list, anything else to the shell. The only place that turns either into a file and its
// arguments. Starts nothing.

import { existsSync } from 'node:fs';
import type { Environment } from './child-environment.ts';
import { powershellArguments, powershellPath } from './windows-system.ts';

export interface ShellCommand {
  readonly file: string;
  readonly args: readonly string[];
}

/** plain: a file and its argument list, whose first word is the name it is called by. line: text that only a shell understands. */
export type Runnable =
  | { readonly kind: 'plain'; readonly file: string; readonly argv: readonly string[] }
  | { readonly kind: 'line'; readonly line: string };

export interface Shell {
  /** Sends output and errors into one pipe, so that their order is preserved. */
  piped(run: Runnable): ShellCommand;
  /** For a terminal, which is one stream anyway. */
  interactive(run: Runnable): ShellCommand;
}

const bashPlaces = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'];

/** Uses bash if available, else sh; PowerShell on Windows. Reads no start-up file. */
export function findShell(platform: NodeJS.Platform, environment: Environment, exists: (path: string) => boolean = existsSync): Shell {
  if (platform === 'win32') {
    return {
      piped: (run) => windowsCommand(run, environment, pipedScript),
      interactive: (run) => windowsCommand(run, environment, terminalScript),
    };
  }
  const bash = bashPlaces.find(exists);
  return {
    piped: (run) => posixCommand(run, bash, ' 2>&1'),
    interactive: (run) => posixCommand(run, bash, ''),
  };
}

/**
 * A fixed line joins the two outputs and then execs the program: the words of a plain command are passed as a list and never parsed by the
 * shell. Only bash can keep the name a program was called by, which appears in its messages.
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

function windowsCommand(run: Runnable, environment: Environment, toScript: (line: string) => string): ShellCommand {
  if (run.kind === 'plain') return { file: run.file, args: run.argv.slice(1) };
  return { file: powershellPath(environment), args: powershellArguments(toScript(run.line)) };
}

/** Without this, output uses the console's code page and loses characters beyond ASCII. */
const useUtf8 = '$OutputEncoding = [Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)';

/** PowerShell itself exits only with 0 or 1. This passes on the code of the last program, else 1 after an error of PowerShell's own. */
const endWithCode = 'if ($LASTEXITCODE) { exit $LASTEXITCODE } elseif ($failed) { exit 1 } else { exit 0 }';

/**
 * Merges both outputs into one stream. Otherwise PowerShell would show a program's error output as its own error, with a script position.
 */
function pipedScript(line: string): string {
  return [
    useUtf8,
    '$failed = $false; $global:LASTEXITCODE = 0',
    `& {\n${line}\n} 2>&1 | ForEach-Object {`,
    '  if ($_ -isnot [Management.Automation.ErrorRecord]) { $_ }',
    "  elseif ($_.FullyQualifiedErrorId -like 'NativeCommandError*') { $_.Exception.Message }",
    '  else { $failed = $true; $_ }',
    '}',
    endWithCode,
  ].join('\n');
}

function terminalScript(line: string): string {
  return [useUtf8, '$global:LASTEXITCODE = 0', `& {\n${line}\n}`, '$failed = -not $?', endWithCode].join('\n');
}
