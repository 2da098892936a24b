// The parts behind the message field: suggestions for a command, and recall of earlier lines.

import { expect, test, vi } from 'vitest';
import type { OpClient } from '../../../lib/client.ts';
import { CommandResults } from '../../../lib/state/command-results.svelte.ts';
import { OpFailure } from '../../../lib/client.ts';
import { mentionAt, mentionedFiles, withMention } from '../../../lib/mentions.ts';
import { Completion, isBegunCommand } from './completion.svelte.ts';
import { WrittenLines } from './written-lines.ts';

type Answer = (params: Readonly<Record<string, unknown>>) => unknown;

function host(answer: Answer): OpClient {
  const op = (async (_name: string, params: Readonly<Record<string, unknown>>) => Promise.resolve(answer(params))) as OpClient['op'];
  return { op, events: () => () => undefined };
}

const offered = (lines: readonly string[]) => ({ completions: lines.map((line) => ({ line, label: line.trim(), about: '' })) });

async function follow(completion: Completion, line: string): Promise<void> {
  completion.follow(line, null);
  await vi.runAllTimersAsync();
}

test('a slash and letters begin a command; a path and two slashes do not', () => {
  expect(['/', '/ca', '/calc 2', '/etc/hosts', '//help', 'help', '/2'].map(isBegunCommand)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a name is preselected, a parameter is not; a complete text is not a suggestion', async () => {
  vi.useFakeTimers();
  try {
    const names = ['/calc ', '/read ', '/retry ', '/release'];
    const completion = new Completion(
      host(({ line }) =>
        offered(String(line) === '/retry ' ? ['/retry lab/a', '/retry lab/b'] : names.filter((name) => name.startsWith(String(line)))),
      ),
    );
    await follow(completion, '/re');
    expect([completion.items.length, completion.chosen?.line]).toEqual([3, '/read ']);
    completion.move(-1);
    expect(completion.chosen?.line).toBe('/release');
    completion.move(1);
    expect(completion.chosen?.line).toBe('/read ');
    await follow(completion, '/retry ');
    expect([completion.isOpen, completion.chosen]).toEqual([true, undefined]);
    completion.move(-1);
    expect(completion.chosen?.line).toBe('/retry lab/b');
    await follow(completion, '/release');
    expect(completion.isOpen).toBe(false);
    await follow(completion, 'no command');
    expect(completion.isOpen).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test('a suggestion for fewer letters does not replace later text', async () => {
  vi.useFakeTimers();
  try {
    const completion = new Completion(host(({ line }) => offered(['/calc ', '/call '].filter((name) => name.startsWith(String(line))))));
    await follow(completion, '/ca');
    expect(completion.chosen?.line).toBe('/calc ');
    // From here on no time passes, so the host has not answered yet.
    completion.follow('/cal', null);
    expect(completion.items.map(({ line }) => line)).toEqual(['/calc ', '/call ']);
    completion.follow('/calc 6 * 7', null);
    expect([completion.isOpen, completion.chosen]).toEqual([false, undefined]);
  } finally {
    vi.useRealTimers();
  }
});

test('a closed list stays closed for that line, and a late answer shows nothing', async () => {
  vi.useFakeTimers();
  try {
    const answers: ((lines: readonly string[]) => void)[] = [];
    const slow: OpClient['op'] = (() => new Promise((resolve) => answers.push((lines) => resolve(offered(lines))))) as never;
    const completion = new Completion({ op: slow });
    await follow(completion, '/c');
    await follow(completion, '/r');
    answers[1]?.(['/run ', '/read ']);
    answers[0]?.(['/calc ']);
    await vi.runAllTimersAsync();
    expect(completion.items.map(({ line }) => line)).toEqual(['/run ', '/read ']);
    completion.close();
    await follow(completion, '/r');
    expect(completion.isOpen).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test('recall ends at the first line, and typed text is never lost', () => {
  const lines = ['one', 'two'];
  const written = new WrittenLines();
  expect(written.earlier([], '')).toBe(null);
  expect(written.earlier(lines, 'mine')).toBe(null);
  expect(written.earlier(lines, '')).toBe('two');
  expect(written.earlier(lines, 'two')).toBe('one');
  expect(written.earlier(lines, 'one')).toBe(null);
  expect(written.later(lines, 'one')).toBe('two');
  expect(written.later(lines, 'two, changed')).toBe(null);
  expect(written.later(lines, 'two')).toBe('');
  expect(written.later(lines, '')).toBe(null);
});

test('a result is in the session the command leads to, a refusal where it was typed', async () => {
  const done = { command: 'new', text: 'A new session.', sessionId: 'b', turnId: null, waiting: false, follow: false, file: null };
  const results = new CommandResults(
    host(({ line }) => {
      if (line === '/nope') throw new OpFailure('invalid_params', 'There is no command /nope.', 'See /help.');
      return done;
    }),
  );
  expect(await results.run('/nope', 'a')).toBe(false);
  expect(results.of('a')?.failure).toEqual({ message: 'There is no command /nope.', hint: 'See /help.' });
  expect(await results.run('/new', 'a')).toEqual({ sessionId: 'b' });
  expect([results.of('a'), results.of('b')?.result]).toEqual([undefined, done]);
  expect(results.linesOf('a')).toEqual(['/nope', '/new']);
  results.dismiss('b');
  expect(results.of('b')).toBe(undefined);
});

test('a mention is completed at the caret, and one with spaces is quoted', () => {
  expect(['@', 'see @pl', 'see @"my pl', 'me@host', '@a b'].map((text) => mentionAt(text, text.length)?.query ?? null)).toEqual([
    '',
    'pl',
    'my pl',
    null,
    null,
  ]);
  const mention = mentionAt('see @pl and go', 7);
  expect(mention === null ? null : withMention(mention, 'my plan.md')).toEqual({ line: 'see @"my plan.md" and go', caret: 17 });
});

test('files of the folder are offered for an @, and sent are those that a text names exactly', async () => {
  vi.useFakeTimers();
  try {
    const files = ['plan.md', 'src/plan.ts'];
    const client = host(({ query }) => ({ files: files.filter((path) => path.includes(String(query))), isCut: false }));
    const completion = new Completion(client);
    await follow(completion, 'see @plan');
    expect([completion.items.map(({ label }) => label), completion.chosen?.line]).toEqual([files, 'see @plan.md ']);
    await follow(completion, 'see @plan.md ');
    expect(completion.isOpen).toBe(false);
    expect(await mentionedFiles(client, null, 'see @plan.md, @src/plan.ts and @nobody or me@plan.md')).toEqual(files);
  } finally {
    vi.useRealTimers();
  }
});
