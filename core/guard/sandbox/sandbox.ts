// The sandbox: decides whether a command runs inside, lets the backend of this machine prepare it, and afterwards checks its changes to
// protected places. Does not decide whether the command is allowed: the caller has asked the gate.

import { existsSync, readdirSync } from 'node:fs';
import { release as kernelRelease } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { once } from '../../base/waits.ts';
import type { Logger } from '../../base/logger.ts';
import type { Config } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';
import type { FactContext } from '../../contracts/tools.ts';
import { explainSandbox, type SandboxExplanation } from './explain-sandbox.ts';
import { LinuxBackend } from './linux-backend.ts';
import { MacBackend } from './mac-backend.ts';
import { NetworkSession } from './network-session.ts';
import { OpenShellBackend } from './openshell-backend.ts';
import { scanProtected, type ProtectedScan } from './protected-scan.ts';
import type { MissingProgram, PreparedRun, SandboxBackend } from './sandbox-backend.ts';
import type { CommandSandbox, SandboxCommand, SandboxReport, WrappedCommand } from './sandbox-command.ts';
import { chooseSide, type SideChoice } from './sandbox-side.ts';
import { PrivateFolder, removeFolder } from './private-folder.ts';
import { accessOf, createPolicy, foldersWith, passEnvironment, type SandboxPolicy } from './sandbox-policy.ts';
import { describeChanges, findChanges, undoAppeared } from './undo-changes.ts';

export type { CommandSandbox, SandboxCommand, SandboxReport, WrappedCommand } from './sandbox-command.ts';
export type { SandboxExplanation } from './explain-sandbox.ts';
export { outsideArchive } from './network-session.ts';

export interface SandboxOptions {
  readonly config: Config['sandbox'];
  readonly facts: FactContext;
  readonly userHome: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly temporaryFolder: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The maximum number of folders below the write folders. Defaults to 50,000. */
  readonly foldersMax?: number;
  /** Replaces the machine's own backend. */
  readonly backend?: SandboxBackend;
}

export interface SandboxHealth {
  readonly ok: boolean;
  readonly detail: string;
  readonly fix?: string;
}

const nothingToReport: SandboxReport = { remarks: [], failed: false, whenFailed: null };

