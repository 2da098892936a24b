// The environment of a command: a fixed list of harmless variables, and the marker by which a stop finds the process. Nothing else is
// inherited, so no secret is.

import { hash } from 'node:crypto';

export type Environment = Readonly<Record<string, string | undefined>>;

const passed = new Set(['PATH', 'HOME', 'LANG', 'LANGUAGE', 'TERM', 'TZ', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR']);

const passedOnWindows = new Set(
  [
    'PATH PATHEXT SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC TEMP TMP USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA',
    'PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) COMMONPROGRAMFILES PSMODULEPATH NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE OS LANG TZ',
  ].flatMap((names) => names.split(' ')),
);

/** Paths of certificates. Behind a proxy with its own, no program reaches the network without them. */
const certificates = new Set(
  'NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO AWS_CA_BUNDLE'.split(' '),
);

/** Compares names as the system does: case-insensitively on Windows. The marker overrides everything. */
export function childEnvironment(
  environment: Environment,
  marker: Readonly<Record<string, string>>,
  platform: NodeJS.Platform,
): Record<string, string> {
  const child: Record<string, string> = {};
  // Each read of process.env is a system call, so only the needed variables are read.
  for (const name of Object.keys(environment)) {
    const value = isPassed(name, platform) ? environment[name] : undefined;
    if (value !== undefined) child[name] = value;
  }
  // Windows then searches for a bare name only on the search path, not in the working folder first, where the agent may write.
  const search = platform === 'win32' ? { NoDefaultCurrentDirectoryInExePath: '1' } : {};
  return { ...child, ...search, ...marker };
}

/** The variables that connect a program to the screen. Commands never get them, only programs that show or capture something there. */
export function screenVariables(environment: Environment): Record<string, string> {
  const names = ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR', 'XDG_SESSION_TYPE'];
  return Object.fromEntries(names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])));
}

function isPassed(name: string, platform: NodeJS.Platform): boolean {
  if (certificates.has(name)) return true;
  if (platform === 'win32') return passedOnWindows.has(name.toUpperCase());
  return passed.has(name) || name.startsWith('LC_');
}

/** The marker in the environment of every process started for this data folder; the same at each start. */
export function instanceMarkerOf(realHome: string): { readonly TRAYCLAW_INSTANCE: string } {
  return { TRAYCLAW_INSTANCE: hash('sha256', realHome, 'hex').slice(0, 16) };
}
