// The files that tell a service manager how to run `trayclaw serve`: a systemd user unit and a LaunchAgent of macOS. Pure text; every value
// is quoted so that the manager reads exactly the given value. Sources: systemd.service(5), systemd.exec(5), systemd.syntax(7),
// launchd.plist(5).

import { AppError } from '../../core/contracts/errors.ts';

export interface ServiceSpec {
  /** The command that starts the command line: the program and its first arguments. */
  readonly command: readonly string[];
  /** Null for a free port, chosen at each start. */
  readonly port: number | null;
  /** The data folder; null for the default one. */
  readonly home: string | null;
  /** The PATH of the agent's commands. A service manager provides only the system's folders. */
  readonly path: string;
}

export const unitName = 'trayclaw.service';
export const agentLabel = 'io.trayclaw.serve';
/** A file with this first line may be replaced or removed. */
export const ownMark = 'Written by: trayclaw service install';

/**
 * Deliberately contains no sandbox directive: in a user unit each of them disables setuid programs or user namespaces, and with them
 * `sudo`, `ping` and the sandbox in which TrayClaw runs commands.
 */
export function systemdUnit(spec: ServiceSpec): string {
  const { home, path } = spec;
  const variables = [`PATH=${path}`, ...(home === null ? [] : [`TRAYCLAW_HOME=${home}`])];
  return [
    `# ${ownMark}`,
    '[Unit]',
    'Description=TrayClaw, a local-first agent',
    '# Five failures within five minutes are enough: then it stays down, and the log says why.',
    'StartLimitIntervalSec=300',
    'StartLimitBurst=5',
    '',
    '[Service]',
    'Type=exec',
    '# The colon: a $ in a path is a $, not a variable.',
    `ExecStart=:${startable(argvOf(spec)).map(quoted).join(' ')}`,
    ...variables.map((variable) => `Environment=${quoted(variable)}`),
    'Restart=on-failure',
    'RestartSec=5',
    '# 2: it was started wrongly. 130: a person ended it. A restart mends neither.',
    'RestartPreventExitStatus=2 130',
    '# It ends the processes of its tools itself; what is left after that is killed.',
    'KillMode=mixed',
    'TimeoutStopSec=20',
    '# A command that takes too much memory ends alone.',
    'OOMPolicy=continue',
    '# A memory image would hold the secrets.',
    'LimitCORE=0',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

function argvOf({ command, port }: ServiceSpec): readonly string[] {
  return [...command, 'serve', '--no-print-token', ...(port === null ? [] : ['--port', String(port)])];
}

/** systemd rejects a program path that contains quotes or a backslash, so a shell starts such a program. */
function startable(argv: readonly string[]): readonly string[] {
  return /["'\\]/.test(argv[0] ?? '') ? ['/bin/sh', '-c', 'exec "$@"', 'sh', ...argv] : argv;
}

/** Throws `invalid_params` if the value cannot be written into such a file. */
function quoted(value: string): string {
  requirePlain(value);
  return `"${value.replaceAll(/["\\]/g, '\\$&').replaceAll('%', '%%')}"`;
}

export function launchAgent(spec: ServiceSpec): string {
  const { home, path } = spec;
  const variables = [['PATH', path], ...(home === null ? [] : [['TRAYCLAW_HOME', home]])] as const;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<!-- ${ownMark} -->`,
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    `  <key>Label</key><string>${agentLabel}</string>`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...argvOf(spec).map((argument) => `    <string>${escaped(argument)}</string>`),
    '  </array>',
    '  <key>EnvironmentVariables</key>',
    '  <dict>',
    ...variables.map(([name, value]) => `    <key>${name}</key><string>${escaped(value ?? '')}</string>`),
    '  </dict>',
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>ThrottleInterval</key><integer>30</integer>',
    '  <key>ExitTimeOut</key><integer>20</integer>',
    '</dict>',
    '</plist>',
    '',
  ].join('\n');
}

function escaped(value: string): string {
  requirePlain(value);
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function requirePlain(value: string): void {
  // eslint-disable-next-line no-control-regex -- these are what must not be there
  if (!/[\u0000-\u001f\u007f]/.test(value)) return;
  throw new AppError('invalid_params', `${JSON.stringify(value)} holds a control character, which no service file can name.`);
}
