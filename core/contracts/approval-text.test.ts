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

test('the text of a deletion names it only once', () => {
  const facts = { ...base.facts, does: 'Deletes build and everything inside' };
  const told = (risk: string): string => boundedText(of({ facts, risk }), 10_000).text;
  expect(told('It deletes folders and everything in them.')).not.toMatch(/Risk|deletes folders/);
  expect(told('It deletes folders and everything in them. It talks to the network.')).toContain('\nRisk: It talks to the network.\n');
});

test.each([
  ['It runs code straight from the network. It talks to the network.', 'Runs code straight from the network, and talks to the network', ''],
  ['It deletes folders. It talks to the network.', 'Deletes build, and talks to the network', 'It deletes folders.'],
  ['It deletes folders and everything in them.', 'Deletes build and everything inside', ''],
  ['It deletes files; they do not go to a bin.', 'Deletes a.txt', 'Nothing goes to a bin.'],
  ['It deletes files; they do not go to a bin.', 'Force-pushes', 'It deletes files; they do not go to a bin.'],
  ['It deletes folders and everything in them.', 'On box: deletes build and everything inside', ''],
  ['It can change files.', undefined, 'It can change files.'],
])('of "%s" below "%s" is left "%s"', (risk, headline, left) => {
  expect(riskBelow({ risk, facts: { does: headline } as never })).toBe(left);
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
