// The environment of a command: a fixed list of harmless names and the marker that lets stop find it. Nothing else is inherited, so no
// secret is.

import { hash } from 'node:crypto';

export type Environment = Readonly<Record<string, string | undefined>>;

const passed = new Set(['PATH', 'HOME', 'LANG', 'LANGUAGE', 'TERM', 'TZ', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR']);

const passedOnWindows = new Set(
  [
    'PATH PATHEXT SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC TEMP TMP USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA',
    'PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) COMMONPROGRAMFILES PSMODULEPATH NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE OS LANG TZ',
  ].flatMap((names) => names.split(' ')),
);

/** Names are compared as the system does: without case on Windows. The marker wins over everything. */
export function childEnvironment(
  environment: Environment,
  marker: Readonly<Record<string, string>>,
  platform: NodeJS.Platform,
): Record<string, string> {
  const child: Record<string, string> = {};
  // Reading process.env calls the system for every value: only the needed ones are read.
  for (const name of Object.keys(environment)) {
    const value = isPassed(name, platform) ? environment[name] : undefined;
    if (value !== undefined) child[name] = value;
  }
  // Windows then looks for a bare name on the search path only, not in the working folder first, where the agent may write.
  const search = platform === 'win32' ? { NoDefaultCurrentDirectoryInExePath: '1' } : {};
  return { ...child, ...search, ...marker };
}

/** The variables that lead a program to the screen; no command has them, only programs that show or take something there. */
export function screenVariables(environment: Environment): Record<string, string> {
  const names = ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR', 'XDG_SESSION_TYPE'];
  return Object.fromEntries(names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])));
}

function isPassed(name: string, platform: NodeJS.Platform): boolean {
  if (platform === 'win32') return passedOnWindows.has(name.toUpperCase());
  return passed.has(name) || name.startsWith('LC_');
}

/** The marker in the environment of every process started for this data folder; the same at the next start. */
export function instanceMarkerOf(realHome: string): { readonly TRAYCLAW_INSTANCE: string } {
  return { TRAYCLAW_INSTANCE: hash('sha256', realHome, 'hex').slice(0, 16) };
}
