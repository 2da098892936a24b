// `service`: `trayclaw serve` under the service manager of the person's own account. Shows and asks nothing but what the manager says.

import type { Command } from 'commander';
import type { CommandContext, Run } from './command-context.ts';
import { exitCodes } from './exit-code.ts';
import { isInsideTool, refusedInsideTool } from './person-only.ts';
import type { ServiceState } from './ports.ts';
import { parsePort } from './serve.ts';

interface InstallOptions {
  readonly port?: string;
  readonly print?: boolean;
}

export function registerService(program: Command, run: Run): void {
  const service = program
    .command('service')
    .description('run TrayClaw in the background from login on: systemd on Linux, launchd on macOS');
  service
    .command('install')
    .description('install, enable and start the service; again after an update or for another data folder')
    .option('--port <n>', 'the port of the window; a free one at each start when left out')
    .option('--print', 'show the file it would write, and write nothing')
    .action((options: InstallOptions) => run((context) => install(context, options)));
  service
    .command('uninstall')
    .description('stop the service and remove its file; the data folder stays')
    .action(() => run(uninstall));
  service
    .command('status')
    .description('whether the service is installed and runs; exit code 1 when it does not run')
    .action(() => run(status));
}

async function install(context: CommandContext, options: InstallOptions): Promise<number> {
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

async function uninstall(context: CommandContext): Promise<number> {
  if (isInsideTool(context.io.env)) throw refusedInsideTool('service uninstall');
  const service = await context.parts.findService(context);
  const removed = await service.uninstall();
  context.output.result({ file: service.file, removed }, () =>
    removed ? `Stopped and removed: ${service.file}` : 'No service is installed.',
  );
  return exitCodes.done;
}

async function status(context: CommandContext): Promise<number> {
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
