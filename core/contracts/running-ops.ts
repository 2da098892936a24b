// Operations on work in progress: turns, their calls, and background commands. Used by ops.ts.

import * as z from 'zod';
import { defineOps, id, none } from './define-ops.ts';

export const runningOps = defineOps({
  /** Covers every session, including those of subagents and schedules, oldest first. Includes turns that wait for a person. */
  'running.list': {
    params: none,
    result: z.object({
      turns: z.array(
        z.object({
          turnId: z.string(),
          sessionId: z.string(),
          title: z.string(),
          agentId: z.string(),
          channel: z.string(),
          status: z.enum(['queued', 'running', 'waiting']),
          sinceMs: z.number().int(),
          /** The calls that are running now. */
          calls: z.array(z.object({ callId: z.string(), tool: z.string(), args: z.string() })),
        }),
      ),
      commands: z.array(
        z.object({
          commandId: z.string(),
          command: z.string(),
          sessionId: z.string(),
          title: z.string(),
          sinceMs: z.number().int(),
          /** The last part of its output. */
          output: z.string(),
        }),
      ),
    }),
    about: 'list what runs now: turns, their calls, and commands in the background',
    commands: { 'running list': { example: '' } },
  },
  'running.stop': {
    params: z.strictObject({ commandId: id }),
    result: z.object({ stopped: z.boolean() }),
    about: 'end a command in the background and all that it started',
    doneWhen: 'stopped',
    commands: { 'running stop': { takes: ['commandId'], example: 'cmd-1-4711' } },
  },
});
