// The contract of each bundled skill, as real work: a task in words, the files before, the calls of its steps, and the files afterwards.
// `WEB` is replaced by the address of the test's server.

import type { ScriptedCall } from '../doubles/scripted-model.ts';

export interface SkillContract {
  /** The task as a person would phrase it. */
  readonly task: string;
  readonly files?: Readonly<Record<string, string>>;
  /** The calls of each step; each step is one answer of the model. */
  readonly steps: readonly (readonly ScriptedCall[])[];
  /** Parts of the results, in the order of the calls; null accepts any result. */
  readonly results: readonly (string | RegExp | null)[];
  /** Files afterwards, each with a part of its content; null for a file that must not exist. */
  readonly leaves?: Readonly<Record<string, string | null>>;
}

const call = (tool: string, args: Readonly<Record<string, unknown>>): ScriptedCall => ({ tool, args });
const write = (path: string, content: string) => call('write_file', { path, content });
const run = (command: string) => call('exec', { command });

export const contracts: Readonly<Record<string, SkillContract>> = {
  'web-research': {
    task: 'Research on the web when the bridge was built, with sources',
    steps: [
      [call('web_fetch', { url: 'WEB/bridge' }), call('web_fetch', { url: 'WEB/bridge-again' })],
      [write('research/bridge.md', 'Built in 1894 [WEB/bridge].\n\n## Open questions\n\nThe other page says 1895.')],
    ],
    results: ['opened in 1894', 'opened in 1895', 'research/bridge.md'],
    leaves: { 'research/bridge.md': '1894' },
  },
  'page-watch': {
    task: 'Watch the price page and tell me of changes',
    files: { 'watch/price.md': 'Price: 12 (1 May)' },
    steps: [
      [call('web_fetch', { url: 'WEB/price' }), call('read_file', { path: 'watch/price.md' })],
      [
        write('watch/price.md', 'Price: 9 (2 May)'),
        call('schedule', {
          action: 'follow_up',
          prompt: 'By the skill page-watch: look at WEB/price, state in watch/price.md.',
          inMinutes: 60,
        }),
      ],
    ],
    results: ['Price: 9', 'Price: 12', null, /^Scheduled as sch_/],
    leaves: { 'watch/price.md': 'Price: 9' },
  },
  'daily-briefing': {
    task: 'Give me my morning briefing of open tasks and notes',
    files: { 'notes/monday.md': 'Call the bank by Friday.' },
    steps: [
      [call('tasks', { action: 'add', text: 'Send the report' })],
      [call('tasks', { action: 'list' }), call('schedule', { action: 'list' }), call('glob', { pattern: 'notes/**/*.md' })],
      [call('read_file', { path: 'notes/monday.md' }), call('web_fetch', { url: 'WEB/news' })],
    ],
    results: [/^Added as tsk_/, 'Send the report', 'Nothing is scheduled here.', 'monday.md', 'by Friday', 'The library is open again'],
  },
  'folder-tidy': {
    task: 'Tidy my downloads folder, sort the files into subfolders',
    files: { 'downloads/a.pdf': 'A', 'downloads/b.png': 'B' },
    steps: [
      [call('list_dir', { path: 'downloads' }), call('glob', { pattern: 'downloads/**' })],
      [write('downloads/tidy-plan.md', 'a.pdf to documents, b.png to pictures')],
      [run('mkdir -p downloads/documents downloads/pictures')],
      [run('mv -n downloads/a.pdf downloads/documents/'), run('mv -n downloads/b.png downloads/pictures/')],
      [call('list_dir', { path: 'downloads' })],
    ],
    results: ['a.pdf', 'b.png', 'tidy-plan.md', null, null, null, 'documents'],
    leaves: { 'downloads/documents/a.pdf': 'A', 'downloads/pictures/b.png': 'B', 'downloads/a.pdf': null },
  },
  'change-review': {
    task: 'Review my changes in the git repository before I commit',
    files: { 'app.js': 'let total = 1;\n' },
    steps: [
      [run('git init -q . && git add app.js && echo "total += 2;" >> app.js')],
      [run('git status --short'), run('git diff')],
      [
        call('read_file', { path: 'app.js' }),
        call('grep', { pattern: 'total' }),
        call('skill', { action: 'read', name: 'change-review', file: 'references/checklist.md' }),
      ],
    ],
    results: [null, 'app.js', '+total += 2;', 'total += 2', 'app.js', 'Easily missed'],
  },
  'csv-summary': {
    task: 'Summarize the columns of sales.csv: totals, average, missing values',
    files: { 'sales.csv': 'city;amount\nOslo;10\n"Bergen; west";20\nOslo;\n' },
    steps: [
      [call('read_file', { path: 'sales.csv', limit: 20 })],
      [run('node "BASE/scripts/summarize.mjs" sales.csv')],
      [call('calc', { expression: '20 / 30 * 100' })],
    ],
    results: ['Oslo;10', '"name":"amount","rows":3,"filled":2,"empty":1,"distinct":2,"sum":30,"mean":15,"min":10,"max":20', '66.6'],
  },
  'meeting-minutes': {
    task: 'Turn the notes of the meeting into minutes with action items',
    files: { 'talk/notes.txt': 'Ada: I send the offer until Tuesday. Decided: blue.' },
    steps: [
      [call('read_file', { path: 'talk/notes.txt' })],
      [write('talk/notes-minutes.md', '# Decisions\n\nBlue.'), call('tasks', { action: 'add', text: 'Send the offer until Tuesday' })],
    ],
    results: ['Decided: blue', 'notes-minutes.md', /^Added as tsk_/],
    leaves: { 'talk/notes-minutes.md': 'Blue.' },
  },
  'api-check': {
    task: 'Check the health endpoint of my API and what it answers',
    steps: [
      [call('http_request', { method: 'GET', url: 'WEB/health' }), call('http_request', { method: 'GET', url: 'WEB/nowhere' })],
      [write('api-check.md', '| GET | /health | 200 | 200 | as promised |')],
    ],
    results: ['"ok": true', '404', 'api-check.md'],
    leaves: { 'api-check.md': 'as promised' },
  },
  'log-digest': {
    task: 'Why did the server crash? Look through the error logs',
    files: { 'logs/app.log': 'start\ndisk 98 % full\nERROR cannot write order 17\nERROR cannot write order 18\n' },
    steps: [
      [call('glob', { pattern: 'logs/*.log' }), call('grep', { pattern: 'error|fail|timeout', path: 'logs', ignoreCase: true })],
      [call('read_file', { path: 'logs/app.log' })],
      [write('log-digest.md', 'Two writes failed; most likely the disk was full.')],
    ],
    results: ['app.log', 'order 18', '98 % full', 'log-digest.md'],
    leaves: { 'log-digest.md': 'disk was full' },
  },
  'split-work': {
    task: 'Split this large job into parts and have helpers do them in parallel',
    steps: [
      [call('tasks', { action: 'add', text: 'Part one' })],
      [
        call('subagent', { task: 'PART one: name the capital of Norway.' }),
        call('subagent', { task: 'PART two: name the capital of Sweden.' }),
      ],
      [write('result.md', 'Norway: Oslo. Sweden: Stockholm.')],
    ],
    results: [/^Added as tsk_/, 'part done', 'part done', 'result.md'],
    leaves: { 'result.md': 'Stockholm' },
  },
  'plan-project': {
    task: 'Break the move down into steps and plan the project with dates',
    steps: [
      [call('calc', { expression: '4 + 8 + 3' })],
      [
        write('plan.md', '1. Measure the rooms'),
        call('tasks', { action: 'add', text: 'Measure the rooms' }),
        call('schedule', { action: 'follow_up', prompt: 'Look at the plan.', inMinutes: 10_080 }),
      ],
      [call('tasks', { action: 'list' })],
    ],
    results: ['15', 'plan.md', /^Added as tsk_/, /^Scheduled as sch_/, 'Measure the rooms'],
    leaves: { 'plan.md': 'Measure' },
  },
  'remind-me': {
    task: 'Remind me in two hours to take the cake out',
    steps: [
      [
        call('schedule', { action: 'follow_up', prompt: 'Remind the person: the cake.', inMinutes: 120 }),
        call('tasks', { action: 'add', text: 'Take the cake out' }),
      ],
      [call('schedule', { action: 'list' })],
    ],
    results: [/^Scheduled as sch_/, /^Added as tsk_/, 'the cake'],
  },
};
