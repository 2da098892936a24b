// Hooks: programs a person runs before and after runs, model calls, tools and messages. A hook before may deny or ask; none can allow or
// change.

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
  /** Without it, the hook matches everything. All given fields must match. */
  match: z
    .strictObject({
      tools: names.optional(),
      classes: z.array(toolClassSchema).min(1).optional(),
      agents: names.optional(),
      channels: names.optional(),
    })
    .optional(),
  /** A program and its arguments; no shell. */
  command: z.array(z.string().min(1).max(4096)).min(1).max(100),
  timeoutMs: z.number().int().min(100).max(60_000).default(10_000),
  /** If it fails, hangs or prints an invalid answer. Defaults to deny before a tool, else ignore. */
  onFailure: z.enum(['deny', 'ask', 'ignore']).optional(),
});
export type HookConfig = z.infer<typeof hookConfigSchema>;

export const hookEvents = {
  /** Before: in the conversation it was about. After: in the system session, once it has ended. */
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

/** The input of a hook: JSON on its standard input. Secrets are redacted. */
export interface HookSubject {
  readonly on: HookPoint;
  readonly sessionId: string | null;
  readonly turnId: string | null;
  readonly agentId: string;
  readonly channel: string;
  /** The request of a run; after it, also how it ended. */
  readonly run?: { readonly text: string; readonly status?: string; readonly error?: string | null };
  readonly model?: { readonly ref: string; readonly tokens: number; readonly outcome?: 'ok' | 'error'; readonly text?: string };
  readonly tool?: {
    readonly callId: string;
    readonly name: string;
    readonly class: ToolClass;
    /** JSON. */
    readonly args: string;
    readonly summary: string;
    /** The gate's decision; after the call, its outcome. */
    readonly decision?: string;
    readonly outcome?: string;
    readonly result?: string;
  };
  /** An outbound message. */
  readonly message?: { readonly to: string; readonly text: string; readonly outcome?: string };
}

/** The answer of a hook. No answer means no objection; a hook cannot allow anything. */
export const hookAnswerSchema = z.strictObject({
  decision: z.enum(['deny', 'ask']).optional(),
  reason: z.string().max(2000).optional(),
  note: z.string().max(2000).optional(),
});
export type HookAnswer = z.infer<typeof hookAnswerSchema>;

/** A hook of the program that uses the library, in its own process. */
export interface LibraryHook extends Partial<Pick<HookConfig, 'match' | 'timeoutMs' | 'onFailure'>> {
  readonly on: HookPoint;
  readonly name: string;
  run(subject: HookSubject, signal: AbortSignal): HookAnswer | undefined | Promise<HookAnswer | undefined>;
}

/** The combined answer of all hooks at one place. */
export interface HookVerdict {
  readonly decision: 'pass' | 'ask' | 'deny';
  readonly reason: string;
}

export type HookRan = z.infer<(typeof hookEvents)['hook.ran']>;
