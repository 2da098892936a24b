// The real keychain: a separate Secret Service, without a display, in a private home. A machine without one only tests the missing
// keychain; CI installs one, so there its absence is a failure.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { TestHome } from '../faults/test-home.ts';
import { findLibsecret, has, needs } from '../needs.ts';
import { cliFile } from '../program-file.ts';

const withKeychain = needs('a keychain service');

const child = fileURLToPath(new URL('keychain-child.ts', import.meta.url));
const answerSchema = z.object({ answers: z.array(z.unknown()), tookMs: z.number() });

const isOnCi = process.env['CI'] !== undefined && process.platform === 'linux';

/** Runs a shell script in a separate session bus; `$NODE` is this Node. All its processes end with the bus. */
function inSession(script: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'keychain-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o700);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    XDG_RUNTIME_DIR: folder,
    XDG_DATA_HOME: join(folder, 'data'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    TRAYCLAW_HOME: join(folder, 'home'),
    NODE: process.execPath,
    CHILD: child,
    CLI: cliFile,
  };
  const run = spawnSync('dbus-run-session', ['--', 'bash', '-euc', script], { env, encoding: 'utf8', timeout: 60_000 });
  expect(run.error).toBeUndefined();
  return run.stdout;
}

const answersOf = (out: string): z.infer<typeof answerSchema>[] =>
  out
    .split('\n')
    .filter((line) => line.startsWith('{"answers"'))
    .map((line) => answerSchema.parse(JSON.parse(line)));

/** The blank line is the password of the new collection. */
const startService = `eval "$(printf '\\n' | gnome-keyring-daemon --unlock --components=secrets)"`;

test('CI has a keychain to test', () => {
  expect(has('a keychain service') || !isOnCi).toBe(true);
});

test('values are stored in the real keychain, read back, listed and deleted', withKeychain, () => {
  const [used] = answersOf(inSession(`${startService}\n"$NODE" "$CHILD" use`));
  expect(used?.answers).toEqual([null, null, 'value with ünïcode', null, ['lab', 'work'], true, false, ['work']]);
});

test('a locked keychain is reported within a bounded time', withKeychain, () => {
  const lock = `dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets org.freedesktop.Secret.Service.Lock array:objpath:/org/freedesktop/secrets/collection/login >/dev/null`;
  const [, locked] = answersOf(inSession(`${startService}\n"$NODE" "$CHILD" use\n${lock}\n"$NODE" "$CHILD" locked`));
  expect(locked?.answers.slice(0, 2)).toEqual(['keychain_unavailable locked', 'keychain_unavailable locked']);
  expect(locked?.tookMs).toBeLessThan(20_000);
});

test('the program stores a secret there and shows only its name', withKeychain, () => {
  const out = inSession(`${startService}
    printf 'hunter2-hunter2' | "$NODE" "$CLI" secret set lab
    "$NODE" "$CLI" secret list; "$NODE" "$CLI" secret status; ls "$TRAYCLAW_HOME"`);
  expect(out).toContain('Stored lab.\nlab\nSecrets are kept in the keychain of this computer.\n');
  expect(out).not.toContain('secrets.vault');
});

test('without the keychain library there is no keychain either', needs('bubblewrap and libsecret'), () => {
  const hidden = ['--dev-bind', '/', '/', '--ro-bind', '/dev/null', realpathSync(findLibsecret() ?? '')];
  const run = spawnSync('bwrap', [...hidden, process.execPath, child, 'absent'], {
    env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir() },
    encoding: 'utf8',
  });
  expect(answersOf(run.stdout)[0]?.answers).toEqual(Array.from({ length: 3 }, () => 'keychain_unavailable absent'));
});

test('without a bus there is no keychain, and a vault with a passphrase replaces it', needs('Linux'), async () => {
  const absent = spawnSync(process.execPath, [child, 'absent'], {
    env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir() },
    encoding: 'utf8',
  });
  expect(answersOf(absent.stdout)[0]?.answers).toEqual(Array.from({ length: 3 }, () => 'keychain_unavailable absent'));

  await using home = new TestHome();
  const refused = await home.cli(['secret', 'set', 'lab'], 'hunter2-hunter2');
  expect([refused.code, refused.json]).toEqual([
    1,
    {
      error: {
        code: 'vault_locked',
        message: 'There is no keychain here and no secret vault yet.',
        hint: expect.stringContaining('secret unlock'),
      },
    },
  ]);
  const unlocked = await home.cli(['secret', 'unlock'], 'correct horse battery');
  expect(unlocked.json).toMatchObject({ store: 'vault', locked: false, hasVault: true });
  expect((await home.cli(['secret', 'set', 'lab'], 'hunter2-hunter2')).code).toBe(1);
  home.env['TRAYCLAW_VAULT_PASSPHRASE'] = 'correct horse battery';
  expect((await home.cli(['secret', 'set', 'lab'], 'hunter2-hunter2')).json).toEqual({ name: 'lab' });
  expect((await home.cli(['secret', 'list'])).json).toEqual(['lab']);
  expect((await home.cli(['secret', 'delete', 'lab'])).json).toEqual({ name: 'lab', deleted: true });
});
