// The doctor on the command line without a running program: settings that prevent a start, and repairs without confirmation.

import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { TestHome } from './test-home.ts';

test('settings that prevent a start are a separate finding, with the key by name', { timeout: 60_000 }, async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  home.configure('modles: {}');
  const ill = await home.command(['doctor']);
  expect([ill.code, ill.json]).toEqual([
    1,
    { ok: false, checks: [expect.objectContaining({ id: 'runtime', ok: false, detail: expect.stringContaining('modles') })] },
  ]);
  home.configure({ models: { default: 'demo/offline' }, sandbox: { mode: 'off' } });
  chmodSync(home.path, 0o755);
  writeFileSync(join(home.path, 'instance.json'), '{"pid":999999999,"socketPath":"/gone","token":"t","version":"1"}', { mode: 0o644 });
  // Without a terminal, only harmless repairs are made.
  const mended = await home.cli(['doctor', '--fix']);
  expect([mended.code, (mended.json as { ok: boolean }).ok]).toEqual([0, true]);
  expect(statSync(home.path).mode & 0o077).toBe(0);
});
