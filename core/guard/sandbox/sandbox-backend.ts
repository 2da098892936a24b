// The data types shared by the parts of the sandbox: a command to confine, what it may access, and the prepared start. No behaviour.

import type { SandboxCommand } from './sandbox-command.ts';
import type { ProtectedScan } from './protected-scan.ts';
import type { SandboxPolicy } from './sandbox-policy.ts';

export interface MissingProgram {
  /** The missing program: "bubblewrap (bwrap)". */
  readonly what: string;
  readonly install: string;
}

export interface Availability {
  /** Empty if the backend can run commands. */
  readonly missing: readonly MissingProgram[];
}

export interface LimitFact {
  readonly name: 'timeoutMs' | 'processes' | 'memoryMb' | 'fileMb';
  readonly value: number;
  /** How the limit is enforced here, or why it is not. */
  readonly how: string;
  readonly holds: boolean;
}

/** The environment is already reduced to the pass list. */
export interface SandboxJob extends Pick<SandboxCommand, 'file' | 'args' | 'cwd' | 'workspace' | 'environment' | 'marker' | 'signal'> {
  readonly policy: SandboxPolicy;
  readonly protectedPlaces: ProtectedScan;
  /** An empty private folder of this run. The caller removes it afterwards. */
  readonly temporaryFolder: string;
  /** Private to this instance. No run can see it. */
  readonly instanceFolder: string;
}

export interface PreparedRun {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** A remark about this way of running, beyond the policy. Shown if the command fails. */
  readonly remark?: string;
  /** Releases the resources of the run. Called once, even if the run never started. */
  release(): void;
}

export interface ShieldJob {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Real paths of existing folders. */
  readonly hidden: readonly string[];
  /** Folders below hidden folders that stay accessible. */
  readonly opened: readonly string[];
  /** Folders below hidden folders that can be read. */
  readonly readable: readonly string[];
}

export interface ShieldedStart {
  readonly file: string;
  readonly args: readonly string[];
}

export interface SandboxBackend {
  readonly name: 'srt' | 'openshell';
  /** Describes the confinement. */
  readonly how: string;
  availability(): Promise<Availability>;
  /** Checks without starting anything. Returns true as long as nothing is known to be missing. */
  seemsAvailable(): boolean;
  limits(): readonly LimitFact[];
  /** Fails with `sandbox_unavailable` if the run cannot be confined as the policy says. */
  prepare(job: SandboxJob): Promise<PreparedRun>;
  /**
   * Prepares a start with all the person's rights that hides these folders, except for the opened parts. Returns null if unavailable.
   * Absent if the backend does not support such a start.
   */
  shield?(job: ShieldJob): ShieldedStart | null;
  dispose(): Promise<void>;
}

/** Options of bash, which takes itself for a remote login if its input is a socket, and would then run .bashrc outside the sandbox. */
export const withoutStartUpFiles: readonly string[] = ['--norc', '-p'];
