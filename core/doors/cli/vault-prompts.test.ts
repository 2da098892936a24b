// Opening an encrypted vault during a command: the passphrase is asked for, not echoed, and asked twice if it is new.

import { expect, test } from 'vitest';
import { FakeClaw } from '../../../tests/doubles/fake-claw.ts';
import { atTerminal } from '../../../tests/doubles/fake-terminal.ts';
import { AppError } from '../../contracts/errors.ts';

test('unlocks a vault without echoing the passphrase; asks twice for a new one', async () => {
  let isOpen = false;
  const status = { store: 'vault', locked: false, detail: 'Open.' } as const;
  const claw = new FakeClaw({
    'secret.status': () => ({ ...status, hasVault: false }),
    'secret.unlock': () => {
      isOpen = true;
      return { ...status, hasVault: true };
    },
    'secret.set': ({ name }) => {
      if (!isOpen) throw new AppError('vault_locked', 'The vault is locked.');
      return { name };
    },
  });
  const slipped = atTerminal(claw, ['secret', 'set', 'key']);
  const { terminal, finish } = slipped;
  await terminal.sees('Value of key');
  terminal.type('correct horse');
  await terminal.sees('New passphrase');
  terminal.type('battery staple');
  await terminal.sees('once more');
  terminal.type('battery stable');
  expect([await finish, isOpen]).toEqual([2, false]);

  const again = atTerminal(claw, ['secret', 'set', 'key']);
  await again.terminal.sees('Value of key');
  again.terminal.type('correct horse');
  await again.terminal.sees('New passphrase');
  again.terminal.type('battery staple');
  await again.terminal.sees('once more');
  again.terminal.type('battery staple');
  expect([await again.finish, isOpen]).toEqual([0, true]);
  for (const hidden of ['correct horse', 'battery staple']) expect(again.terminal.out + again.terminal.err).not.toContain(hidden);
});

test('does not echo a secret typed at a terminal', async () => {
  const claw = new FakeClaw({ 'secret.set': ({ name }) => ({ name }) });
  const { terminal, finish } = atTerminal(claw, ['secret', 'set', 'key']);
  await terminal.sees('Value of key');
  terminal.type('correct horse');
  expect(await finish).toBe(0);
  expect(claw.calls[0]?.params).toEqual({ name: 'key', value: 'correct horse' });
  expect((terminal.out + terminal.err).includes('correct horse')).toBe(false);
});
