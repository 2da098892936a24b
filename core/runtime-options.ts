// Options that only this project's own programs and tests may pass, in addition to those of the library.

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
  /** The delay between a channel's retries. Resolves to false as soon as the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<boolean>;
  readonly ids?: IdSource;
  /** Health checks of the host program, in addition to the runtime's own. */
  readonly moreChecks?: HealthSource['check'];
  /** The URL of the public price list, which is downloaded only on request. Set it to a mirror for networks without internet access. */
  readonly priceListUrl?: string;
  /** Overrides how the browser reaches the network. */
  readonly browser?: BrowserOptions;
  /** Starts the engine's child process if the program is not plain Node, as in the desktop app. */
  readonly startChild?: StartChild;
  /** The data folder is deleted at the end, so writes do not wait for the disk. */
  readonly isThrowaway?: boolean;
  /** A cache of prepared tool schemas, shared by several runtimes with the same settings. */
  readonly sharedTools?: Map<string, SendableTool>;
  /** For the project's own fault tests; released programs never set it. */
  readonly faults?: FaultHooks;
}

/** The names of these options. The compiler checks that the list is complete. */
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
  /** Replaces a part with a test double, so that a test can show what that part prevents. */
  readonly replaceParts?: (parts: TurnDeps) => TurnDeps;
  readonly bootedAtMs?: number;
  /** Overrides the machine's readings. */
  readonly machine?: Pick<Machine, 'freeBytes'>;
  /** Replaces the redactor of one sink with a test double. */
  readonly replaceSafety?: (safety: SafetyChecks, sink: RedactedSink) => SafetyChecks;
}

/** The sinks: places where text is stored or leaves the runtime. Each has its own redaction, in addition to the redaction inside a turn. */
export type RedactedSink = 'event-log' | 'app-log' | 'artifacts' | 'tool-results' | 'prompt' | 'channels' | 'doors';
