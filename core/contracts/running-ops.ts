// Operations on what is at work now: turns, their calls, and commands in the background. Used by ops.ts.

import * as z from 'zod';
import { defineOps } from './command-form.ts';
import { id, none } from './op-params.ts';

export const runningOps = defineOps({
  /** Of every session, those of subagents and schedules included; the oldest first. Turns that wait for a person are among them. */
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
          /** The calls that run at the moment. */
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
          /** The end of its output. */
          output: z.string(),
        }),
      ),
    }),
    about: 'list what is at work now: turns, their calls, and commands in the background',
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
