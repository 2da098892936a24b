// The command as its caller describes it, and the result. The only port of the sandbox for other modules.

import type { ScriptBounds } from '../../contracts/tools.ts';

/** Environment entries that let a stop find the processes of a call. */
export type SpawnMarker = Readonly<Record<string, string>>;

export interface SandboxCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Real path of the folder it runs in. */
  readonly cwd: string;
  /** The environment it would inherit outside. */
  readonly environment: Readonly<Record<string, string>>;
  /** Additional variables, inside as well as outside: they decide what the command does. */
  readonly sets: Readonly<Record<string, string>>;
  readonly marker: SpawnMarker;
  /** A person approved this command, or gave the grant it runs on. */
  readonly attended: boolean;
  /** Describes what it reads, if it is known to do nothing else; otherwise null. */
  readonly reads: string | null;
  /** It makes no sense where part of the machine is hidden (`sudo`, which process holds a port). */
  readonly needsWholeMachine: boolean;
  /** Further folders it may read, real paths: the folders of a skill's scripts. */
  readonly readFolders?: readonly string[];
  /** Of the skill under whose name it runs: it gets no more than these, also where a person approved it. */
  readonly bounds?: ScriptBounds | null;
  /** The folder of the session, real path; the configured workspace by default. */
  readonly workspace?: string;
  readonly signal: AbortSignal;
}

export interface SandboxReport {
  /** Remarks to report regardless of the command's end: it ran without a sandbox, or something it did was undone. */
  readonly remarks: readonly string[];
  /** True when its changes make the call a failure. */
  readonly failed: boolean;
  /** A hint for a failed command: the restrictions of the sandbox. */
  readonly whenFailed: string | null;
}

export interface WrappedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly side: 'inside' | 'outside';
  /** Call once, when the command and everything it started have ended, or when it could not be started. Never rejects. */
  dispose(): Promise<SandboxReport>;
}

/** Right before a command is started. Fails with `sandbox_unavailable` where it must not run as it is. */
export interface CommandSandbox {
  wrap(command: SandboxCommand): Promise<WrappedCommand>;
}
