// The folders of Windows' own programs. Always uses a full path: a bare name is searched in the working folder first, and that is the
// workspace, where the agent may write a file of any name.

import { win32 } from 'node:path';
import type { Environment } from './child-environment.ts';

const DEFAULT_ROOT = 'C:\\Windows';

/** The system folder; falls back to the default if the environment does not contain an absolute path. */
export function systemRoot(environment: Environment): string {
  const name = Object.keys(environment).find((key) => key.toUpperCase() === 'SYSTEMROOT');
  const value = name === undefined ? undefined : environment[name];
  return value !== undefined && /^[A-Za-z]:\\/.test(value) ? win32.normalize(value) : DEFAULT_ROOT;
}

export function powershellPath(environment: Environment): string {
  return win32.join(systemRoot(environment), 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe');
}

export function taskkillPath(environment: Environment): string {
  return win32.join(systemRoot(environment), 'System32', 'taskkill.exe');
}

/**
 * The arguments that run a script in Windows PowerShell. The default policy of a client refuses every script file, and with it npm and npx,
 * which are found as .ps1 first; Bypass applies to this one process.
 */
export function powershellArguments(script: string): string[] {
  return ['-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-Command', script];
}
