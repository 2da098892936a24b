// The data types between the parts of the sandbox: a command to confine, what it may touch, and the prepared start. No behaviour.

import type { SandboxCommand } from './sandbox-command.ts';
import type { ProtectedScan } from './protected-scan.ts';
import type { SandboxPolicy } from './sandbox-policy.ts';

export interface MissingProgram {
  /** The missing program: "bubblewrap (bwrap)". */
  readonly what: string;
  readonly install: string;
}

export interface Availability {
  /** Empty when the backend can run commands. */
  readonly missing: readonly MissingProgram[];
}

export interface LimitFact {
  readonly name: 'timeoutMs' | 'processes' | 'memoryMb' | 'fileMb';
  readonly value: number;
  /** How it is enforced here, or why it is not. */
  readonly how: string;
  readonly holds: boolean;
}

/** Its environment is already cut down to the pass list. */
export interface SandboxJob extends Pick<SandboxCommand, 'file' | 'args' | 'cwd' | 'workspace' | 'environment' | 'marker' | 'signal'> {
  readonly policy: SandboxPolicy;
  readonly protectedPlaces: ProtectedScan;
  /** A private empty folder of this run; removed by the caller afterwards. */
  readonly temporaryFolder: string;
  /** Private to this instance; no run sees it. */
  readonly instanceFolder: string;
}

export interface PreparedRun {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** A remark about this way of running, beyond the policy; shown when the command fails. */
  readonly remark?: string;
  /** Releases the resources of the run. Called once, even when it never started. */
  release(): void;
}

export interface ShieldJob {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Real paths of folders that are there. */
  readonly hidden: readonly string[];
  /** Below them: these stay as they are. */
  readonly opened: readonly string[];
  /** Below them: these can be read. */
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
  /** The same without starting anything: true as long as nothing is known to be missing. */
  seemsAvailable(): boolean;
  limits(): readonly LimitFact[];
  /** Fails with `sandbox_unavailable` when the run cannot be confined as the policy says. */
  prepare(job: SandboxJob): Promise<PreparedRun>;
  /**
   * A start with all the person's rights that hides these folders, except the opened parts. Null if unavailable; absent on a backend
   * without such a start.
   */
  shield?(job: ShieldJob): ShieldedStart | null;
  dispose(): Promise<void>;
}
