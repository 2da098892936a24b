// The operations on approvals, the gate, the stop, budgets and undo as commands. Plain data; see command-form.ts.

import type { OpForms } from './command-form.ts';

export const gateForms = {
  'approval.list': {
    about: 'list the calls that wait for your answer',
    commands: { 'approvals list': { options: { all: 'also what was decided' }, example: '--all' } },
  },
  'approval.decide': { about: 'approve or deny a call, with a scope that may reach beyond it', forPerson: true },
  'approval.diff': { about: 'show what a waiting call would change in files' },
  'grant.list': {
    about: 'list the grants that hold',
    commands: { 'grants list': { options: { all: 'also those that are spent, revoked or over' }, example: '--all' } },
  },
  'grant.revoke': {
    about: 'take a grant back',
    forPerson: true,
    commands: { 'grants revoke': { takes: ['grantId'], example: 'grt_01JD7Q' } },
  },
  'grant.preview': {
    about: 'show which past calls a grant would have covered',
    commands: {
      'grants preview': {
        takes: ['match'],
        words: { match: 'what it would match, as JSON' },
        options: { days: 'how far to look back' },
        example: `'{"kind":"folder","tool":"write_file","folder":"/home/me/notes"}'`,
      },
    },
  },
  'outcome.list': { about: 'list the calls that were cut off by a crash', commands: { 'outcomes list': { example: '' } } },
  'outcome.settle': {
    about: 'record the outcome of a call that was cut off by a crash',
    forPerson: true,
    live: true,
    commands: {
      'outcomes settle': {
        takes: ['callId', 'answer'],
        words: { answer: 'done: it happened · retry: run it again · abandon: leave it' },
        example: 'call_01JD7Q done',
      },
    },
  },
  'policy.explain': {
    about: 'explain what the policy would decide about a call; runs nothing',
    commands: {
      'policy explain': {
        takes: [':request'],
        words: { request: '{tool, args, cwd?} as JSON' },
        example: `'{"tool":"exec","args":{"command":"git status"}}'`,
      },
    },
  },
  'sandbox.explain': {
    about: 'show what a confined command may touch, and whether COMMAND would be confined; runs nothing',
    commands: {
      'sandbox explain': {
        takes: ['command?'],
        words: { command: 'a command line, in quotes' },
        options: { cwd: 'the folder it would run in' },
        paths: ['cwd'],
        example: "'npm test'",
      },
    },
  },
  'safety.url': {
    about: 'say whether an address may be opened',
    commands: { 'safety url': { takes: ['url'], example: 'https://example.org/' } },
  },
  'safety.redact': {
    about: 'take the secrets out of a text',
    commands: { 'safety redact': { about: 'take the secrets out of the text on standard input', stdin: 'text', example: '< notes.txt' } },
  },
  'workspace.list': {
    about: 'list the trusted folders, the last used first',
    commands: { 'folders list': { example: '' } },
  },
  'workspace.look': { about: 'say what TrayClaw knows of a folder, and complete its path; changes nothing' },
  'workspace.trust': {
    about: 'let TrayClaw work in a folder and below, until you take it back',
    forPerson: true,
    commands: { 'folders trust': { takes: ['path?'], sets: { path: '.' }, paths: ['path'], example: '.' } },
  },
  'workspace.forget': {
    about: 'take the trust in a folder back; its files stay',
    forPerson: true,
    commands: { 'folders forget': { takes: ['path?'], sets: { path: '.' }, paths: ['path'], example: '.' } },
  },
} as const satisfies OpForms<'approval' | 'grant' | 'outcome' | 'policy' | 'sandbox' | 'safety' | 'workspace'>;

export const boundForms = {
  'panic.engage': { about: 'end processes, turns and queued messages, and refuse every call' },
  'panic.release': { about: 'release the panic stop', forPerson: true },
  'panic.status': { about: 'say whether the panic stop is engaged' },
  'budget.get': {
    about: 'show the limits and what is used',
    commands: {
      'budget show': {
        options: { turnId: 'also the limits of this turn and its session', sessionId: 'also the limits of this session' },
        example: '--session last',
      },
    },
  },
  'budget.allow': {
    about: 'allow more for a turn, a session or, with none named, this day',
    forPerson: true,
    commands: {
      'budget allow': {
        takes: [':amount'],
        words: { amount: 'US dollars, such as 1.50' },
        options: {
          '--tokens': 'the amount is tokens, not dollars',
          turnId: 'for this turn and those that take up its work',
          sessionId: 'for this session',
          '--day': 'until the day ends',
        },
        example: '1.50 --day',
      },
    },
  },
  'checkpoint.list': { about: 'list what can be undone, the newest first' },
  'checkpoint.preview': { about: 'show what a restore would do to each file; changes nothing' },
  'checkpoint.restore': { about: 'put files back as they were before a call or a turn' },
  'checkpoint.diff': { about: 'show what a call changed in files' },
} as const satisfies OpForms<'panic' | 'budget' | 'checkpoint'>;
