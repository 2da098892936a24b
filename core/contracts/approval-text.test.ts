import { expect, test } from 'vitest';
import { approvalText, boundedText, riskBelow } from './approval-text.ts';
import type { Approval } from './policy.ts';

const base = {
  tool: 'exec',
  args: '{"command":"make","cwd":"sub"}',
  summary: 'Wants to run make',
  risk: 'It runs a program.',
  reason: 'No rule allows it.',
  ruleId: 'class.exec',
  facts: { class: 'exec', command: { line: 'make \u202Eevil', cwd: '/ws/sub' }, hosts: ['a.example'], paths: [] },
} as unknown as Approval;
const of = (changes: object): Approval => ({ ...base, ...changes });

test('an approval shows risk, reason, folder, sources and the exact call', () => {
  const origin = { channel: 'cli', agentId: 'main', taint: [{ kind: 'web', where: 'b\u200B.example' }] };
  expect(approvalText(of({ origin }))).toEqual({
    headline: 'Wants to run make',
    about: [
      'Risk: It runs a program.',
      'Why it is asked: No rule allows it. (class.exec)',
      'Folder: /ws/sub',
      String.raw`What led here includes words from: b\u{200b}.example`,
    ],
    touches: ['Host: a.example'],
    exact: String.raw`make \u{202e}evil`,
  });
});

test('a loss is the headline, and typed input names the command that gets it', () => {
  const input = { id: 'cmd-1', command: 'bash' };
  const { headline, about } = approvalText(of({ facts: { ...base.facts, does: 'Deletes build', input } }));
  expect([headline, about[0], about[3]]).toEqual(['Deletes build', 'Wants to run make', 'Typed into: cmd-1, which runs bash']);
});

test('the text leaves out what the headline says of the risks, and nothing else', () => {
  const folders = 'It deletes folders and everything in them.';
  const facts = { ...base.facts, risks: [folders, 'It talks to the network.'], does: 'Deletes build and everything inside' };
  const textOf = (told?: Record<string, string>): string =>
    boundedText(of({ facts: { ...facts, told }, risk: facts.risks.join(' ') }), 10_000).text;
  expect(textOf({ [folders]: '' })).toContain('\nRisk: It talks to the network.\n');
  expect(textOf({ [folders]: 'Nothing goes to a bin.' })).toContain('\nRisk: Nothing goes to a bin. It talks to the network.\n');
  expect(textOf()).toContain(`\nRisk: ${folders} It talks to the network.\n`);
  expect(riskBelow(base)).toBe('It runs a program.');
});

test('a call without a command shows its tool and all its arguments', () => {
  expect(approvalText(of({ facts: { ...base.facts, command: null } })).exact).toBe('exec {"command":"make","cwd":"sub"}');
});

test('a text that does not fit says so', () => {
  const { text } = boundedText(base, 10_000);
  expect(boundedText(base, text.length)).toEqual({ text, isWhole: true });
  const cut = boundedText(base, text.length - 1);
  expect([cut.isWhole, cut.text.includes('1 more character'), cut.text.startsWith(text.slice(0, -1))]).toEqual([false, true, true]);
});
