import { expect, test } from 'vitest';
import fc from 'fast-check';
import { isCommandLine, messageOf } from './command-line.ts';
import { commandTable, parseCommand, usageOf } from './commands.ts';

function read(line: string): unknown {
  const parsed = parseCommand(line);
  return parsed.ok ? [parsed.value.spec.name, parsed.value.values] : [parsed.error.message, parsed.error.hint];
}

test.each([
  ['/run ls -la "a b"', ['run', { command: 'ls -la "a b"' }]],
  ['/READ "my notes.md"', ['read', { path: 'my notes.md' }]],
  ['/read my notes.md', ['read', { path: 'my notes.md' }]],
  ['  /calc 1 + 1\n', ['calc', { expression: '1 + 1' }]],
  ['/budget', ['budget', {}]],
  ['/budget $2.50 day', ['budget', { amount: '$2.50', scope: 'day' }]],
  ['/help', ['help', {}]],
  ['/run', ['/run needs a command.', 'Use it like this: /run COMMAND']],
  ['/budget much', ['"much" is not an amount in US dollars.', 'Use it like this: /budget [amount] [turn|session|day]']],
  ['/budget 0', ['"0" is not an amount in US dollars.', expect.any(String)]],
  ['/export pdf', ['"pdf" is not a choice of markdown, jsonl.', expect.any(String)]],
  ['/stop now', ['/stop does not take "now".', 'Use it like this: /stop']],
  ['/bud', ['There is no command /bud.', 'Did you mean /budget? See /help, or write //bud to send it as a message.']],
  ['/constructor', ['There is no command /constructor.', expect.any(String)]],
])('parses %j', (line, expected) => {
  expect(read(line)).toEqual(expected);
});

test('a path is not a command, and two slashes make a message', () => {
  expect(['/help', ' /run x', '/etc/hosts what is this?', '//help', '/', 'help', '/2'].map(isCommandLine)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
  expect(['//help me', '/x', 'a//b'].map(messageOf)).toEqual(['/help me', '/x', 'a//b']);
});

test('any line is parsed or refused with a sentence, and every usage text is valid', () => {
  const isRead = (text: string): boolean => typeof parseCommand(`/${text}`).ok === 'boolean';
  fc.assert(fc.property(fc.string(), isRead));
  for (const spec of commandTable) {
    const line = spec.parameters.some(({ isOptional }) => !isOptional) ? `/${spec.name} x` : `/${spec.name}`;
    expect([parseCommand(line).ok, usageOf(spec)]).toEqual([true, expect.stringMatching(/^\/[a-z]+/)]);
  }
});
