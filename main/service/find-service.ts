// Chooses the system's service manager for the command line, and the command that the service runs.

import { isAbsolute } from 'node:path';
import { AppError } from '../../core/contracts/errors.ts';
import type { ServiceManager } from '../../core/doors/cli/cli.ts';
import { resolveHome } from '../../core/store/home/home.ts';
import { launchdService } from './launchd-service.ts';
import { runWith } from './run-command.ts';
import { systemdService } from './systemd-service.ts';

export interface ServiceSource {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userFolder: string;
  readonly userId: number;
  readonly home: string;
  readonly port?: number | undefined;
  /** The command that starts this command line. */
  readonly command: readonly string[];
}

/** Throws `not_found` on a system without a service manager for a person's own programs. */
export function findService({ platform, env, userFolder, userId, home, port, command }: ServiceSource): ServiceManager {
  // The service does not see the variables of this terminal.
  const usual = resolveHome(undefined, { env: {}, cwd: userFolder, platform, userFolder });
  const spec = { command, home: home === usual ? null : home, path: servicePath(env['PATH'] ?? ''), port: port ?? null };
  const run = runWith(env);
  if (platform === 'linux') return systemdService({ env, userFolder, spec, run });
  if (platform === 'darwin') return launchdService({ userFolder, spec, run, userId });
  throw new AppError('not_found', 'There is no service manager for your own programs on this system; nothing was changed.', {
    hint: 'Let the desktop app start with your login: Settings, Start at login.',
  });
}

/** Removes what npm adds for one run, and relative folders, which depend on the working folder. */
function servicePath(path: string): string {
  return [...new Set(path.split(':'))].filter((folder) => isAbsolute(folder) && !folder.includes('/node_modules/')).join(':');
}
