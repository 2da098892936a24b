// The operations on schedules, tasks and signals as commands. Plain data; see command-form.ts.

import type { OpForms } from './command-form.ts';

const times = {
  '--every <interval>': 'at an interval: 15m, 2h, 1d',
  '--cron <line>': 'minute, hour, day of month, month, day of week',
  '--zone <name>': 'such as Europe/Berlin; the zone of this machine by default',
};

export const scheduleForms = {
  'schedule.list': { about: 'list the tasks, the next one first', commands: { 'schedule list': { example: '' } } },
  'schedule.get': {
    about: 'show a task and its latest runs',
    commands: {
      'schedule show': { takes: ['scheduleId'], sets: { limit: 20 }, options: { limit: 'how many runs at most' }, example: 'sch_01JD7Q' },
    },
  },
  'schedule.create': {
    about: 'create a scheduled task',
    forPerson: true,
    commands: {
      'schedule add': {
        about: 'add a task; needs one of --at, --every and --cron',
        takes: ['prompt'],
        words: { prompt: 'what is asked then' },
        options: {
          '--at <time>': 'once: 2026-03-29T02:30 as clocks show it there, or 2026-03-29T02:30:00Z',
          ...times,
          name: 'the name of the task',
          agentId: 'the agent that does it; main by default',
          session: { flag: 'session <id>', about: 'own, new, or the id of one' },
          missed: 'what to do about times that passed while TrayClaw did not run',
          '--tools <names...>': 'no others',
          '--classes <names...>': 'no others',
          '--usd <amount>': 'at most, each time',
          '--grants': 'your grants cover it too',
          '--approval-minutes <n>': 'deny an approval that is still open after this time',
          deliver: { flag: 'deliver <chat>', about: 'the answer is sent there; last for the one used last' },
        },
        example: "'Summarize my notes of today.' --cron '0 18 * * 1-5' --name 'Evening notes'",
      },
    },
  },
  'schedule.update': {
    about: 'change, pause or resume a scheduled task',
    forPerson: true,
    commands: {
      'schedule pause': {
        about: 'pause a task until it is resumed',
        takes: ['scheduleId'],
        sets: { enabled: false },
        example: 'sch_01JD7Q',
      },
      'schedule resume': { about: 'resume a paused task', takes: ['scheduleId'], sets: { enabled: true }, example: 'sch_01JD7Q' },
    },
  },
  'schedule.remove': { about: 'remove a task for good', commands: { 'schedule remove': { takes: ['scheduleId'], example: 'sch_01JD7Q' } } },
  'schedule.run': {
    about: 'run a task now, in addition to its schedule',
    commands: { 'schedule run': { takes: ['scheduleId'], example: 'sch_01JD7Q' } },
  },
  'schedule.preview': {
    about: 'show when a schedule would be due; saves nothing',
    commands: {
      'schedule next': {
        options: { '--at <time>': 'once, such as 2026-03-29T02:30', ...times, count: 'how many' },
        example: "--cron '0 18 * * 1-5' --count 3",
      },
    },
  },
  'heartbeat.get': { about: 'show the status of the periodic HEARTBEAT.md check', commands: { 'heartbeat show': { example: '' } } },
  'heartbeat.run': { about: 'run the periodic HEARTBEAT.md check now', commands: { 'heartbeat run': { example: '' } } },
  'task.list': {
    about: 'list the open tasks',
    commands: { 'tasks list': { options: { all: 'also what is done or dropped', limit: 'how many at most' }, example: '--all' } },
  },
  'task.add': { about: 'add a task', commands: { 'tasks add': { takes: ['text...'], example: 'Book the train' } } },
  'task.close': {
    about: 'close a task as done or dropped',
    commands: {
      'tasks done': { about: 'mark a task as done', takes: ['taskId'], sets: { how: 'done' }, example: 'tsk_01JD7Q' },
      'tasks drop': { about: 'mark a task as dropped', takes: ['taskId'], sets: { how: 'dropped' }, example: 'tsk_01JD7Q' },
    },
  },
  'signal.list': {
    about: 'list the signals, newest first',
    commands: {
      'signals list': {
        options: { source: 'of this kind only', limit: 'how many at most', before: 'only signals before this place of the log' },
        example: '--source webhook --limit 5',
      },
    },
  },
  'signal.send': {
    about: 'send a signal from this computer',
    commands: {
      'signals send': {
        takes: ['name', 'text...'],
        options: {
          attention: 'what the signal does',
          sessionId: 'the session it belongs to',
          agentId: 'the agent it goes to; main by default',
          data: 'JSON that goes with the signal',
          dedupeKey: { flag: 'key', about: 'a signal with the same key counts once' },
        },
        example: 'build The build failed. --data \'{"job":7}\'',
      },
    },
  },
  'signal.hook': { about: 'take a webhook; `POST /hooks/NAME` calls it' },
} as const satisfies OpForms<'schedule' | 'heartbeat' | 'task' | 'signal'>;
