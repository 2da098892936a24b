// The window's wording: times, sizes, money, calls, events.

import { expect, test } from 'vitest';
import type { AnyEvent } from '../../core/contracts/events.ts';
import { describeCall } from './describe-call.ts';
import { english } from './i18n/english/whole.ts';
import { describeEvent } from './describe-event.ts';
import { Formats } from './i18n/formats.ts';
import type { ToolShown } from '../../core/contracts/tools.ts';
import type { CallState } from '../../core/contracts/turn-view.ts';
import { oneLine, plainLine, timeGroup } from './format.ts';

test('durations, sizes, tokens and money carry their units, from which no line parts them', () => {
  const formats = new Formats('en-GB', english.common);
  const units = [
    ...[0.2, 4, 999, 1500, 12_400, 61_000, 3_700_000].map((value) => formats.duration(value)),
    ...[0, 999, 1200, 45_000, 2_500_000].map((value) => formats.size(value)),
    ...[1, 12, 1840, 250_000].map((value) => formats.tokens(value)),
    ...[0, 1500].map((value) => formats.offset(value)),
  ];
  const lines = [
    '<~1~ms 4~ms 999~ms 1.5~s 12~s 1~min 1~s 1~h 1~min',
    '0~B 999~B 1.2~kB 45~kB 2.5~MB',
    '1~token 12~tokens 1.8k~tokens 250k~tokens',
    '0~ms +1.5~s',
  ];
  expect(units.join(' ')).toBe(lines.join(' ').replaceAll('~', '\u{a0}'));
});

test('a cost that is not zero never reads as zero', () => {
  const formats = new Formats('en-GB', english.common);
  const said = [null, 0, 0.000_000_3, 0.0012, 1.5].map((value) => formats.usd(value));
  expect(said).toEqual(['cost unknown', '$0.00', '<\u{a0}$0.0001', '$0.0012', '$1.50']);
  expect(formats.usdExact(0.000_000_3)).toBe('<\u{a0}$0.0001');
});

test('sessions group by the calendar', () => {
  const now = new Date(2026, 4, 20, 9, 0).getTime();
  const at = (day: number, hour: number): string => timeGroup(new Date(2026, 4, day, hour).getTime(), now);
  expect([at(20, 0), at(19, 23), at(14, 0), at(13, 23)]).toEqual(['Today', 'This week', 'This week', 'Earlier']);
});

test('a row is one line without marks', () => {
  expect(oneLine('  a\n\n b  ')).toBe('a b');
  expect(oneLine('x'.repeat(200), 10)).toBe('xxxxxxxxx…');
  expect(plainLine('# Report\n\nThe **quick** `check`\n- one')).toBe('Report The quick check one');
  expect(plainLine('| name | value |\n|:---|---:|\n| a | 1 |\n\n---\nDone')).toBe('name, value a, 1 Done');
  expect(plainLine('A *slanted* word, 2 * 3 * 4')).toBe('A slanted word, 2 * 3 * 4');
  expect(oneLine('😀'.repeat(90))).toBe('😀'.repeat(69) + '…');
  expect(plainLine('So:\n```ts\nconst a = 1;\n```\nDone')).toBe('So: const a = 1; Done');
});

const looks: Readonly<Record<string, ToolShown>> = {
  write_file: { verb: 'write', target: ['path'] },
  read_file: { verb: 'read', target: ['path'] },
  exec: { verb: 'run', target: ['command'] },
  later: { verb: 'teleport', target: ['place'] },
  odd: { verb: 'toString', target: [] },
};

test('a call reads as a verb in its tense and its target', () => {
  const line = (state: CallState): string => {
    const { verb, target } = describeCall(
      { tool: 'write_file', args: '{"path":"notes.md","content":"x"}', state },
      looks['write_file'] ?? null,
      english.chat,
    );
    return `${verb} ${target}`;
  };
  expect((['ok', 'running', 'waiting', 'denied', 'error', 'unknown'] as const).map(line)).toEqual([
    'Wrote notes.md',
    'Writing notes.md',
    'Wants to write notes.md',
    'Did not write notes.md',
    'Tried to write notes.md',
    'May have tried to write notes.md',
  ]);
  const ok = (tool: string, args: string) => describeCall({ tool, args, state: 'ok' }, looks[tool] ?? null, english.chat);
  expect(ok('my_tool', '{"n":3}')).toEqual({ verb: 'my_tool', target: '3' });
  expect(ok('exec', 'not json')).toEqual({ verb: 'Ran', target: '' });
  expect(ok('later', '{"place":"here"}')).toEqual({ verb: 'later', target: 'here' });
  expect(ok('odd', '{}')).toEqual({ verb: 'odd', target: '' });
  expect(ok('read_file', '{"file":"old.md"}')).toEqual({ verb: 'Read', target: 'old.md' });
});

test('a decision names its rule, and an unknown event is still listed', () => {
  const base = { seq: 1, sessionId: 's', sessionSeq: 1, turnId: 't', step: 1, phase: null, v: 1, atMs: 1 };
  const telling = { words: english, format: new Formats('en-GB', english.common), call: ({ tool }: { tool: string }) => tool };
  const facts = { class: 'read', paths: [], command: null, hosts: [] };
  const body = {
    callId: 'c',
    tool: 'exec',
    decision: 'deny',
    ruleId: 'exec.never',
    reason: 'No.',
    facts,
    idempotency: 'unsafe',
    verifies: false,
    grantId: null,
    approvalId: null,
  };
  expect(describeEvent({ ...base, type: 'policy.decided', body } as AnyEvent, telling)).toEqual({
    title: 'Refused: exec',
    detail: 'No.',
    tone: 'bad',
    ruleId: 'exec.never',
  });
  expect(describeEvent({ ...base, type: 'turn.grew_wings', body: {} } as unknown as AnyEvent, telling)).toEqual({
    title: 'turn.grew_wings',
    detail: '',
    tone: 'plain',
  });
});
