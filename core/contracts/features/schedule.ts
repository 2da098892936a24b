// Schedules, the heartbeat and the task list: records, deliveries, the settings, the events (all in the system session) and the operations.
// Used by events.ts, ops.ts and config.ts.

import * as z from 'zod';
import { agentName, defineOps, id, most, none } from '../define-ops.ts';
import { naming } from '../named-things.ts';
import { timeZoneSchema } from '../time-zone.ts';
import { outsiderSchema } from '../outsider.ts';
import { taintSourceSchema } from '../tools.ts';
import { jobBoundsSchema, narrowedSettings } from '../turn-bounds.ts';
import { workFileSchema } from './work.ts';

const moment = z.number().int().min(0).max(8_640_000_000_000_000);
const zoneSchema = timeZoneSchema.describe('time zone, such as Europe/Berlin');

/** The shortest interval is a minute; no scheduled task may run more often. */
export const everyMsMin = 60_000;
const everyMsMax = 366 * 86_400_000;

/**
 * The time as requested. A local time that is skipped in spring means the first moment after it; a local time that occurs twice means the
 * first.
 */
export const scheduleSpecInputSchema = z.union([
  z.strictObject({ kind: z.literal('at'), atMs: moment }),
  z.strictObject({
    kind: z.literal('at'),
    local: z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/, 'must be a local time such as 2026-03-29T02:30'),
    zone: zoneSchema.optional(),
  }),
  z.strictObject({ kind: z.literal('every'), everyMs: z.number().int().min(everyMsMin).max(everyMsMax), anchorMs: moment.optional() }),
  z.strictObject({ kind: z.literal('cron'), expr: z.string().min(1).max(200), zone: zoneSchema.optional() }),
]);
export type ScheduleSpecInput = z.infer<typeof scheduleSpecInputSchema>;

/** The time as stored. Moments and zones are resolved, so that nothing depends on where and when it is read. */
export const scheduleSpecSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('at'), atMs: moment, local: z.string().optional(), zone: z.string().optional() }),
  z.object({ kind: z.literal('every'), everyMs: z.number().int(), anchorMs: moment }),
  z.object({ kind: z.literal('cron'), expr: z.string(), zone: z.string() }),
]);
export type ScheduleSpec = z.infer<typeof scheduleSpecSchema>;

/** How to handle due times that passed while nothing could run. `all` makes up for the newest few, one after the other. */
export const missedPolicySchema = z.enum(['skip', 'once', 'all']);
export type MissedPolicy = z.infer<typeof missedPolicySchema>;

export const scheduleSchema = z.object({
  scheduleId: z.string(),
  name: z.string(),
  prompt: z.string(),
  spec: scheduleSpecSchema,
  agentId: z.string(),
  /** `own`: always the same separate session. `new`: a new session each time. Otherwise the id of a session. */
  session: z.string(),
  missed: missedPolicySchema,
  bounds: jobBoundsSchema,
  /** How long an approval in such a turn waits before it is denied. */
  approvalMs: z.number().int(),
  enabled: z.boolean(),
  createdBy: z.string(),
  createdAtMs: z.number().int(),
  /** The chat to which the answer is sent; `last` is the one used last. */
  deliver: z.string().nullable(),
  /** Files of the workspace: the answer is added to the one and replaces the other. `{date}` in the name is its day. */
  appendTo: z.string().nullable().optional(),
  writeTo: z.string().nullable().optional(),
  /** The length of the chain of schedules that created this one; 0 for a schedule of a person. */
  depth: z.number().int(),
  /** The untrusted sources of the prompt, if an agent wrote it after reading untrusted content. */
  untrusted: z.array(taintSourceSchema),
  /** On whose behalf it runs if an outsider's turn planned it. */
  outsider: outsiderSchema.optional(),
  /** Work with criteria instead of a turn; the prompt is its goal. */
  task: workFileSchema.optional(),
});
export type Schedule = z.infer<typeof scheduleSchema>;
export type ScheduledTask = NonNullable<Schedule['task']>;

/**
 * run: a turn was started. missed: nothing could run at that time. overlap: the last turn was still open. paused: the schedule was switched
 * off. panic: the panic stop was engaged. refused: the turn could not be started.
 */
export const firedDispositionSchema = z.enum(['run', 'missed', 'overlap', 'paused', 'panic', 'refused']);
export type FiredDisposition = z.infer<typeof firedDispositionSchema>;

