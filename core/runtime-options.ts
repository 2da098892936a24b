// The options of the runtime that only this project's own programs and tests may pass, in addition to those of the library.

import type { IdSource } from './base/ids.ts';
import type { HealthSource } from './contracts/health.ts';
import type { TrayClawOptions } from './contracts/library.ts';
import type { SafetyChecks } from './guard/safety/safety.ts';
import type { StartChild } from './mind/llm/llm.ts';
import type { SendableTool } from './hands/tools/tools.ts';
import type { CrashPoints, TurnDeps } from './runtime/turns/turns.ts';
import type { BrowserOptions } from './features/browser/browser.ts';
import type { Machine } from './features/health/health.ts';

export interface RuntimeOptions extends TrayClawOptions {
  readonly version?: string;
  /** Rests of a door between two tries; resolves false at once when the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<boolean>;
  readonly ids?: IdSource;
  /** Health checks of the host program, in addition to those of the runtime. */
  readonly moreChecks?: HealthSource['check'];
  /** Where the public price list is downloaded from when a person asks; a mirror, for a network without the internet. */
  readonly priceListUrl?: string;
  /** Other ways of the browser into the network. */
  readonly browser?: BrowserOptions;
  /** Starts the child of the engine where the program is no Node, as in the desktop app. */
  readonly startChild?: StartChild;
  /** The data folder is deleted at the end: nothing waits for the disk. */
  readonly isThrowaway?: boolean;
  /** Forms of tools that several programs on the same settings share. */
  readonly sharedTools?: Map<string, SendableTool>;
  /** For the project's own fault tests; the program passes none. */
  readonly faults?: FaultHooks;
}

/** Their names; the compiler keeps the list whole. */
export const ownOptions: Readonly<Record<Exclude<keyof RuntimeOptions, keyof TrayClawOptions>, true>> = {
  version: true,
  wait: true,
  ids: true,
  moreChecks: true,
  priceListUrl: true,
  browser: true,
  startChild: true,
  isThrowaway: true,
  sharedTools: true,
  faults: true,
};

export interface FaultHooks {
  readonly crashPoints?: CrashPoints;
  /** Puts a double in place of a part, so that a test can show what that part prevents. */
  readonly replaceParts?: (parts: TurnDeps) => TurnDeps;
  /** When the machine came up. */
  readonly bootedAtMs?: number;
  /** Overrides readings of the machine. */
  readonly machine?: Pick<Machine, 'freeBytes'>;
  /** The same for the redactor of one sink. */
  readonly replaceSafety?: (safety: SafetyChecks, sink: RedactedSink) => SafetyChecks;
}

/** The places where text leaves the runtime or is stored; each has one redaction, in addition to those inside a turn. */
export type RedactedSink = 'event-log' | 'app-log' | 'artifacts' | 'tool-results' | 'prompt' | 'channels' | 'doors';
