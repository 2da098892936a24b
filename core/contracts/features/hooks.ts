// Hooks: programs that a person runs before and after turns, model calls, tools and messages. A hook that runs before may deny or ask. No
// hook can allow or change anything.

import * as z from 'zod';
import { toolClassSchema, type ToolClass } from '../tools.ts';

export const hookPoints = [
  'before_run',
  'after_run',
  'before_model',
  'after_model',
  'before_tool',
  'after_tool',
  'before_message',
  'after_message',
] as const;
const hookPointSchema = z.enum(hookPoints);
export type HookPoint = z.infer<typeof hookPointSchema>;

const names = z.array(z.string().min(1).max(200)).min(1).max(100);

export const hookConfigSchema = z.strictObject({
  on: hookPointSchema,
  /** All given fields must match. Without it, the hook matches everything. */
  match: z
    .strictObject({
      tools: names.optional(),
      classes: z.array(toolClassSchema).min(1).optional(),
      agents: names.optional(),
      channels: names.optional(),
    })
    .optional(),
  /** A program and its arguments; no shell is used. */
  command: z.array(z.string().min(1).max(4096)).min(1).max(100),
  timeoutMs: z.number().int().min(100).max(60_000).default(10_000),
  /** Applies if the hook fails, hangs or prints an invalid answer. Defaults to deny before a tool, and to ignore otherwise. */
  onFailure: z.enum(['deny', 'ask', 'ignore']).optional(),
});
export type HookConfig = z.infer<typeof hookConfigSchema>;

export const hookEvents = {
  /** A hook that runs before: recorded in the session it concerns. A hook that runs after: in the system session, once it has ended. */
  'hook.ran': z.object({
    on: hookPointSchema,
    name: z.string(),
    outcome: z.enum(['passed', 'denied', 'asked', 'failed', 'skipped']),
    reason: z.string(),
    tookMs: z.number(),
    sessionId: z.string().nullable(),
    turnId: z.string().nullable(),
    callId: z.string().nullable(),
  }),
} as const;

/** The input of a hook, as JSON on its standard input. Secrets are redacted. */
export interface HookSubject {
  readonly on: HookPoint;
  readonly sessionId: string | null;
  readonly turnId: string | null;
  readonly agentId: string;
  readonly channel: string;
  /** The request of a turn; after the turn, also its outcome. */
  readonly run?: { readonly text: string; readonly status?: string; readonly error?: string | null };
  readonly model?: { readonly ref: string; readonly tokens: number; readonly outcome?: 'ok' | 'error'; readonly text?: string };
  readonly tool?: {
    readonly callId: string;
    readonly name: string;
    readonly class: ToolClass;
    /** As JSON. */
    readonly args: string;
    readonly summary: string;
    /** The gate's decision; after the call, its outcome. */
    readonly decision?: string;
    readonly outcome?: string;
    readonly result?: string;
  };
  readonly message?: { readonly to: string; readonly text: string; readonly outcome?: string };
}

/** The answer of a hook. An empty answer means no objection. A hook cannot allow anything. */
export const hookAnswerSchema = z.strictObject({
  decision: z.enum(['deny', 'ask']).optional(),
  reason: z.string().max(2000).optional(),
  note: z.string().max(2000).optional(),
});
export type HookAnswer = z.infer<typeof hookAnswerSchema>;

/** A hook of the host program, in the same process. */
export interface LibraryHook extends Partial<Pick<HookConfig, 'match' | 'timeoutMs' | 'onFailure'>> {
  readonly on: HookPoint;
  readonly name: string;
  run(subject: HookSubject, signal: AbortSignal): HookAnswer | undefined | Promise<HookAnswer | undefined>;
}

/** The combined answer of all hooks at one point. */
export interface HookVerdict {
  readonly decision: 'pass' | 'ask' | 'deny';
  readonly reason: string;
}

/** The hooks a person set up. They can only make decisions stricter: hold a call or a message back, never allow one. */
export interface HookPort {
  has(on: HookPoint): boolean;
  /** Fails with `cancelled` when the signal aborts; any other failure is part of the verdict. */
  before(subject: HookSubject, signal: AbortSignal, record: (ran: HookRan) => void): Promise<HookVerdict>;
  /** Never fails, and does not block. */
  after(subject: HookSubject): void;
}

export type HookRan = z.infer<(typeof hookEvents)['hook.ran']>;