export const scheduleFiredSchema = z.object({
  scheduleId: z.string(),
  dueMs: z.number().int(),
  disposition: firedDispositionSchema,
  turnId: z.string().optional(),
  /** The work that was started instead of a turn. */
  taskId: z.string().optional(),
  sessionId: z.string().optional(),
  /** This entry covers all due times from `dueMs` to this one, inclusive. */
  untilMs: z.number().int().optional(),
  /** The number of due times; at least this many if `atLeast`. */
  count: z.number().int().optional(),
  atLeast: z.literal(true).optional(),
  /** A person or an agent requested the run, so it uses up no due time. */
  by: z.string().optional(),
  reason: z.string().optional(),
});
export type ScheduleFired = z.infer<typeof scheduleFiredSchema>;

export const taskSchema = z.object({
  taskId: z.string(),
  text: z.string(),
  state: z.enum(['open', 'done', 'dropped']),
  createdAtMs: z.number().int(),
  closedAtMs: z.number().int().nullable(),
  by: z.string(),
  sessionId: z.string().nullable(),
  untrusted: z.array(taintSourceSchema),
});
export type Task = z.infer<typeof taskSchema>;

const timeOfDay = z.string().regex(/^([01]\d|2[0-4]):[0-5]\d$/, 'must be a time such as 08:00');

export const heartbeatConfigSchema = z
  .strictObject({
    /** 0 means off; otherwise at least 5. */
    everyMinutes: z
      .number()
      .int()
      .min(0)
      .max(10_080)
      .refine((minutes) => minutes === 0 || minutes >= 5, 'must be 0 for off, or at least 5')
      .default(30),
    /** Equal values mean the whole day. */
    activeHours: z.strictObject({ from: timeOfDay, to: timeOfDay, zone: timeZoneSchema.optional() }).optional(),
    agent: agentName.default('main'),
    /** The chat that receives the result; `last` is the one used last, `none` means no chat. */
    deliver: z.string().min(1).max(200).default('last'),
    ...narrowedSettings,
  })
  .prefault({});

export const scheduleEvents = {
  'schedule.created': z.object({ schedule: scheduleSchema }),
  /** The complete schedule from now on. A changed time restarts it: due times count from this moment. */
  'schedule.changed': z.object({ schedule: scheduleSchema, by: z.string() }),
  'schedule.removed': z.object({ scheduleId: z.string(), by: z.string() }),
  /** The outcome of a due time, or of several that are combined. */
  'schedule.fired': scheduleFiredSchema,
  /** The clock was set back. Due times count from `toMs` again, but those that have run do not run again. */
  'schedule.rewound': z.object({ fromMs: z.number().int(), toMs: z.number().int() }),
  /** The turn of a heartbeat has ended. quiet: nothing to report. repeated: the same text was reported within a day. */
  'heartbeat.ended': z.object({
    turnId: z.string(),
    outcome: z.enum(['quiet', 'told', 'repeated', 'failed']),
    /** The hash of the text, to recognize a repetition. */
    textHash: z.string(),
    /** The chat to which it was sent. */
    to: z.string().nullable(),
    /** Beats since the last one that ended, without a model request: there was nothing to do, or it was outside the active hours. */
    idle: z.number().int(),
  }),
  'task.added': taskSchema.pick({ taskId: true, text: true, by: true, sessionId: true, untrusted: true }),
  'task.closed': z.object({ taskId: z.string(), how: z.enum(['done', 'dropped']), by: z.string() }),
} as const;

const answerFile = z.string().trim().min(1).max(500).nullable().optional();

const wanted = {
  name: z.string().trim().min(1).max(100),
  /** The message to send at that time, or a task instead of it. */
  prompt: z.string().trim().min(1).max(20_000).optional(),
  task: workFileSchema.optional(),
  /** A task file, for callers on this computer. */
  file: z.string().min(1).max(4096).optional(),
  spec: scheduleSpecInputSchema,
  agentId: agentName.optional(),
  session: z.union([z.enum(['own', 'new']), id]).optional(),
  missed: missedPolicySchema.optional(),
  bounds: jobBoundsSchema.optional(),
  /** From one second to one day. */
  approvalMs: z.number().int().min(1000).max(86_400_000).optional(),
  enabled: z.boolean().optional(),
  /** A chat, or `last` for the one used last. */
  deliver: naming('chat', z.string().min(1).max(200), (to) => (to === 'last' ? null : to))
    .nullable()
    .optional(),
  /** Files that keep the answer, relative to the workspace; `{date}` is its day. A failed turn changes neither. */
  appendTo: answerFile,
  writeTo: answerFile,
};

