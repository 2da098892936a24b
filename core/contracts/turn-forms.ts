// The operations on messages, turns, tools, artifacts and context as commands. Plain data; see command-form.ts.

import type { OpForms } from './command-form.ts';

const most = 'how many at most';

export const messageForms = {
  'message.send': { about: 'send a message and start a turn for it; without a session, in a new one' },
  'turn.wait': { about: 'wait until the turn ends or needs an approval, and return its status' },
  'turn.value': { about: 'return the answer of an ended turn as a value of a JSON schema, checked; asks a model unless it is one' },
  'turn.cancel': {
    about: 'cancel a running or waiting turn',
    commands: { 'turns cancel': { takes: ['turnId'], example: 'trn_01JD7Q' } },
  },
  'turn.steer': {
    about: 'send a message to a running turn',
    commands: { 'turns steer': { takes: ['turnId', 'text...'], example: 'trn_01JD7Q Be brief.' } },
  },
  'turn.get': {
    about: 'show the phases, calls, decisions and costs of a turn',
    commands: { 'turns show': { takes: ['turnId'], example: 'last' } },
  },
  'turn.retry': {
    about: 'send the last message again; the earlier answer stays in the log only',
    forPerson: true,
    follows: true,
    commands: { 'turns retry': { takes: ['turnId'], options: { model: 'with another model' }, example: 'last' } },
  },
  'turn.branch': {
    about: 'start a new session from before a turn, with TEXT instead of its message',
    follows: true,
    commands: { 'turns branch': { takes: ['turnId', 'text?'], example: "last 'And in metres?'" } },
  },
  'turn.continue': {
    about: 'continue a turn that a budget or a limit ended',
    follows: true,
    commands: { 'turns continue': { takes: ['turnId'], example: 'last' } },
  },
  'turn.events': {
    about: 'list the events of one turn in order; ask again with `after` while there are more',
    commands: {
      'activity events': {
        about: 'list the events of one turn',
        takes: ['turnId'],
        options: { after: 'only events after this place of the log', limit: most },
        example: 'last --limit 20',
      },
    },
  },
  'turn.export': {
    about: 'export one turn, as one JSON event a line or as text for people',
    commands: {
      'activity export': {
        about: 'export one turn',
        takes: ['turnId'],
        options: { format: 'the form of the export' },
        sets: { format: 'jsonl' },
        example: 'last --format markdown',
      },
    },
  },
  'command.list': { about: 'list the slash commands of the message field' },
  'command.complete': { about: 'complete a slash command' },
  'command.run': { about: 'run a slash command; what it starts passes the gate like any call', forPerson: true },
} as const satisfies OpForms<'message' | 'turn' | 'command'>;

export const toolForms = {
  'tool.run': { about: 'run one tool through the gate, with no model' },
  'tool.list': { about: 'list the tools of the agent', commands: { tools: { example: '' } } },
  'artifact.list': {
    about: 'list kept outputs and files, newest first',
    commands: { 'artifacts list': { options: { sessionId: 'of this session only', limit: most }, example: '--limit 5' } },
  },
  'artifact.get': {
    about: 'return the content of an artifact',
    commands: {
      'artifacts get': {
        about: 'print a file, or write it to a new one',
        takes: ['artifact'],
        words: { artifact: 'its SHA-256, the first digits of it, or a name' },
        options: { '--out <file>': 'write it to a new file', offset: 'start at this byte (with --json)' },
        example: 'b94d27 --out result.txt',
      },
    },
  },
} as const satisfies OpForms<'tool' | 'artifact'>;

export const contextForms = {
  'pack.get': {
    about: 'show what one model request contained: sections, what was left out, the texts',
    commands: { 'packs show': { takes: ['packId'], example: 'trn_01JD7Q-p1' } },
  },
  'pack.list': {
    about: 'list the requests to models, newest first',
    commands: { 'packs list': { options: { sessionId: 'those of this session', limit: most }, example: '--limit 5' } },
  },
  'rule.pin': {
    about: 'pin a rule for an agent (main by default) or for one session; the model sees it in every request',
    commands: {
      'rules pin': {
        takes: ['text...'],
        options: {
          sessionId: 'for this session',
          agentId: 'for this agent; main by default',
          replaces: { flag: 'replace', about: 'in place of this rule of the same session or agent' },
        },
        example: 'Answer in metric units.',
      },
    },
  },
  'rule.unpin': {
    about: 'unpin a rule',
    commands: {
      'rules unpin': {
        takes: ['ruleId'],
        options: { sessionId: 'in this session alone, where a fork took it along' },
        example: 'rul_01JD7Q',
      },
    },
  },
  'rule.list': {
    about: 'list the rules that hold, the oldest first',
    commands: { 'rules list': { options: { sessionId: 'those that hold in this session' }, example: '' } },
  },
} as const satisfies OpForms<'pack' | 'rule'>;
