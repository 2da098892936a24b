// The ports of the command line: the terminal, the environment, and the parts only the process entry can wire.

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
  /** Printed output is kept in the log of a service manager. */
  readonly stdoutIsServiceLog: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** The person's home folder. */
  readonly userFolder: string;
  /** Ctrl-C, or a request to end. Returns the function that stops listening. */
  onInterrupt(listener: () => void): () => void;
  /** Aborts when the terminal is closed, just before the listeners above are called. */
  readonly gone: AbortSignal;
}

/** A runtime in this process. */
export interface HostedRuntime extends Claw {
  /** Sentences a person must read at the start; empty when all is well. */
  readonly notices?: readonly string[];
  /** The doors for other programs. */
  readonly routes?: readonly DoorRoute[];
  /** Turns that run here, or are about to be taken up; not those an earlier process left behind. */
  runningTurns(): number;
  /** Resolves when none of them runs. */
  whenIdle(): Promise<void>;
}

/** A running instance of the same person, found through its data folder. */
export interface FoundInstance {
  readonly record: { readonly pid: number; readonly url?: string | undefined; readonly token: string; readonly version: string };
  readonly claw: Claw;
}

/** Lets other processes join the runtime this one hosts. */
export interface OwnDoors {
  readonly openRequests: number;
  whenIdle(): Promise<void>;
  /** Fails with `port_in_use`. */
  serve(port?: number): Promise<{ readonly url: string; readonly token: string }>;
  dispose(): Promise<void>;
}

export interface CliParts {
  readonly version: string;
  readonly pid: number;
  readonly clock: Clock;
  pause(ms: number): Promise<unknown>;
  /** Starts the runtime in this process. Fails with `store_locked` when another process owns the data folder. */
  hostClaw(options: { readonly home: string; readonly resume: boolean }): Promise<HostedRuntime>;
  findInstance(home: string): Promise<FoundInstance | null>;
  openDoors(options: { readonly home: string; readonly claw: HostedRuntime }): Promise<OwnDoors>;
  /** Works on the files directly; no process may own the data folder. */
  restoreBackup(options: { readonly home: string; readonly file: string }): Promise<{ readonly from: string }>;
  /** Shows the window; resolves to how, or null when this machine has no way to. */
  openWindow(options: WindowOptions): Promise<string | null>;
  /** Runs the tray app until it ends; says in a line what takes long. */
  runDesktop(options: DesktopOptions): Promise<DesktopRun>;
  /** The Model Context Protocol on two streams; resolves when the client is gone. */
  serveMcp(options: McpStreams): Promise<void>;
  /** Fails with `not_found` where the system has none. */
  findService(options: { readonly home: string; readonly port?: number | undefined }): Promise<ServiceManager>;
}

export interface McpStreams {
  readonly claw: Claw;
  readonly caller: Caller;
  readonly input: Readable;
  readonly output: Writable;
  /** Whether the client may use it: see `scopeIncludes`. */
  may(what: string): boolean;
  readonly ended: AbortSignal;
}

/** The service manager of the person's own account. Errors say whether anything was changed. */
export interface ServiceManager {
  /** The file that describes the service. */
  readonly file: string;
  /** Sentences the person should read once it is installed. */
  readonly afterInstall: string;
  text(): string;
  install(): Promise<void>;
  /** False when none was installed. */
  uninstall(): Promise<boolean>;
  status(): Promise<ServiceState>;
}

export interface ServiceState {
  readonly isInstalled: boolean;
  readonly isRunning: boolean;
  /** The manager's own word for the state. */
  readonly state: string;
  readonly startsAtLogin: boolean;
  readonly pid: number | null;
}

/** For the superuser of a Linux Chromium runs without its sandbox only. */
interface StartsChromium {
  /** Just before that happens. */
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

/** How the tray app ended, or why it is unavailable: half a sentence, such as "Electron is not installed". */
export type DesktopRun = { readonly kind: 'ended'; readonly code: number } | { readonly kind: 'missing'; readonly why: string };
