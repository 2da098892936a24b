// The tasks and schedule tools: a to-do list, and times at which the agent resumes work. The feature keeps both, and the limits on what an
// agent may plan.

import * as z from 'zod';
import type { CallFacts, TaintSource, ToolContext, ToolDefinition } from '../../contracts/tools.ts';
import { defineTool, shownPath } from '../../hands/tools/tools.ts';

export interface AgendaTask {
  readonly taskId: string;
  readonly text: string;
  readonly state: 'open' | 'done' | 'dropped';
  readonly untrusted: readonly TaintSource[];
}

/** The place of a call, and the key that identifies it when it runs again. */
export type AgendaPlace = Pick<ToolContext, 'sessionId' | 'turnId' | 'idempotencyKey'>;

/** The port of the tools. All fail with an AppError that says why. */
export interface AgendaPort {
  tasks(limit: number): readonly AgendaTask[];
  addTask(text: string, place: AgendaPlace): AgendaTask;
  closeTask(taskId: string, how: 'done' | 'dropped', place: AgendaPlace): AgendaTask;
  /** A single time, in this conversation. */
  followUp(about: { readonly prompt: string; readonly when: FollowUpTime }, place: AgendaPlace): { scheduleId: string; dueMs: number };
  followUps(place: AgendaPlace): readonly { scheduleId: string; prompt: string; dueMs: number }[];
  cancelFollowUp(scheduleId: string, place: AgendaPlace): void;
}

export type FollowUpTime = { readonly inMinutes: number } | { readonly local: string; readonly zone?: string | undefined };

const LISTED = 100;

const taskIdInput = z.string().min(1).max(100).describe('Id of the task, as list shows it.');
const taskInput = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('list') }),
  z.strictObject({ action: z.literal('add'), text: z.string().trim().min(1).max(1000).describe('What is left to do, in one line.') }),
  z.strictObject({ action: z.literal('done'), taskId: taskIdInput }),
  z.strictObject({ action: z.literal('drop'), taskId: taskIdInput }),
]);

/** The agent's own note: it changes nothing outside the list, so the gate treats it as reading. */
const ownNotes: CallFacts = { class: 'read', paths: [], command: null, hosts: [] };

export function createAgendaTools(port: AgendaPort): readonly ToolDefinition[] {
  return [createTasks(port), createSchedule(port)];
}

function createTasks(port: AgendaPort): ToolDefinition {
  return defineTool({
    name: 'tasks',
    description: 'The task list, kept over restarts: list what is open, add a task, or mark one as done or dropped. The heartbeat sees it.',
    input: taskInput,
    class: 'read',
    shows: { verb: 'use_tasks', target: ['text', 'action'] },
    idempotency: (args) => (args.action === 'list' ? 'pure' : 'idempotent'),
    timeoutMs: 5_000,
    facts: () => ownNotes,
    summarize: (args) => (args.action === 'add' ? `add a task: ${shownPath(args.text)}` : `${args.action} in the task list`),
    run(args, context) {
      switch (args.action) {
        case 'list': {
          const tasks = port.tasks(LISTED);
          const forModel = tasks.length === 0 ? 'Nothing is open.' : tasks.map(({ taskId, text }) => `${taskId}  ${text}`).join('\n');
          return Promise.resolve({ forModel, untrusted: tasks.flatMap((task) => task.untrusted) });
        }
        case 'add':
          return Promise.resolve({ forModel: `Added as ${port.addTask(args.text, context).taskId}.` });
        case 'done':
          return Promise.resolve({ forModel: told(port.closeTask(args.taskId, 'done', context)) });
        case 'drop':
          return Promise.resolve({ forModel: told(port.closeTask(args.taskId, 'dropped', context)) });
      }
    },
  });
}

function told({ taskId, state }: AgendaTask): string {
  return `${taskId} is ${state}.`;
}

const scheduleInput = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('list') }),
  z.strictObject({
    action: z.literal('follow_up'),
    prompt: z.string().trim().min(1).max(4000).describe('What to do then. It is asked in this conversation as if the person asked it.'),
    inMinutes: z.number().int().min(1).max(527_040).optional().describe('How many minutes from now; or give "at".'),
    at: z
      .string()
      .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/)
      .optional()
      .describe('In place of inMinutes: a local time such as 2026-03-29T09:30.'),
    zone: z.string().min(1).max(100).optional().describe('Time zone of "at", such as Europe/Berlin; that of this computer when left out.'),
  }),
  z.strictObject({
    action: z.literal('cancel'),
    scheduleId: z.string().min(1).max(100).describe('Id of what is planned, as list shows it.'),
  }),
]);
type ScheduleArgs = z.infer<typeof scheduleInput>;

function createSchedule(port: AgendaPort): ToolDefinition {
  return defineTool({
    name: 'schedule',
    description: 'Take something up again by yourself at a later time, once: follow_up, list what is planned here, or cancel it.',
    input: scheduleInput,
    class: 'write',
    shows: { verb: 'use_schedule', target: ['prompt', 'scheduleId'] },
    idempotency: (args) => (args.action === 'list' ? 'pure' : 'idempotent'),
    timeoutMs: 5_000,
    facts: (args) => (args.action === 'follow_up' ? plannedFacts(args) : ownNotes),
    summarize: (args) =>
      args.action === 'follow_up' ? `ask itself ${timeWords(args)}: ${shownPath(args.prompt)}` : `${args.action} what is planned`,
    run(args, context) {
      switch (args.action) {
        case 'list': {
          const planned = port.followUps(context);
          const lines = planned.map(({ scheduleId, prompt, dueMs }) => `${scheduleId}  ${new Date(dueMs).toISOString()}  ${prompt}`);
          return Promise.resolve({ forModel: lines.length === 0 ? 'Nothing is planned here.' : lines.join('\n') });
        }
        case 'cancel':
          port.cancelFollowUp(args.scheduleId, context);
          return Promise.resolve({ forModel: `Cancelled ${args.scheduleId}.` });
        case 'follow_up': {
          const { scheduleId, dueMs } = port.followUp({ prompt: args.prompt, when: timeOf(args) }, context);
          return Promise.resolve({ forModel: `Planned as ${scheduleId} for ${new Date(dueMs).toISOString()}.` });
        }
      }
    },
  });
}

type FollowUpArgs = Extract<ScheduleArgs, { action: 'follow_up' }>;

/** Starts a turn unattended: needs an approval, whatever the turn will do. */
function plannedFacts(args: FollowUpArgs): CallFacts {
  return { class: 'write', paths: [], command: null, hosts: [], risks: [`TrayClaw will start on its own ${timeWords(args)}.`] };
}

function timeWords({ at, zone, inMinutes }: FollowUpArgs): string {
  if (at !== undefined) return `at ${at}${zone === undefined ? '' : ` (${zone})`}`;
  return `in ${inMinutes ?? 1} minutes`;
}

function timeOf({ at, zone, inMinutes }: FollowUpArgs): FollowUpTime {
  return at === undefined ? { inMinutes: inMinutes ?? 1 } : { local: at, zone };
}
