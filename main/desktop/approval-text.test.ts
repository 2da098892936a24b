// The texts of a native dialog and a notification: exact, short enough to read there, with nothing hidden.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dialogChoices, dialogText, fitsNotice, noticeText } from './approval-text.ts';
import { approvalOf } from '../../tests/rigs/desktop-bench.ts';

test('a short approval is shown in full', () => {
  expect(dialogText(approvalOf())).toEqual({
    message: 'Wants to write notes.md (3 bytes)',
    detail: 'Risk: It changes a file.\n\nWhy it is asked: No rule allows it. (ask.write)\n\nwrite {"path":"notes.md","content":"abc"}',
    showsAll: true,
  });
  expect(noticeText(approvalOf(), 'linux')).toEqual({
    title: 'TrayClaw asks',
    body: 'Wants to write notes.md (3 bytes)\nwrite {"path":"notes.md","content":"abc"}\nRisk: It changes a file. Why it is asked: No rule allows it. (ask.write)',
  });
});

test('on Linux the text of a notification is markup, so nothing in it is taken for a tag', () => {
  const approval = approvalOf({ tool: 'exec', summary: 'Runs a && b <in', args: '{"command":"a && b <img alt=\'; rm -rf ~\'>"}' });
  expect(noticeText(approval, 'linux').body).toContain(
    'Runs a &amp;&amp; b &lt;in\nexec {"command":"a &amp;&amp; b &lt;img alt=\'; rm -rf ~\'>"}',
  );
  expect(noticeText(approval, 'win32').body).toContain('Runs a && b <in\nexec {"command":"a && b <img alt=');
});

test('names possible untrusted sources, and counts those of a long list', () => {
  const taint = Array.from({ length: 12 }, (_, index) => ({ kind: 'web' as const, where: `${index}.example` }));
  const { detail } = dialogText(approvalOf({ origin: { channel: 'cli', agentId: 'main', taint } }));
  expect(detail).toContain('8.example, 9.example and 2 more');
});

const hidden = ['\u202E', '\u2066', '\u200B', '\u00AD', '\u0000', '\u001B', '\u0085', '\uFEFF', '\u2028', '\u{E0041}', '\u3164', '\u2800'];

test.each(hidden)('writes out invisible characters (%j)', (char) => {
  const spoofed = approvalOf({
    summary: `Wants to run ls${char}x`,
    reason: `be${char}cause`,
    args: `{"a":"${char}"}`,
    origin: { channel: 'cli', agentId: 'main', taint: [{ kind: 'web', where: `a${char}b` }] },
  });
  const { message, detail } = dialogText(spoofed);
  const { body } = noticeText(spoofed, 'linux');
  expect([message, detail, body].map((text) => text.includes(char))).toEqual([false, false, false]);
});

test('writes out a letter of another alphabet within a Latin word', () => {
  expect(dialogText(approvalOf({ summary: 'Wants to run p\u0430ypal' })).message).toBe('Wants to run p\\u{430}ypal');
});

test('a call that does not fit can be denied or opened, but not approved', () => {
  const long = [approvalOf({ args: 'x'.repeat(1_300) }), approvalOf({ args: 'x\n'.repeat(20) }), approvalOf({ summary: 's'.repeat(500) })];
  for (const approval of long) {
    const { detail, message, showsAll } = dialogText(approval);
    expect([showsAll, fitsNotice(approval), message.length <= 400]).toEqual([false, false, true]);
    expect(detail.length).toBeLessThan(2_500);
    expect(dialogChoices(approval, showsAll).map(({ label }) => label)).toEqual(['Deny', 'Open details']);
  }
  expect(dialogText(approvalOf({ args: 'x'.repeat(1_300) })).detail).toContain('more characters do not fit here');
});

test('denial comes first, and wider scopes only where they are allowed', () => {
  const labels = (changes: Parameters<typeof approvalOf>[0]): string[] =>
    dialogChoices(approvalOf(changes), true).map(({ label }) => label);
  expect(labels({})).toEqual([
    'Deny',
    'Approve once',
    'Approve for 15 minutes',
    'Approve for this session',
    'Approve until revoked',
    'Open details',
  ]);
  expect(labels({ widerScope: null })).toEqual(['Deny', 'Approve once', 'Open details']);
});

test('a grave call names the loss and cannot be approved outside the window', () => {
  const command = { line: 'rm -rf build', cwd: '/ws' };
  const grave = approvalOf({
    widerScope: null,
    facts: { class: 'destructive', paths: [], command, hosts: [], does: 'Deletes build and everything inside' },
  });
  expect(dialogText(grave).message).toBe('Deletes build and everything inside');
  expect(noticeText(grave, 'linux').body).toMatch(/^Deletes build/);
  expect(dialogChoices(grave, true).map(({ label }) => label)).toEqual(['Deny', 'Open details']);
  expect(fitsNotice(grave)).toBe(false);
});

test('bounds any text of a model, and shows in full what can be approved', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), fc.string({ unit: 'binary', maxLength: 3_000 }), (summary, args) => {
      const approval = approvalOf({ summary, args, reason: args });
      const { message, detail, showsAll } = dialogText(approval);
      const notice = noticeText(approval, 'darwin').body;
      expect(message.length + detail.length).toBeLessThan(4_000);
      expect(notice.length).toBeLessThan(600);
      if (showsAll) expect(dialogChoices(approval, true)).toHaveLength(6);
      if (fitsNotice(approval)) expect(notice.split('\n')).toHaveLength(3);
    }),
  );
});
