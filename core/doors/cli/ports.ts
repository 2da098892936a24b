// The ports of the command line: the terminal, the environment, and the parts that only the process entry can provide.

import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { Claw } from '../../contracts/claw.ts';
import type { DoorRoute } from '../../contracts/door-route.ts';
import type { Caller } from '../../contracts/ops.ts';

export interface CliIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly stdinIsTty: boolean;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  /** True if a service manager stores the printed output in its log. */
  readonly stdoutIsServiceLog: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** The person's home folder. */
  readonly userFolder: string;
  /** Listens for Ctrl-C or a request to end. Returns a function that stops listening. */
  onInterrupt(listener: () => void): () => void;
  /** Aborts when the terminal is closed, just before the listeners above are called. */
  readonly gone: AbortSignal;
}

/** A runtime in this process. */
export interface HostedRuntime extends Claw {
  /** Messages that a person must read at the start; usually empty. */
  readonly notices?: readonly string[];
  /** The doors for other programs. */
  readonly routes?: readonly DoorRoute[];
  /** The number of turns that run here or are about to be resumed. Turns that an earlier process left are not included. */
  runningTurns(): number;
  /** Resolves when no turn runs here. */
  whenIdle(): Promise<void>;
}

/** A running instance of the same person, found through its data folder. */
export interface FoundInstance {
  readonly record: { readonly pid: number; readonly url?: string | undefined; readonly token: string; readonly version: string };
  readonly claw: Claw;
  /** Asks the tray app to serve. Fails with `port_in_use`. Absent in any other instance. */
  readonly serve?: (port?: number) => Promise<{ readonly url: string }>;
}

/** Lets other processes join the runtime that this process hosts. */
export interface OwnDoors {
  readonly openRequests: number;
  /** How long ago another process last asked, or got its answer; infinite if none did. */
  readonly askedAgoMs: number;
  whenIdle(): Promise<void>;
  /** Fails with `port_in_use`. */
  serve(port?: number): Promise<{ readonly url: string; readonly token: string }>;
  dispose(): Promise<void>;
}

export interface HostOptions {
  readonly home: string;
  readonly resume: boolean;
  /** Uses the default settings instead of the file. */
  readonly ignoresConfig?: boolean;
}

export interface CliParts {
  readonly version: string;
  readonly pid: number;
  readonly clock: Clock;
  pause(ms: number): Promise<unknown>;
  /** Starts the runtime in this process. Fails with `store_locked` if another process owns the data folder, and with `invalid_config`. */
  hostClaw(options: HostOptions): Promise<HostedRuntime>;
  findInstance(home: string): Promise<FoundInstance | null>;
  /**
   * Ends the process that owns the data folder, for the panic stop if it does not answer. Resolves to its id; null if it is not certain
   * which process that is, and on Windows.
   */
  endOwner(home: string): Promise<number | null>;
  openDoors(options: { readonly home: string; readonly claw: HostedRuntime }): Promise<OwnDoors>;
  /** Works directly on the files, so no process may own the data folder. Resolves to the backup and where the replaced file is kept. */
  restoreBackup(options: {
    readonly home: string;
    readonly file: string;
  }): Promise<{ readonly from: string; readonly kept: string | null }>;
  /** Opens the window. Resolves to the program that shows it, or null if this machine has none. */
  openWindow(options: WindowOptions): Promise<string | null>;
  /** Runs the tray app until it ends. Prints a line if something takes long. */
  runDesktop(options: DesktopOptions): Promise<DesktopRun>;
  /** Serves the Model Context Protocol on two streams. Resolves when the client disconnects. */
  serveMcp(options: McpStreams): Promise<void>;
  /** Fails with `not_found` if the system has no service manager. */
  findService(options: { readonly home: string; readonly port?: number | undefined }): Promise<ServiceManager>;
}

export interface McpStreams {
  readonly claw: Claw;
  readonly caller: Caller;
  readonly input: Readable;
  readonly output: Writable;
  /** Whether the client may use an item; see `scopeIncludes`. */
  may(what: string): boolean;
  readonly ended: AbortSignal;
}

/** The service manager of the person's own account. Its errors say whether anything was changed. */
export interface ServiceManager {
  /** The file that describes the service. */
  readonly file: string;
  /** Text that the person should read after the installation. */
  readonly afterInstall: string;
  text(): string;
  install(): Promise<void>;
  /** Returns false if no service was installed. */
  uninstall(): Promise<boolean>;
  status(): Promise<ServiceState>;
}

export interface ServiceState {
  readonly isInstalled: boolean;
  readonly isRunning: boolean;
  /** The state in the service manager's own words. */
  readonly state: string;
  readonly startsAtLogin: boolean;
  readonly pid: number | null;
}

/** Starting Chromium as root on Linux, where it runs without its sandbox. */
interface StartsChromium {
  /** Called just before Chromium is started without its sandbox. */
  readonly onNoSandbox: () => void;
}

export interface WindowOptions extends StartsChromium {
  readonly home: string;
  readonly url: string;
  readonly token: string;
}

export interface DesktopOptions extends StartsChromium {
  readonly home: string;
  readonly say: (line: string) => void;
  readonly onInterrupt: (listener: () => void) => () => void;
}

/** How the tray app ended, or why it is unavailable, as a clause such as "Electron is not installed". */
export type DesktopRun = { readonly kind: 'ended'; readonly code: number } | { readonly kind: 'missing'; readonly why: string };
