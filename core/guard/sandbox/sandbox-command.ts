// The command as whoever starts it hands it over, and what comes back. The one port other modules know of the sandbox.

/** Environment entries that let a stop find the processes of a call. */
export type SpawnMarker = Readonly<Record<string, string>>;

export interface SandboxCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Real path of the folder it runs in. */
  readonly cwd: string;
  /** What it would inherit outside. */
  readonly environment: Readonly<Record<string, string>>;
  /** What it is given on top, inside as well as outside: it decides what the command does. */
  readonly sets: Readonly<Record<string, string>>;
  readonly marker: SpawnMarker;
  /** A person said yes to this command, or gave the grant it runs on. */
  readonly attended: boolean;
  /** What it reads, in words, where it is known to do nothing else; otherwise null. */
  readonly reads: string | null;
  /** It makes no sense where part of the machine is hidden (`sudo`, which process holds a port). */
  readonly needsWholeMachine: boolean;
  /** Further folders it may read, real paths: where a skill's scripts lie. */
  readonly readFolders?: readonly string[];
  /** The folder of the session, real path; the configured workspace unless told. */
  readonly workspace?: string;
  readonly signal: AbortSignal;
}

export interface SandboxReport {
  /** What has to be said whatever the command's end: it ran without a sandbox, or something it did was undone. */
  readonly remarks: readonly string[];
  /** True when what it did makes the call a failure. */
  readonly failed: boolean;
  /** Worth knowing when the command failed: what the sandbox does not let it do. */
  readonly whenFailed: string | null;
}

export interface WrappedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly side: 'inside' | 'outside';
  /** To be called once, when the command and all it started are gone, or when it could not be started. Never rejects. */
  dispose(): Promise<SandboxReport>;
}

/** Right before a command is started. Fails with `sandbox_unavailable` where it must not run as it is. */
export interface CommandSandbox {
  wrap(command: SandboxCommand): Promise<WrappedCommand>;
}
