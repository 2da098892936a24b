import { expect, test } from 'vitest';
import type { ChatMessage, ToolSchema } from '../../contracts/llm.ts';
import { createRequest, createRouter, failureOf, RecordingSink, user } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { readDemoIntent } from './demo-intent.ts';
import { planDemoStep } from './demo-client.ts';

const never = new AbortController().signal;
const names = ['list_dir', 'read_file', 'write_file', 'calc', 'grep', 'glob', 'exec'];
const tools: ToolSchema[] = names.map((name) => ({ name, description: name, parameters: { type: 'object' } }));

test.each([
  ['Describe this folder and write notes.md about it', { kind: 'describe_folder', folder: '.', noteFile: 'notes.md' }],
  ['list the files in src/core', { kind: 'describe_folder', folder: 'src/core', noteFile: null }],
  ['Look at the folder reports and write summary.md', { kind: 'describe_folder', folder: 'reports', noteFile: 'reports/summary.md' }],
  ['Summarize the docs directory, write notes', { kind: 'describe_folder', folder: 'docs', noteFile: 'docs/notes.md' }],
  ['Read README.md', { kind: 'read_file', file: 'README.md' }],
  ['how big is src/main.ts?', { kind: 'read_file', file: 'src/main.ts' }],
  ['Calculate (3 + 4) * 12', { kind: 'calculate', expression: '(3 + 4) * 12' }],
  ['what is 1,200 times 3?', { kind: 'calculate', expression: '1200 * 3' }],
  ['2+2', { kind: 'calculate', expression: '2+2' }],
  ['Search for "TODO" in src/', { kind: 'search_text', pattern: 'TODO', folder: 'src/' }],
  ['grep needle', { kind: 'search_text', pattern: 'needle', folder: null }],
  ['Find all *.md files', { kind: 'find_files', pattern: '*.md' }],
  ['find **/*.test.ts', { kind: 'find_files', pattern: '**/*.test.ts' }],
  ['Run `git status`', { kind: 'run_command', command: 'git status' }],
  ['please run the command ls -la', { kind: 'run_command', command: 'ls -la' }],
  ['Write me a poem about the sea', { kind: 'unknown' }],
  ['hello', { kind: 'unknown' }],
])('%j is understood as %j', (message, intent) => {
  expect(readDemoIntent(message)).toEqual(intent);
});

/** Plays a turn: every call gets the result that `answers` has for its tool. */
async function play(message: string, answers: Record<string, string>, offered = tools) {
  const router = createRouter({});
  const messages: ChatMessage[] = [user('an earlier question'), user(message)];
  const calls: unknown[] = [];
  for (let step = 0; step < 5; step++) {
    const sink = new RecordingSink();
    const reply = await router.stream('demo/offline', createRequest(messages, { tools: offered }), sink, { signal: never });
    expect(sink.texts.join('')).toBe(reply.text);
    expect(reply.text.includes('Offline demo, no language model')).toBe(reply.calls.length === 0);
    expect(reply.usage).toEqual({ inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 });
    messages.push({ role: 'assistant', text: reply.text, calls: reply.calls });
    for (const call of reply.calls) {
      calls.push([call.tool, JSON.parse(call.args)]);
      const text = answers[call.tool];
      messages.push({ role: 'tool', id: call.id, tool: call.tool, text: text ?? 'not allowed', isError: text === undefined });
    }
    if (reply.calls.length === 0) return { calls, text: reply.text, finishReason: reply.finishReason };
  }
  throw new Error('it never ends');
}

test('describes a folder: lists it, writes what it saw, and says so', async () => {
  const listing = 'a.txt  12 bytes\nsub/';
  const { calls, text } = await play('Describe this folder and write notes.md about it', {
    list_dir: listing,
    write_file: 'wrote notes.md',
  });
  expect(calls).toEqual([
    ['list_dir', { path: '.' }],
    [
      'write_file',
      {
        path: 'notes.md',
        content:
          '# Notes on this folder\n\nWritten by the offline demo (no language model). The listing had 2 lines:\n\n    a.txt  12 bytes\n    sub/\n',
      },
    ],
  ]);
  expect(text).toContain('wrote notes.md');
});

test.each([
  ['Read a.txt', 'read_file', { path: 'a.txt' }, 'one\ntwo', '7 bytes in 2 lines'],
  ['Calculate 6*7', 'calc', { expression: '6*7' }, '42', '6*7 = 42'],
  ['Search for "x" in src/', 'grep', { pattern: 'x', path: 'src/' }, 'src/a:1:x', 'src/a:1:x'],
  ['Find *.md', 'glob', { pattern: '*.md' }, 'README.md', 'README.md'],
  ['Run `date`', 'exec', { action: 'run', command: 'date' }, 'Sunday', 'Sunday'],
])('%s: makes one call of %s, and the answer contains its result', async (...[message, tool, args, answer, expected]) => {
  const { calls, text, finishReason } = await play(message, { [tool]: answer });
  expect(calls).toEqual([[tool, args]]);
  expect(text).toContain(expected);
  expect(finishReason).toBe('stop');
});

test('reports a tool that fails or is not offered', async () => {
  expect((await play('Run `rm -rf x`', {})).text).toContain('did not succeed');
  const { calls, text } = await play('Run `date`', {}, []);
  expect(calls).toEqual([]);
  expect(text).toContain('needs the tool exec, which I was not given');
});

test('lists only what it can do with the offered tools', async () => {
  const some = tools.filter((tool) => tool.name === 'calc');
  const { text } = await play('Write me a poem', {}, some);
  expect(text).toContain('- Calculate (3 + 4) * 12');
  expect(text).not.toContain('Run `git status`');
  expect(planDemoStep([], []).call).toBeNull();
});

test('stops when aborted, and knows no other model', async () => {
  const router = createRouter({});
  const controller = new AbortController();
  const sink = { text: () => controller.abort() };
  const request = createRequest([user('hello')], { tools });
  expect((await failureOf(router.stream('demo/offline', request, sink, { signal: controller.signal }))).code).toBe('cancelled');
  expect((await failureOf(router.stream('demo/smart', request, sink, { signal: never }))).code).toBe('model_unknown');
});