export class Sandbox implements CommandSandbox {
  readonly #options: SandboxOptions;
  readonly #backend: SandboxBackend | null;
  readonly #folder: PrivateFolder;
  #undone = 0;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#folder = new PrivateFolder(options.temporaryFolder);
    this.#backend = options.backend ?? createBackend(options);
  }

  async wrap(command: SandboxCommand): Promise<WrappedCommand> {
    const { side } = chooseSide(this.#options.config.mode, command);
    if (side === 'outside') return outside(await this.#shield(command), nothingToReport);
    const wasExpected = this.confines();
    const missing = await this.#missing();
    if (missing.length > 0 || this.#backend === null) {
      if (this.#options.config.mode === 'required') throw unavailable(missing);
      // The command was allowed on the condition that it is confined.
      if (wasExpected) throw unexpected(missing);
      return outside(command, {
        ...nothingToReport,
        remarks: [`it ran without a sandbox, for there is none here: ${listMissing(missing)}`],
      });
    }
    return this.#confine(command, this.#backend);
  }

  /** Returns whether a command that runs without an approval is confined, as far as this is known without starting anything. */
  confines(): boolean {
    const { mode } = this.#options.config;
    return mode === 'required' || (mode === 'auto' && this.#backend?.seemsAvailable() === true);
  }

  /** Explains what a command may do, and whether it would run inside. Starts nothing but a probe of the backend. */
  async explain(
    command: Pick<SandboxCommand, 'attended' | 'reads'> | null,
    place: Pick<SandboxCommand, 'workspace'> = {},
  ): Promise<SandboxExplanation> {
    const { config, environment } = this.#options;
    const missing = config.mode === 'off' ? [] : await this.#missing();
    const choice: SideChoice = command === null ? { side: 'inside', reason: 'what runs inside' } : chooseSide(config.mode, command);
    return explainSandbox({
      config,
      policy: this.#policy(place),
      backend: this.#backend,
      missing,
      choice: command === null ? null : choice,
      environmentNames: Object.keys(passEnvironment(config.environment, environment)).sort(),
    });
  }

  async health(): Promise<SandboxHealth> {
    const { mode } = this.#options.config;
    if (mode === 'off') return { ok: true, detail: 'Switched off: commands run with all your rights.' };
    const missing = await this.#missing();
    if (missing.length === 0 && this.#backend !== null) return { ok: true, detail: `Commands can be confined by ${this.#backend.how}.` };
    const meanwhile = mode === 'required' ? 'no command runs' : 'commands that run without your approval are not confined';
    const fix = missing.map(({ install }) => install).join(' ');
    // If commands need an approval anyway, a machine without a sandbox is healthy.
    return { ok: mode !== 'required', detail: `No sandbox here, so ${meanwhile}: ${listMissing(missing)}.`, fix };
  }

  async dispose(): Promise<void> {
    await this.#backend?.dispose();
    this.#folder.remove();
  }

  /**
   * An approved command has the person's rights, but must not see TrayClaw's data: with it, the command could approve calls itself. If
   * nothing can hide the data, the command starts as it is.
   */
  async #shield(command: SandboxCommand): Promise<SandboxCommand> {
    const { config, facts, temporaryFolder } = this.#options;
    if (config.mode === 'off' || command.reads !== null || command.needsWholeMachine) return command;
    if (this.#backend?.shield === undefined || (await this.#missing()).length > 0) return command;
    const start = this.#backend.shield({
      file: command.file,
      args: command.args,
      cwd: command.cwd,
      hidden: [facts.home, ...socketFoldersIn(temporaryFolder)],
      opened: [facts.workspace, ...facts.extraFolders].filter((path) => existsSync(path)),
      readable: ['skills', 'undone'].map((name) => join(facts.home, name)).filter((path) => existsSync(path)),
    });
    return start === null ? command : { ...command, ...start };
  }

  async #missing(): Promise<readonly MissingProgram[]> {
    if (this.#backend === null)
      return [{ what: `a backend for ${this.#options.platform}`, install: 'Run TrayClaw on Linux or macOS, or in WSL 2, to have one.' }];
    return (await this.#backend.availability()).missing;
  }

  #policy({ readFolders = [], workspace, bounds }: Pick<SandboxCommand, 'readFolders' | 'workspace' | 'bounds'> = {}): SandboxPolicy {
    const { config, facts, userHome, environment } = this.#options;
    const place = { facts, userHome, environment, ...(workspace === undefined ? {} : { workspace }) };
    return createPolicy(config, place, bounds ? [...readFolders, bounds.ownFolder] : readFolders, bounds ?? null);
  }

  async #confine(command: SandboxCommand, backend: SandboxBackend): Promise<WrappedCommand> {
    const policy = this.#policy(command);
    assertVisible(command.cwd, policy);
    const before = await this.#scan(policy, command.signal);
    if (!before.isComplete) throw tooLarge(policy);
    const instanceFolder = this.#folder.path;
    const temporaryFolder = this.#folder.createRun();
    const drop = (): void => this.#drop(temporaryFolder);
    try {
      const passed = passEnvironment(this.#options.config.environment, { ...this.#options.environment, ...command.environment });
      const environment = { ...passed, ...command.sets };
      const prepared = await backend.prepare({ ...command, environment, policy, protectedPlaces: before, temporaryFolder, instanceFolder });
      const finish = once(() => this.#finish({ policy, before, prepared, drop, skill: command.bounds?.skill ?? null }));
      const offline = policy.allowDomains.length === 0 ? { isOffline: true as const } : {};
      return { file: prepared.file, args: prepared.args, environment: prepared.environment, side: 'inside', ...offline, dispose: finish };
    } catch (cause) {
      drop();
      throw cause;
    }
  }

  #scan(policy: SandboxPolicy, signal: AbortSignal): Promise<ProtectedScan> {
    const { foldersMax, userHome, facts } = this.#options;
    return scanProtected({
      folders: foldersWith('write', policy),
      userHome,
      isDenied: policy.isDenied,
      programFiles: facts.programFiles?.() ?? [],
      signal,
      ...(foldersMax === undefined ? {} : { foldersMax }),
    });
  }

  async #finish(run: FinishedRun): Promise<SandboxReport> {
    const whenFailed = describeWalls(run);
    try {
      run.prepared.release();
      const remarks = await this.#undo(run);
      return { remarks, failed: remarks.length > 0, whenFailed };
    } catch (cause) {
      this.#options.logger.log('error', 'the changes of a confined command could not be checked', { cause: String(cause) });
      return { remarks: ['its changes to protected places could not be checked'], failed: true, whenFailed };
    } finally {
      run.drop();
    }
  }

  #drop(folder: string): void {
    try {
      removeFolder(folder);
    } catch (cause) {
      this.#options.logger.log('warn', 'the private folder of a command could not be removed', { folder, cause: String(cause) });
    }
  }

  async #undo({ policy, before }: FinishedRun): Promise<string[]> {
    // Aborting the command must not abort this check, which runs after the command has ended.
    const after = await this.#scan(policy, new AbortController().signal);
    const changes = findChanges(before, after, foldersWith('write', policy));
    const stamp = new Date(this.#options.clock.nowMs()).toISOString().replaceAll(/[-:.]/g, '');
    const folder = join(this.#options.facts.home, 'undone', `${stamp}-${process.pid}-${++this.#undone}`);
    const undone = undoAppeared(changes, folder);
    const sentences = describeChanges(changes, undone, folder);
    if (!after.isComplete) sentences.push('it made so many folders that not all could be checked for hooks and keys');
    return sentences;
  }
}

/** Returns the folders of local sockets, which exist if the path of the data folder is too long for a socket. */
function socketFoldersIn(temporaryFolder: string): string[] {
  const names = readdirSync(temporaryFolder).filter((name) => /^trayclaw-[0-9a-f]{16}$/.test(name));
  return names.map((name) => join(temporaryFolder, name));
}

interface FinishedRun {
  readonly policy: SandboxPolicy;
  readonly before: ProtectedScan;
  readonly prepared: PreparedRun;
  readonly skill: string | null;
  drop(): void;
}

function createBackend(options: SandboxOptions): SandboxBackend | null {
  const { config, environment, facts, platform } = options;
  const { limits } = config;
  if (config.backend === 'openshell') return new OpenShellBackend({ environment, limits, workspace: facts.workspace });
  const network = new NetworkSession();
  if (platform === 'darwin') return new MacBackend({ network, limits });
  if (platform !== 'linux') return null;
  const { allowDomains } = config.network;
  const isRoot = process.getuid?.() === 0;
  return new LinuxBackend({
    environment,
    network,
    limits,
    allowDomains,
    isRoot,
    kernel: kernelRelease(),
    machine: process.arch,
  });
}

function outside({ file, args, environment, sets }: SandboxCommand, report: SandboxReport): WrappedCommand {
  return { file, args, environment: { ...environment, ...sets }, side: 'outside', dispose: () => Promise.resolve(report) };
}

function listMissing(missing: readonly MissingProgram[]): string {
  return `${missing.map(({ what }) => what).join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`;
}

function unavailable(missing: readonly MissingProgram[]): AppError {
  return new AppError('sandbox_unavailable', `Commands run in the sandbox only, and there is none here: ${listMissing(missing)}.`, {
    hint: `${missing.map(({ install }) => install).join(' ')} Or set sandbox.mode to auto in config.yaml.`,
  });
}

function unexpected(missing: readonly MissingProgram[]): AppError {
  return new AppError(
    'sandbox_unavailable',
    `This command must run in the sandbox, but there is no sandbox here: ${listMissing(missing)}.`,
    {
      hint: `Nothing was done. Run it again; it is then treated as a command that is not confined. ${missing.map(({ install }) => install).join(' ')}`,
    },
  );
}

function assertVisible(cwd: string, policy: SandboxPolicy): void {
  const access = accessOf(cwd, policy);
  if (access === 'read' || access === 'write') return;
  throw new AppError('sandbox_unavailable', `The folder ${cwd} is hidden in the sandbox, so no command can run in it there.`, {
    hint: 'Add it to sandbox.files.read or sandbox.files.write in config.yaml, or run the command in the workspace.',
  });
}

function tooLarge(policy: SandboxPolicy): AppError {
  return new AppError(
    'sandbox_unavailable',
    `The writable folders contain too much to check for hooks and keys: ${foldersWith('write', policy).join(', ')}.`,
    { hint: 'Choose smaller folders for workspace.path and sandbox.files.write in config.yaml.' },
  );
}

function describeWalls({ policy, prepared: { remark }, skill }: FinishedRun): string {
  const { allowDomains } = policy;
  const where = skill === null ? 'in the sandbox' : `in the sandbox of the skill ${skill}`;
  const network = allowDomains.length === 0 ? 'no network' : `only ${allowDomains.join(', ')} of the network`;
  const walls = `it ran ${where}, which lets it write only ${foldersWith('write', policy).join(', ')} and $TMPDIR, and gives it ${network}`;
  return remark === undefined ? walls : `${walls}; ${remark}`;
}
