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
  facts: { class: 'exec', paths: [], hosts: [] },
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
    'Wants to run rm -rf *notes*\nIt may change files.\nCommands are asked about.\n{"command":"rm -rf `x` ```notes```"}',
  );
  const long = approvalOf({ args: 'x'.repeat(5_000), summary: 's'.repeat(5_000), risk: 'r'.repeat(5_000), reason: '*'.repeat(5_000) });
  expect(questionText(long).rest).toBe('x'.repeat(5_000));
  expect(toTelegramPieces(questionText(long).text, 3_700)).toHaveLength(1);
});
