// The service as a LaunchAgent of macOS, managed with launchctl. A loaded agent keeps using its old file, so a changed one is reloaded.

import { join } from 'node:path';
import { sleep } from '../../core/base/waits.ts';
import type { ServiceManager } from '../../core/doors/cli/cli.ts';
import { AppError } from '../../core/contracts/errors.ts';
import { readOwn, removeServiceFile, writeServiceFile } from './service-file.ts';
import { agentLabel, launchAgent } from './service-unit.ts';
import type { ServiceDeps } from './systemd-service.ts';

const ASKED_TIMES = 50;
const ASKED_EVERY_MS = 100;

export function launchdService({ userFolder, spec, run, userId }: Omit<ServiceDeps, 'env'> & { readonly userId: number }): ServiceManager {
  const file = join(userFolder, 'Library', 'LaunchAgents', `${agentLabel}.plist`);
  const domain = `gui/${userId}`;
  const job = `${domain}/${agentLabel}`;
  const text = (): string => launchAgent(spec);
  const shown = async (): Promise<string | null> => {
    const answer = await run('launchctl', ['print', job]);
    return answer?.code === 0 ? answer.stdout : null;
  };
  const unload = async (): Promise<void> => {
    if ((await shown()) === null) return;
    await run('launchctl', ['bootout', job]);
    // bootout returns before the process has ended, and until then the same label cannot be loaded.
    for (let asked = 0; asked < ASKED_TIMES && (await shown()) !== null; asked++) await sleep(ASKED_EVERY_MS);
  };
  return {
    file,
    text,
    afterInstall: 'It starts when you log in and ends when you log out.',
    async install() {
      const isChanged = writeServiceFile(file, text());
      if (!isChanged && (await shown()) !== null) return;
      await unload();
      const answer = await run('launchctl', ['bootstrap', domain, file]);
      if (answer?.code === 0) return;
      throw new AppError('conflict', `launchctl bootstrap ${domain} failed: ${answer?.stderr.trim() ?? 'there is no launchctl'}`, {
        hint: `The agent is in ${file} and is tried again at the next login.`,
      });
    },
    async uninstall() {
      if (readOwn(file) === null) return false;
      await unload();
      return removeServiceFile(file);
    },
    async status() {
      const isInstalled = readOwn(file) !== null;
      const answer = await shown();
      const state = /^\s*state = (.+)$/m.exec(answer ?? '')?.[1] ?? 'not loaded';
      const pid = Number(/^\s*pid = (\d+)$/m.exec(answer ?? '')?.[1] ?? 0);
      return { isInstalled, state, isRunning: state === 'running', startsAtLogin: isInstalled, pid: pid > 0 ? pid : null };
    },
  };
}
