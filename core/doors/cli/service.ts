// `service`: runs `trayclaw serve` under the service manager of the person's own account. Shows only what the manager reports and asks
// nothing.

import type { CommandContext } from './command-context.ts';
import { exitCodes } from './exit-code.ts';
import { isInsideTool, refusedInsideTool } from './person-only.ts';
import type { ServiceState } from './ports.ts';
import { parsePort } from './serve.ts';

interface InstallOptions {
  readonly port?: string;
  readonly print?: boolean;
}

export async function install(context: CommandContext, options: InstallOptions): Promise<number> {
  const port = options.port === undefined ? undefined : parsePort(options.port);
  const service = await context.parts.findService({ home: context.home, port });
  if (options.print === true) {
    const text = service.text();
    context.output.result({ file: service.file, text }, () => text);
    return exitCodes.done;
  }
  if (isInsideTool(context.io.env)) throw refusedInsideTool('service install');
  await service.install();
  context.output.result({ file: service.file, installed: true }, () => `Installed and started: ${service.file}\n${service.afterInstall}`);
  return exitCodes.done;
}

export async function uninstall(context: CommandContext): Promise<number> {
  if (isInsideTool(context.io.env)) throw refusedInsideTool('service uninstall');
  const service = await context.parts.findService(context);
  const removed = await service.uninstall();
  context.output.result({ file: service.file, removed }, () =>
    removed ? `Stopped and removed: ${service.file}` : 'No service is installed.',
  );
  return exitCodes.done;
}

export async function status(context: CommandContext): Promise<number> {
  const service = await context.parts.findService(context);
  const state = await service.status();
  const { isInstalled: installed, isRunning: running, startsAtLogin, pid } = state;
  context.output.result({ installed, running, state: state.state, startsAtLogin, pid, file: service.file }, () => describe(state));
  return running ? exitCodes.done : exitCodes.failed;
}

function describe({ isInstalled, isRunning, state, startsAtLogin, pid }: ServiceState): string {
  if (!isInstalled) return 'No service is installed. To install it: trayclaw service install';
  const login = startsAtLogin ? 'starts at login' : 'does not start at login';
  return isRunning ? `The service runs as process ${pid ?? 'unknown'} and ${login}.` : `The service does not run (${state}); it ${login}.`;
}
