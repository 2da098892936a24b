// Runs one command to its end within a call: live output, a time limit, abort, and no process left behind.

import { counted } from '../../base/counted.ts';
import type { BackgroundCommands } from './background-commands.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import type { ToolContext, ToolResult } from '../../contracts/tools.ts';
import type { SandboxReport } from '../../guard/sandbox/sandbox.ts';
import { childEnvironment, type Environment } from './child-environment.ts';
import { showOutput } from './command-output.ts';
import { startCommand, type CommandEnd, type CommandOptions, type CommandStarter, type RunningCommand } from './command-process.ts';
import { reportOf } from './confined-start.ts';
import type { ConfirmedCommand } from './exec-facts.ts';
import { formatSeconds } from './hosted-result.ts';
import { LiveOutput } from './live-output.ts';
import { OutputSpool } from './output-spool.ts';
import { settlesWithin } from '../../base/waits.ts';

export interface ExecDeps extends CommandStarter {
  /** Registers commands that run in the background, so that people see them in the list. */
  readonly background?: BackgroundCommands;
  readonly clock: Clock;
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  /** The folder for output that does not fit in memory. */
  readonly temporaryFolder: string;
  readonly outputBytesMax: number;
  /** The default time limit of a foreground command. */
  readonly execTimeoutMs: number;
}

type Stop = 'timeout' | 'cancelled' | 'closing';

export interface ForegroundRun extends ConfirmedCommand {
  readonly pty: boolean;
  readonly timeoutMs: number;
}

export const spoolFileBytesMax = 50_000_000;
const HEADROOM_BYTES = 600;
const CLOSE_GRACE_MS = 100;
const RELEASE_GRACE_MS = 1000;

/** The options of a command that follow from the call. */
export function optionsOf(
  deps: ExecDeps,
  run: Omit<ForegroundRun, 'timeoutMs'>,
  context: ToolContext,
): Omit<CommandOptions, 'keepInput' | 'onData'> {
  const { attended, workspace, signal, processMarker: marker } = context;
  return {
    ...run,
    environment: childEnvironment(deps.environment, marker, deps.platform),
    sets: run.environment,
    marker,
    attended,
    workspace,
    signal,
    onSpawn: (record) => context.onSpawn(record),
  };
}

export async function runForeground(deps: ExecDeps, run: ForegroundRun, context: ToolContext): Promise<ToolResult> {
  const shownMax = Math.max(512, deps.outputBytesMax - HEADROOM_BYTES);
  const spool = new OutputSpool({ folder: deps.temporaryFolder, memoryBytesMax: shownMax * 2, fileBytesMax: spoolFileBytesMax });
  const live = new LiveOutput(context);
  const startedMs = deps.clock.monotonicMs();
  try {
    const onData = (bytes: Buffer): void => {
      spool.append(bytes);
      live.push(bytes);
    };
    const running = await startCommand(deps, { ...optionsOf(deps, run, context), keepInput: false, onData });
    const stopped = await waitOrStop(deps, running, run.timeoutMs, context.signal);
    const end = stopped === null ? await running.exited : null;
    const strays = await collectStrays(deps, running);
    const report = await reportOf(running.settled);
    live.end();
    const output = showOutput(spool, shownMax, context);
    const tookMs = deps.clock.monotonicMs() - startedMs;
    return { ...present(output, { end, stopped, strays, report, tookMs, timeoutMs: run.timeoutMs }), ...broughtBy(running, output.text) };
  } finally {
    spool.close();
  }
}

/** Waits for the command's end. On timeout or abort, ends the command with all it started. */
async function waitOrStop(deps: ExecDeps, running: RunningCommand, timeoutMs: number, signal: AbortSignal): Promise<Stop | null> {
  if (await settlesWithin(running.exited, timeoutMs, signal)) return null;
  await deps.trees.kill(running.pid);
  if (!signal.aborted) return 'timeout';
  // An exit code is reported only for a process that is known to have ended.
  if (!(await settlesWithin(running.exited, RELEASE_GRACE_MS))) throw new AppError('tool_failed', 'The command could not be ended.');
  return isClosing(signal) ? 'closing' : 'cancelled';
}

function isClosing(signal: AbortSignal): boolean {
  const reason: unknown = signal.reason;
  return isAppError(reason) && reason.code === 'shutting_down';
}

/** A foreground command is over when it exits: its background children are ended. Returns how many there were. */
async function collectStrays(deps: ExecDeps, running: RunningCommand): Promise<number> {
  try {
    const hasClosed = await settlesWithin(running.closed, CLOSE_GRACE_MS);
    if (hasClosed && !deps.trees.hasGroup(running.pid)) return 0;
    const { killed } = await deps.trees.kill(running.pid);
    await settlesWithin(running.closed, RELEASE_GRACE_MS);
    return killed;
  } finally {
    running.release();
  }
}

/** The output of a command that may fetch is untrusted, and so are the files it changed. */
export function broughtBy({ fetches }: Pick<RunningCommand, 'fetches'>, text: string): Pick<ToolResult, 'untrusted' | 'fetched'> {
  return fetches === null ? {} : { fetched: fetches, ...(text === '' ? {} : { untrusted: [fetches] }) };
}

interface Ending {
  readonly end: CommandEnd | null;
  readonly stopped: Stop | null;
  readonly strays: number;
  readonly report: SandboxReport;
  readonly tookMs: number;
  readonly timeoutMs: number;
}

function present(output: ReturnType<typeof showOutput>, ending: Ending): ToolResult {
  const remarks = ending.stopped === null ? [] : [stopWords(ending.stopped, ending.timeoutMs)];
  if (ending.end !== null) remarks.push(...describeEnd(ending.end, output.text === ''));
  if (ending.strays > 0 && ending.stopped === null) {
    const count = counted(ending.strays, 'process it left behind was', 'processes it left behind were');
    remarks.push(`${count} ended; use background to keep a command running`);
  }
  remarks.push(...sandboxRemarks(ending));
  const gap = output.text === '' || output.text.endsWith('\n') ? '' : '\n';
  const note = remarks.length === 0 ? '' : `${gap}[${remarks.join('; ')}]`;
  return {
    forModel: output.text + note,
    isError: ending.stopped !== null || ending.end?.exitCode !== 0 || ending.report.failed,
    ...(ending.stopped === null ? {} : { endedBy: ending.stopped === 'timeout' ? 'timeout' : 'cancelled' }),
    artifacts: output.artifacts,
  };
}

function stopWords(stopped: Stop, timeoutMs: number): string {
  const ended = 'it and all it started were ended';
  switch (stopped) {
    case 'timeout':
      return `timed out after ${formatSeconds(timeoutMs)}; ${ended}`;
    case 'closing':
      return `cancelled by shutdown: TrayClaw was closed; ${ended}`;
    case 'cancelled':
      return `cancelled; ${ended}`;
  }
}

function sandboxRemarks({ end, stopped, report }: Ending): string[] {
  const hasFailed = stopped === null && end?.exitCode !== 0 && report.whenFailed !== null;
  return hasFailed ? [...report.remarks, report.whenFailed] : [...report.remarks];
}

/** Success is mentioned only if there is no output. */
export function describeEnd(end: CommandEnd, isQuiet: boolean): string[] {
  if (end.exitCode === null) return [`ended by signal ${end.signal ?? 'unknown'}`];
  if (end.exitCode !== 0) return [`exit code ${end.exitCode}`];
  return isQuiet ? ['no output, exit code 0'] : [];
}
