// The operations on activity, health, recovery and backups as commands. Plain data; see command-form.ts.

import type { OpForms } from './command-form.ts';

export const careForms = {
  'activity.search': {
    about: 'search calls, decisions, approvals, changed files and errors, newest first',
    commands: {
      'activity search': {
        takes: ['query...?'],
        options: {
          kinds: { flag: 'kind', about: 'of these kinds only' },
          tool: 'calls of this tool only',
          outcome: 'with this outcome only',
          sessionId: 'in this session only',
          before: 'only what came before this place of the log',
          limit: 'how many at most',
        },
        example: 'notes --kind file --limit 5',
      },
    },
  },
  'audit.verify': {
    about: 'verify the hash chain of the log and the database',
    doneWhen: 'ok',
    commands: { 'audit verify': { example: '' } },
  },
  'audit.accept': {
    about: 'accept a log with missing events and continue from it',
    forPerson: true,
    commands: { 'audit accept': { example: '' } },
  },
  'replay.run': {
    about: 'decide a recorded turn again and compare',
    doneWhen: 'identical',
    commands: { replay: { takes: ['turnId'], example: 'last' } },
  },
  'usage.get': {
    about: 'show tokens and money by day, model or session',
    commands: {
      usage: {
        options: { by: 'what the rows are', days: 'how far to look back', limit: 'how many rows at most' },
        example: '--by model --days 30',
      },
    },
  },
  'health.check': { about: 'check that everything works' },
  'health.fix': { about: 'show the repair of one finding, and run it with `run`', forPerson: true },
  'recovery.list': { about: 'list the guided recoveries' },
  'recovery.plan': { about: 'show what a recovery would change and lose; changes nothing' },
  'recovery.run': { about: 'run a recovery that was planned', forPerson: true },
  'dlq.list': {
    about: 'list the dead letters: failed turns that are kept for a retry',
    commands: { 'dlq list': { options: { limit: 'how many at most' }, example: '--limit 5' } },
  },
  'dlq.retry': {
    about: 'retry a failed turn now',
    forPerson: true,
    follows: true,
    commands: { 'dlq retry': { takes: ['letterId'], example: 'let_01JD7Q' } },
  },
  'dlq.clear': {
    about: 'clear a dead letter, or all that are not being retried',
    forPerson: true,
    commands: { 'dlq clear': { takes: ['letterId?'], options: { '--all': 'all of them' }, example: '--all' } },
  },
  'backup.create': { about: 'make a backup now', commands: { 'backup create': { example: '' } } },
  'backup.list': { about: 'list the backups', commands: { 'backup list': { example: '' } } },
  'backup.verify': {
    about: 'check a backup',
    doneWhen: 'ok',
    commands: { 'backup verify': { takes: ['file'], paths: ['file'], example: 'backups/latest.db' } },
  },
} as const satisfies OpForms<'activity' | 'audit' | 'replay' | 'usage' | 'health' | 'recovery' | 'dlq' | 'backup'>;
