// The tasks and schedule tools: a to-do list, and times at which the agent resumes work. The schedule feature stores both, and owns the
// limits of what an agent may plan.

import * as z from 'zod';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { ScheduleSpecInput, Task } from '../../contracts/features/schedule.ts';
import { naming } from '../../contracts/named-things.ts';
import { timeZoneSchema } from '../../contracts/time-zone.ts';
import type { CallFacts, FactContext, ToolDefinition } from '../../contracts/tools.ts';
import { defineTool, shownPath } from '../../hands/tools/tools.ts';
import type { Agenda, FollowUp, RecurringJob } from './agenda.ts';

const LISTED = 100;
const MINUTE_MS = 60_000;

const taskIdInput = z.string().min(1).max(100).describe('Id of the task, as shown by list.');
const taskInput = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('list') }),
  z.strictObject({ action: z.literal('add'), text: z.string().trim().min(1).max(1000).describe('What remains to be done, in one line.') }),
  z.strictObject({ action: z.literal('done'), taskId: taskIdInput }),
  z.strictObject({ action: z.literal('drop'), taskId: taskIdInput }),
]);

/** The tasks are the agent's own notes. They change nothing outside the list, so the gate treats these calls as reads. */
const ownNotes: CallFacts = { class: 'read', paths: [], command: null, hosts: [] };

export function createAgendaTools(agenda: Agenda): readonly ToolDefinition[] {
  return [createTasks(agenda), createSchedule(agenda)];
}

function createTasks(agenda: Agenda): ToolDefinition {
  return defineTool({
    name: 'tasks',
    description:
      'A task list that survives restarts: list the open tasks, add one, or mark one as done or dropped. The heartbeat reads it.',
    input: taskInput,
    class: 'read',
    shows: { verb: 'use_tasks', target: ['text', 'action'] },
    isPrivate: 'memory',
    idempotency: (args) => (args.action === 'list' ? 'pure' : 'idempotent'),
    timeoutMs: 5_000,
    facts: () => ownNotes,
    summarize: (args) => (args.action === 'add' ? `add a task: ${shownPath(args.text)}` : `${args.action} in the task list`),
    run(args, context) {
      switch (args.action) {
        case 'list': {
          const tasks = agenda.tasks(LISTED);
          const forModel = tasks.length === 0 ? 'Nothing is open.' : tasks.map(({ taskId, text }) => `${taskId}  ${text}`).join('\n');
          return Promise.resolve({ forModel, untrusted: tasks.flatMap((task) => task.untrusted) });
        }
        case 'add':
          return Promise.resolve({ forModel: `Added as ${agenda.addTask(args.text, context).taskId}.` });
        case 'done':
          return Promise.resolve({ forModel: told(agenda.closeTask(args.taskId, 'done', context)) });
        case 'drop':
          return Promise.resolve({ forModel: told(agenda.closeTask(args.taskId, 'dropped', context)) });
      }
    },
  });
}

function told({ taskId, state }: Task): string {
  return `${taskId} is ${state}.`;
}

const scheduleInput = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('list') }),
  z.strictObject({
    action: z.literal('follow_up'),
    prompt: z.string().trim().min(1).max(4000).describe('What to do then; it arrives in this conversation as if the person had sent it.'),
    inMinutes: z.number().int().min(1).max(527_040).optional().describe('Minutes from now; or give "at".'),
    at: z
      .string()
      .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/)
      .optional()
      .describe('Instead of inMinutes: a local time such as 2026-03-29T09:30.'),
    zone: timeZoneSchema.optional().describe('Time zone of "at", such as Europe/Berlin. Default: that of this computer.'),
  }),
  z.strictObject({
    action: z.literal('repeat'),
    prompt: z.string().trim().min(1).max(4000).describe('What to do each time; it arrives in this conversation.'),
    name: z.string().trim().min(1).max(60).optional(),
    cron: z.string().min(1).max(200).optional().describe('Minute, hour, day of month, month, day of week, as in 30 7 * * 1-5.'),
    everyMinutes: z.number().int().min(5).max(527_040).optional().describe('Instead of cron.'),
    zone: timeZoneSchema.optional().describe('Time zone of cron, such as Europe/Berlin. Default: that of this computer.'),
    tools: z
      .array(naming('tool', z.string().min(1).max(64)))
      .max(50)
      .optional()
      .describe('The only tools that may be used then.'),
    usd: z.number().positive().max(100).optional().describe('Maximum US dollars each time.'),
  }),
  z.strictObject({
    action: z.literal('cancel'),
    scheduleId: z.string().min(1).max(100).describe('Id of the schedule, as shown by list.'),
  }),
]);
type ScheduleArgs = z.infer<typeof scheduleInput>;