const firingSchema = scheduleFiredSchema.extend({
  atMs: z.number().int(),
  /** The status of its turn: queued, running, waiting, or how it ended. */
  status: z.string().nullable(),
});

export const scheduleViewSchema = scheduleSchema.extend({
  /** The next due times, at most five. Empty while it is paused, and after it has ended. */
  nextMs: z.array(z.number().int()),
  /** Outcomes of the last due times, newest first. */
  last: z.array(firingSchema),
});
export type ScheduleView = z.infer<typeof scheduleViewSchema>;

const heartbeatStateSchema = z.object({
  enabled: z.boolean(),
  everyMinutes: z.number().int(),
  nextMs: z.number().int().nullable(),
  file: z.string(),
  /** The reason for the last beat's outcome, as a sentence. */
  lastOutcome: z.string().nullable(),
  lastAtMs: z.number().int().nullable(),
  lastTurnId: z.string().nullable(),
  /** Beats since the start for which no model was asked. */
  idle: z.number().int(),
});
export type HeartbeatState = z.infer<typeof heartbeatStateSchema>;

const times = {
  '--at <time>': 'once: 2026-03-29T02:30 as clocks show it there, or 2026-03-29T02:30:00Z',
  '--every <interval>': 'at an interval: 15m, 2h, 1d',
  '--cron <line>': 'minute, hour, day of month, month, day of week',
  '--zone <name>': 'such as Europe/Berlin; the zone of this machine by default',
};

const named = {
  agentId: 'the agent that does it; main by default',
  session: { flag: 'session <id>', about: 'own, new, or the id of one' },
  missed: 'what to do about times that passed while TrayClaw did not run',
  '--approval-minutes <n>': 'deny an approval that is still open after this time',
  deliver: { flag: 'deliver <chat>', about: 'the answer is sent there; last for the one used last' },
};

const answerFiles = {
  appendTo: { flag: 'append-to <file>', about: 'the answer is added to this file of the workspace; {date} in the name is its day' },
  writeTo: { flag: 'write-to <file>', about: 'the answer replaces this file of the workspace; {date} in the name is its day' },
};

