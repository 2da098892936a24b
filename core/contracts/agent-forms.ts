// The operations on agents, identities, prompts and skills as commands. Plain data; see command-form.ts.

import type { OpForms } from './command-form.ts';

const agentId = 'the agent; main by default';

export const agentForms = {
  'agent.list': { about: 'list the agents, main first', commands: { 'agents list': { example: '' } } },
  'agent.get': { about: 'show an agent and its identity', commands: { 'agents show': { takes: ['agentId'], example: 'main' } } },
  'helper.list': {
    about: 'list the subagents that wait or run',
    commands: {
      'helpers list': { options: { sessionId: 'started in this session', all: 'also those that have ended' }, example: '--all' },
    },
  },
  'helper.cancel': {
    about: 'cancel a subagent and all that it started',
    commands: { 'helpers cancel': { takes: ['jobId'], example: 'job_01JD7Q' } },
  },
  'identity.get': {
    about: 'show the identity, or an earlier version of it',
    commands: { 'identity show': { takes: ['version?'], options: { agentId }, example: '--agent main' } },
  },
  'identity.set': {
    about: 'change the given fields; an empty text removes a field',
    forPerson: true,
    commands: {
      'identity set': {
        options: {
          agentId,
          role: 'what the agent is for',
          style: 'how the agent speaks',
          constraints: { flag: 'constraint', about: 'all of them, in place of those before' },
          risk: 'how careful it is',
          prompts: { flag: 'prompt', about: 'prompt files whose text belongs to it' },
          note: 'why',
          basedOn: 'refuse if another version than this is the newest',
        },
        example: "--style 'Brief and friendly.' --note 'Answers were too long'",
      },
    },
  },
  'identity.versions': {
    about: 'list the versions, newest first',
    commands: { 'identity versions': { options: { agentId, limit: 'how many at most' }, example: '' } },
  },
  'identity.diff': {
    about: 'show what changed between two versions; between the newest two when none is named',
    commands: { 'identity diff': { takes: ['from?', 'to?'], options: { agentId }, example: '' } },
  },
  'identity.revert': {
    about: 'go back to an earlier version',
    forPerson: true,
    commands: { 'identity revert': { takes: ['version'], options: { agentId }, example: '1' } },
  },
  'prompt.list': {
    about: 'list the prompt files and the built-in prompts',
    commands: { 'prompts list': { sets: { own: true }, example: '' } },
  },
  'prompt.get': {
    about: 'show the newest version, or an earlier one',
    commands: { 'prompts show': { takes: ['name', 'version?'], example: 'style' } },
  },
  'prompt.versions': { about: 'list the versions, newest first', commands: { 'prompts versions': { takes: ['name'], example: 'style' } } },
  'prompt.diff': {
    about: 'show what changed between two versions; between the newest two when none is named',
    commands: { 'prompts diff': { takes: ['name', 'from?', 'to?'], example: 'style' } },
  },
  'prompt.set': {
    about: 'save a new version from a file or from standard input',
    forPerson: true,
    commands: { 'prompts set': { takes: ['name', ':file?'], example: 'style style.md' } },
  },
  'prompt.refresh': {
    about: 'check the remote source of one prompt, or of all',
    commands: { 'prompts refresh': { takes: ['name?'], example: '' } },
  },
  'prompt.accept': {
    about: 'accept the text from the remote source, as it was shown',
    forPerson: true,
    commands: {
      'prompts accept': { takes: ['name', 'sha256'], example: 'style b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9' },
    },
  },
} as const satisfies OpForms<'agent' | 'helper' | 'identity' | 'prompt'>;

export const skillForms = {
  'skill.list': {
    about: 'list the skills, or those that fit a task',
    commands: { 'skills list': { takes: ['query...?'], words: { query: 'words of a task' }, example: 'summarize a table' } },
  },
  'skill.get': {
    about: 'show a skill with its instructions, what it needs and what is missing',
    commands: { 'skills show': { takes: ['name'], example: 'csv-summary' } },
  },
  'skill.lint': {
    about: 'check a skill or a folder of skills; exit code 1 for an error',
    commands: { 'skills lint': { alias: 'verify', takes: [':name-or-folder'], example: './my-skill' } },
  },
  'skill.import': {
    about: 'copy a skill, or all below a folder, into the workspace; trusts nothing',
    forPerson: true,
    commands: {
      'skills import': {
        alias: 'install',
        takes: ['path'],
        words: { path: 'the folder of the skill' },
        options: { sha256: 'what was published for it', replace: 'in place of one of the same name' },
        paths: ['path'],
        example: './my-skill',
      },
    },
  },
  'skill.remove': {
    about: 'remove a skill from the workspace; undo puts it back',
    forPerson: true,
    commands: { 'skills remove': { takes: ['name'], example: 'my-skill' } },
  },
  'skill.trust': {
    about: 'trust the text of a skill as it is now',
    forPerson: true,
    commands: {
      'skills trust': {
        takes: ['name?'],
        options: {
          folder: 'all skills of a folder outside the workspace, also later ones',
          sha256: 'only if this is still its content',
          '--revoke': { about: 'no longer', sets: { trusted: false } },
        },
        paths: ['folder'],
        example: 'my-skill',
      },
    },
  },
  'skill.configure': {
    about: 'enable or disable a skill',
    forPerson: true,
    commands: {
      'skills enable': { about: 'let the agent use a skill again', takes: ['name'], sets: { enabled: true }, example: 'csv-summary' },
      'skills disable': { about: 'keep the agent from using a skill', takes: ['name'], sets: { enabled: false }, example: 'csv-summary' },
    },
  },
  'skill.reload': { about: 'read all skill folders again', commands: { 'skills reload': { example: '' } } },
} as const satisfies OpForms<'skill'>;
