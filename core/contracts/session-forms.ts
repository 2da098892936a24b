// The operations on sessions as commands. Plain data; see command-form.ts.

import type { OpForms } from './command-form.ts';

const most = 'how many at most';

export const sessionForms = {
  'session.list': {
    about: 'list the sessions: pinned ones first, then the newest',
    commands: {
      history: { about: 'show the latest sessions and their status', options: { limit: most }, sets: { limit: 10 }, example: '--limit 3' },
      'sessions list': {
        options: {
          archived: 'the archived ones',
          helpers: 'also the sessions of subagents',
          limit: most,
          workspace: { flag: 'workspace <folder>', about: 'those that work in this folder' },
          cursor: 'the next page, as the page before named it',
        },
        paths: ['workspace'],
        example: '--limit 5',
      },
    },
  },
  'session.get': {
    about: 'show the events of a session',
    commands: {
      'sessions show': {
        takes: ['sessionId'],
        options: { limit: 'how many events at most', before: 'only events before this place of the log' },
        example: 'last --limit 20',
      },
    },
  },
  'session.create': { about: 'create a session, for an agent and in a folder if they are given' },
  'session.rename': {
    about: 'give a session another title',
    commands: { 'sessions rename': { takes: ['sessionId', 'title'], example: "last 'Trip to Rome'" } },
  },
  'session.pin': {
    about: 'keep a session at the top of the list',
    commands: {
      'sessions pin': {
        takes: ['sessionId'],
        sets: { pinned: true },
        options: { '--undo': { about: 'no longer first', sets: { pinned: false } } },
        example: 'last',
      },
    },
  },
  'session.seen': { about: 'mark a session as read', commands: { 'sessions seen': { takes: ['sessionId'], example: 'last' } } },
  'session.configure': {
    about: 'choose model and agent of a session',
    forPerson: true,
    commands: {
      'sessions configure': {
        takes: ['sessionId'],
        options: { model: 'the model of its next turns; "default" for the usual one', agentId: 'the agent of its next turns' },
        example: 'last --model default',
      },
    },
  },
  'session.search': {
    about: 'search what was said; all words must occur, the last one may be a prefix',
    commands: {
      'sessions search': {
        takes: ['query...'],
        options: { limit: 'how many hits at most', sessionId: 'in this session only', each: 'every place, or each session once' },
        example: 'train tickets',
      },
    },
  },
  'session.fork': {
    about: 'begin a new session with what was said so far',
    commands: {
      'sessions fork': {
        takes: ['sessionId'],
        options: { atSessionSeq: { flag: 'at', about: 'after this event of the session' }, title: 'the title of the new session' },
        example: "last --title 'Another way'",
      },
    },
  },
  'session.export': {
    about: 'print a session, to keep',
    commands: {
      'sessions export': {
        takes: ['sessionId'],
        options: { format: 'the form of the export' },
        sets: { format: 'jsonl' },
        example: 'last --format markdown',
      },
    },
  },
  'session.archive': {
    about: 'take a session out of the list',
    commands: {
      'sessions archive': {
        takes: ['sessionId'],
        sets: { archived: true },
        options: { '--undo': { about: 'take it out of the archive', sets: { archived: false } } },
        example: 'last',
      },
    },
  },
  'session.delete': {
    about: 'delete a session and the sessions of its subagents for good',
    commands: { 'sessions delete': { takes: ['sessionId'], confirm: 'Delete this session for good?', example: 'ses_01JD7Q --yes' } },
  },
  'session.compact': {
    about: 'summarize the older messages now',
    commands: { 'sessions compact': { takes: ['sessionId'], example: 'last' } },
  },
} as const satisfies OpForms<'session'>;
