// The service as a systemd user unit. Provides only the unit's text; systemctl does the rest, and nothing is written if systemctl does not
// answer.

import { join } from 'node:path';
import type { ServiceManager, ServiceState } from '../../core/doors/cli/cli.ts';
import { AppError } from '../../core/contracts/errors.ts';
import type { Answer, RunCommand } from './run-command.ts';
import { readOwn, removeServiceFile, writeServiceFile } from './service-file.ts';
import { systemdUnit, unitName, type ServiceSpec } from './service-unit.ts';

export interface ServiceDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userFolder: string;
  readonly spec: ServiceSpec;
  readonly run: RunCommand;
}

export function systemdService({ env, userFolder, spec, run }: ServiceDeps): ServiceManager {
  const configured = env['XDG_CONFIG_HOME'] ?? '';
  const file = join(configured.startsWith('/') ? configured : join(userFolder, '.config'), 'systemd', 'user', unitName);
  const text = (): string => systemdUnit(spec);
  const systemctl = (...args: string[]): Promise<Answer | null> => run('systemctl', ['--user', ...args]);
  const must = async (...args: string[]): Promise<void> => {
    const answer = await systemctl(...args);
    if (answer?.code !== 0) throw refused(`systemctl --user ${args.join(' ')}`, answer, file);
  };
  return {
    file,
    text,
    afterInstall: 'It ends when you log out; to keep it running: loginctl enable-linger. What it reports: journalctl --user -u trayclaw',
    async install() {
      await requireManager(systemctl);
      const wasActive = (await systemctl('is-active', '--quiet', unitName))?.code === 0;
      const isChanged = writeServiceFile(file, text());
      if (isChanged) await must('daemon-reload');
      await must('enable', '--now', unitName);
      if (wasActive && isChanged) await must('restart', unitName);
    },
    async uninstall() {
      if (readOwn(file) === null) return false;
      await requireManager(systemctl);
      await must('disable', '--now', unitName);
      removeServiceFile(file);
      await must('daemon-reload');
      return true;
    },
    async status() {
      const isInstalled = readOwn(file) !== null;
      await requireManager(systemctl);
      const answer = await systemctl('show', unitName, '--property=ActiveState,UnitFileState,MainPID');
      if (answer?.code !== 0) throw refused(`systemctl --user show ${unitName}`, answer, file);
      return stateOf(isInstalled, new Map(answer.stdout.split('\n').map((line) => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]))); // prettier-ignore
    },
  };
}

function stateOf(isInstalled: boolean, shown: ReadonlyMap<string, string>): ServiceState {
  const pid = Number(shown.get('MainPID') ?? 0);
  return {
    isInstalled,
    state: shown.get('ActiveState') ?? 'unknown',
    isRunning: shown.get('ActiveState') === 'active',
    startsAtLogin: shown.get('UnitFileState') === 'enabled',
    pid: pid > 0 ? pid : null,
  };
}

/** Checks, before anything is written, that systemctl exists and reaches the person's own manager. */
async function requireManager(systemctl: (...args: string[]) => Promise<Answer | null>): Promise<void> {
  const answer = await systemctl('show', '--property=Version');
  if (answer === null)
    throw new AppError('not_found', 'There is no systemctl on this machine; nothing was changed.', {
      hint: 'Run this under the service manager you have: trayclaw serve --no-print-token',
    });
  if (answer.code === 0) return;
  throw new AppError('not_found', `systemd does not answer for this account (${firstLine(answer)}); nothing was changed.`, {
    hint: 'Log in as this account itself, not by su or sudo, or run first: loginctl enable-linger',
  });
}

function refused(command: string, answer: Answer | null, file: string): AppError {
  const why = answer === null ? 'it is not there' : firstLine(answer);
  return new AppError('conflict', `${command} failed: ${why}`, {
    hint: `The unit is installed in ${file}; for details see: journalctl --user -u trayclaw`,
  });
}

function firstLine({ code, stderr, stdout }: Answer): string {
  const line = `${stderr}\n${stdout}`.trim().split('\n', 1)[0] ?? '';
  return line === '' ? `exit code ${code}` : line;
}
