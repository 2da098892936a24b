// The line that says what a turn is doing: late, replaced, removed by any other output, and never over the text of an answer.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeTerminal } from '../../../tests/doubles/fake-terminal.ts';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { Output } from './output.ts';
import { TurnProgress, callInWords } from './turn-progress.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const erased = '\r\u001B[2K';

function progressAt(terminal: FakeTerminal, isTyping = false) {
  const output = new Output(terminal.io, { isJson: false, isQuiet: false });
  const clock = new ManualClock();
  const progress = new TurnProgress({ output, clock, isTyping: () => isTyping });
  const pass = (seconds: number): void => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1000);
      vi.advanceTimersByTime(1000);
    }
  };
  return { output, progress, pass };
}

test('a silent turn says after two seconds what it does, and any output removes the line', () => {
  const terminal = new FakeTerminal({ isTty: true });
  const { output, progress, pass } = progressAt(terminal);
  progress.show('Thinking');
  pass(1);
  expect(terminal.err).toBe('');
  pass(2);
  expect(terminal.err).toBe(`${erased}Thinking · 2 s${erased}Thinking · 3 s`);
  terminal.err = '';
  output.note('read_file · ok');
  expect(terminal.err).toBe(`${erased}read_file · ok\n`);
  terminal.err = '';
  progress.show('exec · npm test');
  pass(2);
  progress.hide();
  pass(5);
  expect(terminal.err).toBe(`${erased}exec · npm test · 2 s${erased}`);
});

test('the line begins below an answer that did not end its line', () => {
  const terminal = new FakeTerminal({ isTty: true });
  const { output, progress, pass } = progressAt(terminal);
  output.text('I look at it.');
  progress.show('exec');
  pass(2);
  expect(terminal.err).toBe(`\n${erased}exec · 2 s`);
  output.text('It is fine.');
  expect(terminal.err).toBe(`\n${erased}exec · 2 s${erased}`);
});

test.each([
  ['a pipe', { isTty: false }, false],
  ['a terminal that cannot erase', { isTty: true, env: { TERM: 'dumb' } }, false],
  ['a person who types', { isTty: true }, true],
])('nothing is drawn for %s', (_name, options, isTyping) => {
  const terminal = new FakeTerminal(options);
  const { progress, pass } = progressAt(terminal, isTyping);
  progress.show('Thinking');
  pass(5);
  progress.hide();
  expect(terminal.err).toBe('');
});

test.each([
  ['exec', '{"command":"npm test","cwd":"."}', 'exec · npm test'],
  ['calc', '{"n":1}', 'calc'],
  ['calc', '{"half', 'calc'],
])('a call of %s with %s is %s', (tool, args, words) => {
  expect(callInWords(tool, args)).toBe(words);
});

test('a long or hostile text stays one short line without control characters', () => {
  const terminal = new FakeTerminal({ isTty: true });
  const { progress, pass } = progressAt(terminal);
  progress.show(`exec · a\nb \u001B[2J ${'x'.repeat(300_000)}`);
  pass(2);
  const [, shown = ''] = terminal.err.split(erased);
  expect(shown).toMatch(/^exec · a b \\u\{1b\}\[2J x{30,40}… · 2 s$/);
});
