// The operations on memory and documents as commands. Plain data; see command-form.ts.

import type { OpForms } from './command-form.ts';

const most = 'how many at most';

export const memoryForms = {
  'memory.list': {
    about: 'list memories, newest first; with a query, best first',
    commands: {
      'memory list': {
        options: {
          query: 'words to search for',
          state: 'in this state only',
          kind: 'of this kind only',
          scope: 'shared, or agent:ID',
          archived: 'also what is out of use by its age',
          contradicted: 'only what contradicts something else',
          limit: most,
          offset: 'leave out so many at the beginning',
        },
        example: '--kind preference --limit 10',
      },
    },
  },
  'memory.get': {
    about: 'show a memory and where it came from',
    commands: { 'memory show': { takes: ['memoryId'], example: 'mem_01JD7Q' } },
  },
  'memory.recall': {
    about: 'search memory as the agent does',
    commands: {
      'memory recall': {
        alias: 'search',
        takes: ['query...'],
        options: { agentId: 'as this agent; main by default', limit: most },
        example: 'favourite tea',
      },
    },
  },
  'memory.add': {
    about: 'add a memory; it is kept at once',
    forPerson: true,
    commands: {
      'memory add': {
        takes: ['text...'],
        options: {
          kind: 'what kind of memory it is',
          scope: 'shared, or agent:ID',
          importance: '0 to 1',
          pinned: { flag: 'pin', about: 'it never fades' },
        },
        example: 'I prefer green tea. --kind preference',
      },
    },
  },
  'memory.promote': {
    about: 'keep a candidate',
    forPerson: true,
    commands: { 'memory promote': { takes: ['memoryId'], example: 'mem_01JD7Q' } },
  },
  'memory.reject': {
    about: 'drop a candidate',
    forPerson: true,
    commands: { 'memory reject': { takes: ['memoryId'], example: 'mem_01JD7Q' } },
  },
  'memory.pin': {
    about: 'keep a memory from decaying',
    forPerson: true,
    commands: {
      'memory pin': {
        takes: ['memoryId'],
        sets: { pinned: true },
        options: { '--off': { about: 'let it decay again', sets: { pinned: false } } },
        example: 'mem_01JD7Q',
      },
    },
  },
  'memory.forget': {
    about: 'forget a memory',
    forPerson: true,
    commands: { 'memory forget': { takes: ['memoryId'], example: 'mem_01JD7Q' } },
  },
  'memory.settle': {
    about: 'settle a contradiction between two memories',
    forPerson: true,
    commands: {
      'memory settle': {
        takes: ['memoryId', 'otherId', 'keep'],
        words: { keep: 'the one to keep' },
        example: 'mem_01JD7Q mem_01JD8R this',
      },
    },
  },
  'memory.export': {
    about: 'export the memories, one JSON object per line',
    commands: { 'memory export': { options: { '--out <file>': 'write it to a new file' }, example: '--out memories.jsonl' } },
  },
  'memory.import': {
    about: 'import memories from an export, all or none; known ones are skipped',
    forPerson: true,
    commands: {
      'memory import': {
        about: 'import memories from an exported file; - reads standard input',
        takes: [':file'],
        options: { state: 'the state they get; as exported when left out' },
        example: '- --state candidate < memories.jsonl',
      },
    },
  },
  'knowledge.list': { about: 'list the document sources and the state of vector search', commands: { 'knowledge list': { example: '' } } },
  'knowledge.status': {
    about: 'list the documents of a source, those with a problem first',
    commands: { 'knowledge status': { takes: ['source'], options: { limit: most }, example: 'notes' } },
  },
  'knowledge.preview': {
    about: 'show what adding a folder or a file would index; changes nothing',
    commands: {
      'knowledge preview': {
        takes: ['path'],
        options: { '--endings <list>': 'only these, such as md,txt' },
        example: './notes --endings md',
      },
    },
  },
  'knowledge.add': {
    about: 'add a folder, a file or a text to search',
    forPerson: true,
    commands: {
      'knowledge add': {
        takes: ['name', 'path?'],
        options: {
          '--endings <list>': 'only these, such as md,txt',
          '--no-watch': { about: 'look every ten minutes only, instead of following changes', sets: { watch: false } },
          text: { flag: 'text <markdown>', about: 'in place of a path: the text itself; - for standard input' },
          title: 'of the text',
          outside: 'it may lie outside of the folders that are open to the agent',
          '--no-wait': 'do not wait until it is read',
        },
        example: "prices --text 'One ticket costs two euros.'",
      },
    },
  },
  'knowledge.remove': {
    about: 'remove a source; the documents stay where they are',
    forPerson: true,
    commands: { 'knowledge remove': { takes: ['source'], example: 'notes' } },
  },
  'knowledge.search': {
    about: 'search the documents; each passage with its citation',
    commands: {
      'knowledge search': {
        takes: ['query...'],
        options: { source: 'in this source only', limit: most },
        example: 'ticket price --limit 3',
      },
    },
  },
  'knowledge.reindex': {
    about: 'read every document of a source, or of all, again',
    commands: { 'knowledge reindex': { takes: ['source?'], example: 'notes' } },
  },
} as const satisfies OpForms<'memory' | 'knowledge'>;
