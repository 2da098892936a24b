import { expect, test } from 'vitest';
import { stillRedacted } from '../../base/redacted.ts';
import type { ChatMessage } from '../../contracts/llm.ts';
import { estimateQuarter } from '../../../tests/rigs/context-bench.ts';
import { MessageRows } from './message-rows.ts';
import { fitSteps, noSteps, showSteps, withSteps } from './steps-digest.ts';

const step = (at: number, result = `all ${at} tests pass`, isError = false): ChatMessage[] => [
  { role: 'assistant', text: at % 10 === 0 ? `Now part ${at}.` : '', calls: [{ id: `c${at}`, tool: 'exec', args: `{"command":"make part-${at}"}` }] },
  { role: 'tool', id: `c${at}`, tool: 'exec', text: result, isError },
]; // prettier-ignore

function longTurn(steps: number): MessageRows {
  const rows = new MessageRows({ id: 'quarter', count: estimateQuarter });
  const add = (message: ChatMessage, sessionSeq: number): void => rows.add(stillRedacted(message), { sessionSeq, turnId: 't' });
  add({ role: 'user', text: 'Mend the build.' }, 1);
  for (let at = 0; at < steps; at++) {
    const log = `${'compiling a file of the project\n'.repeat(40)}error in part ${at}: port 47${at} is taken\n${'done\n'.repeat(20)}`;
    for (const message of step(at, log, at % 7 === 3)) add(message, at + 2);
    // As a pack does before every request.
    if (rows.totalTokens > 4_000) rows.dropSteps(3_200);
  }
  return rows;
}

test('a step is one line: the call, its arguments and its result', () => {
  const many = `start\n${'a line\n'.repeat(300)}fatal: disk full\nend`;
  const digest = withSteps(noSteps, [...step(10), ...step(11, many, true), { role: 'note', text: 'Look\nagain.' }, { role: 'assistant', text: 'So far so good.', calls: [] }]); // prettier-ignore
  expect(digest.lines).toEqual([
    '- Now part 10. exec {"command":"make part-10"} → all 10 tests pass',
    expect.stringMatching(/^- exec \{"command":"make part-11"\} → failed: start ⏎ a line .*fatal: disk full.* end$/),
    '- note: Look ⏎ again.',
    '- you: So far so good.',
  ]);
  expect(digest.lines.every((line) => line.length < 700 && !line.includes('\n'))).toBe(true);
});

test('the oldest lines are dropped first, and counted', () => {
  const digest = withSteps(noSteps, Array.from({ length: 30 }, (_, at) => step(at)).flat());
  const fitted = fitSteps(digest, 200, estimateQuarter);
  expect(estimateQuarter(showSteps(fitted))).toBeLessThanOrEqual(200);
  expect(fitted.lines.length).toBeGreaterThan(3);
  expect(fitted.forgotten).toBe(30 - fitted.lines.length);
  expect(showSteps(fitted)).toContain(`- ${fitted.forgotten} older steps\n`);
  expect(fitted.lines.at(-1)).toBe(digest.lines.at(-1));
  expect(fitSteps(digest, 0, estimateQuarter)).toEqual({ lines: [], forgotten: 30 });
});

test('the newest steps of a long turn stay whole, and older ones become lines', () => {
  for (const steps of [12, 40, 300]) {
    const rows = longTurn(steps);
    const [first, note, ...rest] = rows.messages;
    expect(first?.text).toBe('Mend the build.');
    expect(rows.totalTokens).toBeLessThanOrEqual(4_000);
    expect(note?.role).toBe('note');
    // Every step is whole, a line, or counted; none appears twice.
    const whole = rest.filter(({ role }) => role === 'assistant').length;
    const lines = (note?.text ?? '').split('\n').filter((line) => line.includes('make part-'));
    const forgotten = Number(/- (\d+) older steps/.exec(note?.text ?? '')?.[1] ?? 0);
    expect(whole + lines.length + forgotten).toBe(steps);
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.every((line) => /error in part \d+: port 47\d+ is taken/.test(line))).toBe(true);
    expect(rest.map(({ role }) => role)).toEqual(rest.map((_, at) => (at % 2 === 0 ? 'assistant' : 'tool')));
    expect(rows.messages.filter(({ role }) => role === 'note')).toHaveLength(1);
  }
});

test('the text of the person stays verbatim, and later steps get a separate note', () => {
  const rows = longTurn(40);
  rows.add(stillRedacted({ role: 'user', text: 'And keep the port 8080.' }), { sessionSeq: 50, turnId: 't' });
  for (let at = 50; at < 80; at++)
    for (const message of step(at, 'x '.repeat(900))) rows.add(stillRedacted(message), { sessionSeq: at + 2, turnId: 't' });
  rows.dropSteps(3_200);
  const roles = rows.messages.map(({ role, text }) => (role === 'user' ? text : role));
  expect(roles.slice(0, 2)).toEqual(['Mend the build.', 'note']);
  expect(roles).toContain('And keep the port 8080.');
  expect(roles[roles.indexOf('And keep the port 8080.') + 1]).toBe('note');
});
