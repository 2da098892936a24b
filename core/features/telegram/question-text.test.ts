import { expect, test } from 'vitest';
import type { Approval } from '../../contracts/policy.ts';
import { parseHtml } from '../../../tests/doubles/telegram/entities.ts';
import { questionText } from '../../runtime/chats/chats.ts';
import { toTelegramPieces } from './markdown-html.ts';

const asked = {
  approvalId: 'a',
  tool: 'exec',
  summary: 'Wants to run rm -rf *notes*',
  risk: 'It may change files.',
  reason: 'Commands are asked about.',
  ruleId: 'class.exec',
  facts: { class: 'exec', paths: [], hosts: [], command: null },
  args: '{"command":"rm -rf `x` ```notes```"}',
  widerScope: null,
};
const approvalOf = (change: Partial<Approval> = {}): Approval => ({ ...asked, ...change }) as unknown as Approval;

test('a call is shown literally, and sent as a file if it is long', () => {
  const shown = (approval: Approval): string =>
    toTelegramPieces(questionText(approval).text, 3_700)
      .map(({ html }) => parseHtml(html).text)
      .join('|');
  expect(shown(approvalOf())).toBe(
    'Wants to run rm -rf *notes*\nRisk: It may change files.\nWhy it is asked: Commands are asked about. (class.exec)\n' +
      String.raw`exec {"command":"rm -rf ${'`x`'} \u{60}\u{60}\u{60}notes\u{60}\u{60}\u{60}"}`,
  );
  const long = approvalOf({ args: 'x'.repeat(5_000), summary: 's'.repeat(5_000), risk: 'r'.repeat(5_000), reason: '*'.repeat(5_000) });
  for (const text of [long.args, long.summary, long.risk, long.reason]) expect(questionText(long).rest).toContain(text);
  expect(toTelegramPieces(questionText(long).text, 3_700)).toHaveLength(1);
});

test('an approval shows its folder and every hidden character, and says what it cuts', () => {
  const command = { line: 'rm \u202Etxt.a\u200B p\u0430y', cwd: '/ws/sub' };
  const facts = { ...asked.facts, command, input: { id: 'cmd-1', command: 'bash' } } as unknown as Approval['facts'];
  const { text, rest } = questionText(approvalOf({ facts, reason: `an example\u202E ${'r'.repeat(300)}` }));
  expect(text).toContain('\n```\nrm \\u{202e}txt.a\\u{200b} p\\u{430}y\n```');
  expect(text).toContain('Folder: /ws/sub');
  expect(text).toContain(String.raw`Typed into: cmd\-1, which runs bash`);
  expect(text).toMatch(/an example\\\\u\{202e\} r+…\n/);
  expect([text.includes('\u202E'), rest?.includes('r'.repeat(300))]).toEqual([false, true]);
});

test('an approval names the files that the call touches by their real paths, the first three and the others in the file', () => {
  const path = (at: number) => ({ given: `${at}.txt`, real: `/ws/proj/${at}.txt`, access: 'write' });
  const ofPaths = (count: number): ReturnType<typeof questionText> =>
    questionText(
      approvalOf({
        facts: { ...asked.facts, paths: Array.from({ length: count }, (_one, at) => path(at)) } as unknown as Approval['facts'],
      }),
    );
  expect(ofPaths(1)).toMatchObject({ text: expect.stringContaining('\nWrites: /ws/proj/0.txt\n') as string, rest: null });
  const { text, rest } = ofPaths(4);
  expect([text.includes('2.txt'), text.includes('3.txt'), rest?.includes('Writes: /ws/proj/3.txt')]).toEqual([true, false, true]);
});
