// The real keychain of this machine, when one is asked for: TRAYCLAW_TEST_KEYCHAIN=1 inside a session that has one.

import { expect, test } from 'vitest';
import { KeytarKeychain } from './secret.ts';

test.runIf(process.env['TRAYCLAW_TEST_KEYCHAIN'] === '1')('a value goes into the real keychain, comes back, and is deleted', async () => {
  const keychain = new KeytarKeychain();
  const name = `test-${process.pid}`;
  expect(await keychain.get(name)).toBeNull();
  await keychain.set(name, 'value with ünïcode');
  expect(await keychain.get(name)).toBe('value with ünïcode');
  expect(await keychain.list()).toContain(name);
  expect([await keychain.delete(name), await keychain.delete(name)]).toEqual([true, false]);
  expect(await keychain.get(name)).toBeNull();
});