function createSchedule(agenda: Agenda): ToolDefinition {
  return defineTool({
    name: 'schedule',
    description: 'Continue work on your own later: once (follow_up) or repeatedly (repeat); list what is scheduled here, or cancel it.',
    input: scheduleInput,
    class: 'write',
    shows: { verb: 'use_schedule', target: ['prompt', 'scheduleId'] },
    idempotency: (args) => (args.action === 'list' ? 'pure' : 'idempotent'),
    timeoutMs: 5_000,
    facts: (args, context) => {
      if (args.action === 'repeat') return recurringFacts(agenda, args, context);
      return args.action === 'follow_up' ? plannedFacts(agenda, args, context) : ownNotes;
    },
    summarize: (args) => {
      if (args.action === 'repeat') return `ask itself again and again, ${rhythmWords(args)}: ${shownPath(args.prompt)}`;
      return args.action === 'follow_up' ? `ask itself ${timeWords(args)}: ${shownPath(args.prompt)}` : `${args.action} what is planned`;
    },
    run(args, context) {
      switch (args.action) {
        case 'list': {
          const planned = agenda.followUps(context);
          const lines = planned.map(({ scheduleId, prompt, dueMs }) => `${scheduleId}  ${new Date(dueMs).toISOString()}  ${prompt}`);
          return Promise.resolve({ forModel: lines.length === 0 ? 'Nothing is scheduled here.' : lines.join('\n') });
        }
        case 'cancel':
          agenda.cancelFollowUp(args.scheduleId, context);
          return Promise.resolve({ forModel: `Cancelled ${args.scheduleId}.` });
        case 'repeat': {
          const { scheduleId, nextMs } = agenda.repeat(jobOf(args), context);
          return Promise.resolve({ forModel: `Scheduled as ${scheduleId}; next: ${nextMs.map(moment).join(', ')}.` });
        }
        case 'follow_up': {
          const { scheduleId, dueMs } = agenda.followUp({ prompt: args.prompt, when: timeOf(args) }, context);
          return Promise.resolve({ forModel: `Scheduled as ${scheduleId} for ${new Date(dueMs).toISOString()}.` });
        }
      }
    },
  });
}

type FollowUpArgs = Extract<ScheduleArgs, { action: 'follow_up' }>;

/** The planned turn runs unattended, so planning it needs an approval, whatever the turn will do. */
function plannedFacts(agenda: Agenda, args: FollowUpArgs, { turnId = '' }: FactContext): CallFacts {
  return unlessDenied(() => {
    agenda.previewFollowUp(timeOf(args), { turnId });
    return [`TrayClaw will start on its own ${timeWords(args)}.`];
  });
}

/** A limit of the agent is a refusal. Other errors, such as a time that has passed, are failures of the call, and no person is asked. */
function unlessDenied(risksOf: () => readonly string[]): CallFacts {
  const facts: CallFacts = { class: 'write', paths: [], command: null, hosts: [] };
  try {
    return { ...facts, risks: [...risksOf()] };
  } catch (cause) {
    const { code, message } = toAppError(cause);
    if (code !== 'denied') throw cause;
    return { ...facts, refused: message };
  }
}

function timeWords({ at, zone, inMinutes }: FollowUpArgs): string {
  if (at !== undefined) return `at ${at}${zone === undefined ? '' : ` (${zone})`}`;
  return `in ${inMinutes ?? 1} minutes`;
}

function timeOf({ at, zone, inMinutes }: FollowUpArgs): FollowUp['when'] {
  return at === undefined ? { inMinutes: inMinutes ?? 1 } : { local: at, zone };
}

type RepeatArgs = Extract<ScheduleArgs, { action: 'repeat' }>;

function jobOf({ prompt, name, tools, usd, ...time }: RepeatArgs): RecurringJob {
  return { prompt, name, tools, usd, when: rhythmOf(time) };
}

/** Fails with invalid_arguments unless exactly one of cron and everyMinutes is given. */
function rhythmOf({ cron, everyMinutes, zone }: Pick<RepeatArgs, 'cron' | 'everyMinutes' | 'zone'>): ScheduleSpecInput {
  if ((cron === undefined) === (everyMinutes === undefined)) {
    throw new AppError('invalid_arguments', 'Give either cron or everyMinutes.');
  }
  return cron === undefined
    ? { kind: 'every', everyMs: (everyMinutes ?? 0) * MINUTE_MS }
    : { kind: 'cron', expr: cron, ...(zone === undefined ? {} : { zone }) };
}

function rhythmWords({ cron, everyMinutes, zone }: RepeatArgs): string {
  return cron === undefined ? `every ${everyMinutes ?? 0} minutes` : `at ${cron}${zone === undefined ? '' : ` (${zone})`}`;
}

/** Shows the person, before the approval, when the job will start and what it may do. */
function recurringFacts(agenda: Agenda, args: RepeatArgs, { sessionId = '', turnId = '' }: FactContext): CallFacts {
  return unlessDenied(() => {
    const { nextMs, bounds } = agenda.previewRecurring(jobOf(args), { sessionId, turnId });
    const begins = `TrayClaw will start on its own, ${rhythmWords(args)}, until you remove it. Next: ${nextMs.map(moment).join(', ')}.`;
    const money = bounds.usd === null ? 'no limit of money' : `at most ${bounds.usd} US dollars`;
    const tools = bounds.tools === null ? 'any tool' : `only ${bounds.tools.join(', ')}`;
    return [begins, `Each time: ${money}; ${tools}; your grants do not count, and it asks you about calls that are not free.`];
  });
}

function moment(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