export const scheduleOps = defineOps({
  /** `clockJump` is the last jump of the clock while this instance ran, detected with a monotonic clock. */
  'schedule.list': {
    params: none,
    result: z.object({
      schedules: z.array(scheduleViewSchema),
      clockJump: z.object({ atMs: z.number().int(), byMs: z.number().int() }).nullable(),
    }),
    about: 'list the scheduled tasks, the next one first',
    commands: { 'schedule list': { example: '' } },
  },
  'schedule.get': {
    params: z.strictObject({ scheduleId: id, limit: z.number().int().min(1).max(200).optional() }),
    result: scheduleViewSchema,
    about: 'show a task and its latest runs',
    commands: {
      'schedule show': { takes: ['scheduleId'], sets: { limit: 20 }, options: { limit: 'how many runs at most' }, example: 'sch_01JD7Q' },
    },
  },
  'schedule.create': {
    params: z.strictObject(wanted),
    result: scheduleViewSchema,
    about: 'create a scheduled task',
    forPerson: true,
    commands: {
      'schedule add': {
        about: 'add a scheduled task; needs one of --at, --every and --cron',
        takes: ['prompt'],
        words: { prompt: 'what is asked then' },
        options: {
          ...times,
          name: 'the name of the task',
          ...named,
          '--tools <names...>': 'only these tools',
          '--classes <names...>': 'only tools of these classes',
          '--usd <amount>': 'how many US dollars each run may cost',
          '--grants': 'your grants also cover its calls',
          ...answerFiles,
        },
        example: "'Summarize my notes of today.' --cron '0 18 * * 1-5' --name 'Evening notes'",
      },
      'schedule task': {
        about: 'work on a task file at set times, with its criteria; needs one of --at, --every and --cron',
        takes: ['file'],
        words: { file: 'a YAML file with goal and criteria' },
        paths: ['file'],
        options: {
          ...times,
          name: 'the name of the schedule',
          missed: 'what to do about times that passed while TrayClaw did not run',
          '--tools <names...>': 'only these tools',
          '--usd <amount>': 'how many US dollars each run may cost',
          '--grants': 'your grants also cover its calls',
          deliver: { flag: 'deliver <chat>', about: 'PASS or FAIL is sent there; last for the one used last' },
        },
        example: "task.yaml --cron '30 7 * * 1-5'",
      },
    },
  },
  'schedule.update': {
    params: z.strictObject({ scheduleId: id, ...z.strictObject(wanted).partial().shape }),
    result: scheduleViewSchema,
    about: 'change, pause or resume a scheduled task',
    forPerson: true,
    commands: {
      'schedule change': {
        about: 'change a scheduled task; what is not named stays as it is',
        takes: ['scheduleId'],
        options: {
          ...times,
          name: 'its new name',
          prompt: 'what is asked then',
          ...named,
          ...answerFiles,
        },
        example: "sch_01JD7Q --cron '0 8 * * 1-5'",
      },
      'schedule pause': {
        about: 'pause a scheduled task until it is resumed',
        takes: ['scheduleId'],
        sets: { enabled: false },
        example: 'sch_01JD7Q',
      },
      'schedule resume': { about: 'resume a paused scheduled task', takes: ['scheduleId'], sets: { enabled: true }, example: 'sch_01JD7Q' },
    },
  },
  'schedule.remove': {
    params: z.strictObject({ scheduleId: id }),
    result: z.object({ scheduleId: z.string() }),
    about: 'remove a scheduled task for good',
    shows: 'Removed {scheduleId}.',
    commands: { 'schedule remove': { takes: ['scheduleId'], example: 'sch_01JD7Q' } },
  },
  /** Runs it once now, in addition to its times. */
  'schedule.run': {
    params: z.strictObject({ scheduleId: id }),
    /** For a schedule with criteria, `turnId` is the id of the work. */
    result: z.object({ sessionId: z.string(), turnId: z.string() }),
    about: 'run a scheduled task now, in addition to its schedule',
    shows: 'Started {turnId}.',
    commands: { 'schedule run': { takes: ['scheduleId'], example: 'sch_01JD7Q' } },
  },
  /** The due times of a specification. Saves nothing. */
  'schedule.preview': {
    params: z.strictObject({ spec: scheduleSpecInputSchema, count: z.number().int().min(1).max(50).optional() }),
    result: z.object({ nextMs: z.array(z.number().int()) }),
    about: 'show when a schedule would be due; saves nothing',
    commands: {
      'schedule next': {
        options: { ...times, count: 'how many' },
        example: "--cron '0 18 * * 1-5' --count 3",
      },
    },
  },
  'heartbeat.get': {
    params: none,
    result: heartbeatStateSchema,
    about: 'show the status of the periodic HEARTBEAT.md check',
    commands: { 'heartbeat show': { example: '' } },
  },
  /** Runs one beat now, outside its times. If there is nothing to do, no model is asked. */
  'heartbeat.run': {
    params: none,
    result: heartbeatStateSchema,
    about: 'run the periodic HEARTBEAT.md check now',
    commands: { 'heartbeat run': { example: '' } },
  },
  'task.list': {
    params: z.strictObject({ all: z.boolean().optional(), limit: z.number().int().min(1).max(500).optional() }),
    result: z.object({ tasks: z.array(taskSchema) }),
    about: 'list the open tasks',
    shows: {
      each: 'tasks',
      columns: { TASK: 'taskId', STATE: 'state', SINCE: 'createdAtMs', BY: 'by', WHAT: 'text' },
      none: 'Nothing is open.',
    },
    commands: { 'tasks list': { options: { all: 'also what is done or dropped', limit: most }, example: '--all' } },
  },
  'task.add': {
    params: z.strictObject({ text: z.string().trim().min(1).max(1000) }),
    result: taskSchema,
    about: 'add a task',
    shows: 'Added {taskId}.',
    commands: { 'tasks add': { takes: ['text...'], example: 'Book the train' } },
  },
  'task.close': {
    params: z.strictObject({ taskId: id, how: z.enum(['done', 'dropped']) }),
    result: taskSchema,
    about: 'close a task as done or dropped',
    shows: '{state}: {text}',
    commands: {
      'tasks done': { about: 'mark a task as done', takes: ['taskId'], sets: { how: 'done' }, example: 'tsk_01JD7Q' },
      'tasks drop': { about: 'mark a task as dropped', takes: ['taskId'], sets: { how: 'dropped' }, example: 'tsk_01JD7Q' },
    },
  },
});
