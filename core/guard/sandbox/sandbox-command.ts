// The command as its caller describes it, and the result. The only port of the sandbox for other modules.

import type { ScriptBounds } from '../../contracts/tools.ts';

/** Environment entries that let a stop find the processes of a call. */
export type SpawnMarker = Readonly<Record<string, string>>;

export interface SandboxCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Real path of the folder the command runs in. */
  readonly cwd: string;
  /** The environment the command would inherit outside. */
  readonly environment: Readonly<Record<string, string>>;
  /** Additional variables, set inside and outside the sandbox, because they determine what the command does. */
  readonly sets: Readonly<Record<string, string>>;
  readonly marker: SpawnMarker;
  /** True if a person approved this command, or gave the grant it runs on. */
  readonly attended: boolean;
  /** Describes what the command reads if it is known to do nothing else; otherwise null. */
  readonly reads: string | null;
  /** True if the command is useless when part of the machine is hidden (`sudo`, looking up which process uses a port). */
  readonly needsWholeMachine: boolean;
  /** Real paths of additional folders the command may read: the folders of a skill's scripts. */
  readonly readFolders?: readonly string[];
  /** The bounds of the skill that the command runs for. The command gets no more than these, even if a person approved it. */
  readonly bounds?: ScriptBounds | null;
  /** The folder of the session, real path. Defaults to the configured workspace. */
  readonly workspace?: string;
  readonly signal: AbortSignal;
}

export interface SandboxReport {
  /** Remarks to report whatever the command's result: it ran without a sandbox, or something it did was undone. */
  readonly remarks: readonly string[];
  /** True if the command's changes make the call a failure. */
  readonly failed: boolean;
  /** A hint for a failed command: the restrictions of the sandbox. */
  readonly whenFailed: string | null;
}

export interface WrappedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly side: 'inside' | 'outside';
  /** True if it reaches no network. */
  readonly isOffline?: true;
  /** Must be called once, after the command and everything it started have ended, or if it could not be started. Never rejects. */
  dispose(): Promise<SandboxReport>;
}

/** Called right before a command is started. Fails with `sandbox_unavailable` if the command must not run as it is. */
export interface CommandSandbox {
  wrap(command: SandboxCommand): Promise<WrappedCommand>;
}
