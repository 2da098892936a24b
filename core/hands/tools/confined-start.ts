// The only place where a command meets the sandbox: it is wrapped right before it starts, and the sandbox's findings are reported when it
// has ended. Knows nothing about how commands are confined.

import type { CommandSandbox, SandboxCommand, SandboxReport, WrappedCommand } from '../../guard/sandbox/sandbox.ts';
import { settlesWithin } from '../../base/waits.ts';
import type { ShellCommand } from './shell-command.ts';

const REPORT_WAIT_MS = 30_000;
const nothingToReport: SandboxReport = { remarks: [], failed: false, whenFailed: null };

/** Fails with `sandbox_unavailable` if the command must not run unconfined. */
export function wrapCommand(
  sandbox: CommandSandbox,
  plain: ShellCommand,
  options: Omit<SandboxCommand, 'file' | 'args'>,
): Promise<WrappedCommand> {
  const { cwd, environment, sets, marker, attended, reads, needsWholeMachine, workspace, bounds, signal } = options;
  const inWorkspace = { ...(workspace === undefined ? {} : { workspace }), ...(bounds ? { bounds } : {}) };
  return sandbox.wrap({ ...plain, cwd, environment, sets, marker, attended, reads, needsWholeMachine, ...inWorkspace, signal });
}

/** The report on an ended command; empty if it takes too long. */
export async function reportOf(settled: Promise<SandboxReport>): Promise<SandboxReport> {
  return (await settlesWithin(settled, REPORT_WAIT_MS)) ? settled : nothingToReport;
}
