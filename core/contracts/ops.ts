// The table of all operations. IPC, HTTP, the local socket, the library and the CLI are derived from it.

import type * as z from 'zod';
import type { DoorName } from './doors.ts';
import type { TurnBounds } from './turn-bounds.ts';
import type { errorBodySchema } from './errors.ts';
import { turnOps } from './turn-ops.ts';
import { gateOps } from './gate-ops.ts';
import { boundOps } from './bound-ops.ts';
import { careOps } from './care-ops.ts';
import { settingOps } from './setting-ops.ts';
import { agentOps } from './features/helpers.ts';
import { activityOps } from './activity-ops.ts';
import { runningOps } from './running-ops.ts';
import { deadLetterOps } from './features/dead-letters.ts';
import { commandOps } from './command-ops.ts';
import { identityOps } from './features/identity.ts';
import { contextOps } from './context-ops.ts';
import { healthOps } from './features/health.ts';
import { knowledgeOps } from './knowledge-ops.ts';
import { memoryOps } from './features/memory.ts';
import { outboxOps } from './outbox-ops.ts';
import { providerOps } from './provider-ops.ts';
import { featureOps } from './features.ts';
import { scheduleOps } from './features/schedule.ts';
import { sessionOps } from './session-ops.ts';
import { signalOps } from './features/signals.ts';
import { skillOps } from './features/skills.ts';
import { telegramOps } from './features/telegram.ts';
import { workspaceOps } from './workspace-ops.ts';

export const opTable = {
  ...turnOps,
  ...gateOps,
  ...boundOps,
  ...careOps,
  ...settingOps,
  ...sessionOps,
  ...contextOps,
  ...agentOps,
  ...activityOps,
  ...runningOps,
  ...scheduleOps,
  ...signalOps,
  ...commandOps,
  ...deadLetterOps,
  ...telegramOps,
  ...outboxOps,
  ...memoryOps,
  ...knowledgeOps,
  ...skillOps,
  ...identityOps,
  ...workspaceOps,
  ...providerOps,
  ...healthOps,
  ...featureOps,
} as const;

export type OpName = keyof typeof opTable;

/**
 * For code that validates calls of any operation. Cast through `unknown`, so that the compiler does not compare every schema with
 * `$ZodType`.
 */
export const opSchemas = opTable as unknown as Readonly<Record<OpName, Readonly<Record<'params' | 'result', z.core.$ZodType>>>>;

export type OpParams<N extends OpName> = z.input<(typeof opTable)[N]['params']>;
export type OpParsed<N extends OpName> = z.infer<(typeof opTable)[N]['params']>;
export type OpResult<N extends OpName> = z.infer<(typeof opTable)[N]['result']>;

export type OpHandlers = { readonly [N in OpName]: (params: OpParsed<N>, caller: ServedCaller) => OpResult<N> | Promise<OpResult<N>> };

/** The host program itself. */
export const libraryCaller: Caller = { channel: 'library', actor: 'library' };

/** The caller: its door, and a stable name for the audit trail. */
export interface Caller {
  readonly channel: DoorName;
  readonly actor: string;
  readonly signal?: AbortSignal;
  readonly bounds?: TurnBounds;
}

/** The caller as a handler sees it. */
export interface ServedCaller extends Caller {
  /** Aborted when the caller disconnects, and when the instance closes. */
  readonly gone: AbortSignal;
}

/** Joins the signals only for a handler that looks at them. */
export function servedCaller(caller: Caller, closing: AbortSignal): ServedCaller {
  return {
    ...caller,
    get gone() {
      return caller.signal === undefined ? closing : AbortSignal.any([caller.signal, closing]);
    },
  };
}

export type OpReply =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: z.infer<typeof errorBodySchema> };

export function isOpName(name: string): name is OpName {
  return Object.hasOwn(opTable, name);
}
