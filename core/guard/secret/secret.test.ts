import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { isAppError } from '../../contracts/errors.ts';
import { KeytarKeychain, Secrets, SecretStore, Vault, type Keychain, type KeytarCalls } from './secret.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

class MemoryKeychain implements Keychain {
  readonly entries = new Map<string, string>();
  get = (name: string) => Promise.resolve(this.entries.get(name) ?? null);
  delete = (name: string) => Promise.resolve(this.entries.delete(name));
  list = () => Promise.resolve([...this.entries.keys()].sort());
  set(name: string, value: string): Promise<void> {
    this.entries.set(name, value);
    return Promise.resolve();
  }
}

function open(env: Record<string, string> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'secret-'));
  folders.push(home);
  const registered: [string, string][] = [];
  const said: unknown[] = [];
  const keychain = new MemoryKeychain();
  const store = new SecretStore({
    kind: 'auto',
    keychain,
    vault: new Vault({ path: join(home, 'secrets.vault'), passphrase: () => null, scryptCost: 2 ** 12 }),
  });
  const vault = new Secrets({
    store,
    env,
    home,
    userHome: home,
    registrar: {
      register: (value, name) => value.length >= 8 && registered.push([value, name]) > 0,
      redact: (text) => ({ text: text.replace(/(?<=TOKEN=).*/, '***') }),
    },
    logger: { log: (...args) => said.push(args) },
  });
  return { vault, keychain, registered, said, home };
}

async function failureOf(work: Promise<unknown>): Promise<{ code: string; shown: string; hint: string | undefined }> {
  const cause: unknown = await work.then(
    () => new Error('no failure'),
    (error: unknown) => error,
  );
  if (!isAppError(cause)) throw cause;
  return { code: cause.code, shown: JSON.stringify(cause.toBody()), hint: cause.hint };
}

test('each kind of reference gives its value and tells the redactor first', async () => {
  const { vault, registered, said, home } = open({ LAB_KEY: 'from-the-env' });
  writeFileSync(join(home, 'key'), '  from-a-file\n', { mode: 0o600 });
  await vault.set('telegram', 'from-the-keychain');
  const refs = ['keychain:telegram', 'env:LAB_KEY', 'file:key', `file:${join(home, 'key')}`, 'file:~/key'];
  expect(await Promise.all(refs.map((ref) => vault.resolve(ref)))).toEqual([
    'from-the-keychain',
    'from-the-env',
    'from-a-file',
    'from-a-file',
    'from-a-file',
  ]);
  expect(new Map(registered)).toEqual(
    new Map([
      ['from-the-keychain', 'telegram'],
      ['from-the-env', 'LAB_KEY'],
      ['from-a-file', 'key'],
    ]),
  );
  expect(said).toEqual([]);
});

test('what is missing is named, with what to do', async () => {
  const { vault } = open({ EMPTY: '' });
  expect(await failureOf(vault.resolve('keychain:lab'))).toMatchObject({
    code: 'secret_missing',
    hint: 'Set it with: trayclaw secret set lab',
    shown: expect.stringContaining('There is no secret lab in the keychain or the vault.'),
  });
  expect(await failureOf(vault.resolve('env:LAB_KEY'))).toMatchObject({
    code: 'secret_missing',
    shown: expect.stringContaining('LAB_KEY'),
  });
  expect((await failureOf(vault.resolve('env:EMPTY'))).code).toBe('secret_missing');
  expect(await failureOf(vault.resolve('file:none'))).toMatchObject({ code: 'secret_missing', shown: expect.stringContaining('none') });
  expect((await failureOf(vault.resolve('file:.'))).code).toBe('secret_missing');
});

test('short values and secrets pasted in place of a reference are refused without being shown', async () => {
  const { vault, keychain, registered, home } = open({ SHORT: 'hunter2' });
  writeFileSync(join(home, 'big'), 'x'.repeat(70_000), { mode: 0o600 });
  const failures = await Promise.all([
    failureOf(vault.resolve('env:SHORT')),
    failureOf(vault.set('lab', 'hunter2')),
    failureOf(vault.set('no/such name', 'hunter2-hunter2')),
    failureOf(vault.resolve('hunter2-hunter2')),
    failureOf(vault.resolve('file:big')),
    failureOf(vault.delete('hunter2/')),
  ]);
  expect(failures.map((failure) => failure.code)).toEqual([
    'invalid_config',
    'invalid_params',
    'invalid_params',
    'invalid_config',
    'secret_missing',
    'invalid_params',
  ]);
  expect(failures.filter((failure) => failure.shown.includes('hunter2'))).toEqual([]);
  expect([registered, [...keychain.entries]]).toEqual([[], []]);
});

test.skipIf(process.platform === 'win32')('a file others can read is told once', async () => {
  const { vault, said, home } = open();
  const path = join(home, 'key');
  writeFileSync(path, 'from-a-file');
  chmodSync(path, 0o644);
  await vault.resolve('file:key');
  await vault.resolve('file:key');
  expect(said).toEqual([['warn', 'Others can read a secret file; run chmod 600 on it.', { path }]]);
});

test('entries can be listed and deleted', async () => {
  const { vault } = open();
  await vault.set('b', 'value-of-b');
  await vault.set('a', 'value-of-a');
  expect(await vault.list()).toEqual(['a', 'b']);
  expect([await vault.delete('a'), await vault.delete('a')]).toEqual([true, false]);
  expect(await vault.list()).toEqual(['b']);
});

const silent: KeytarCalls = {
  getPassword: () => new Promise(() => undefined),
  setPassword: () => Promise.reject(new Error('no D-Bus')),
  deletePassword: () => Promise.resolve(true),
  findCredentials: () => Promise.resolve([{ account: 'b' }, { account: 'a' }]),
};

test('a keychain that is absent, refuses or never answers is unavailable, with a way out', async () => {
  const keychain = new KeytarKeychain({ load: () => Promise.resolve(silent), timeoutMs: 5 });
  const absent = new KeytarKeychain({ load: () => Promise.reject(new Error('libsecret is missing')) });
  const failures = [
    await failureOf(keychain.get('x')),
    await failureOf(keychain.set('x', 'hunter2-hunter2')),
    await failureOf(absent.list()),
  ];
  for (const failure of failures) {
    expect(failure).toMatchObject({ code: 'keychain_unavailable', hint: expect.stringMatching(/env:NAME or file:PATH|Unlock it/) });
    expect(failure.shown).not.toContain('hunter2');
  }
  expect([await keychain.list(), await keychain.delete('x')]).toEqual([['a', 'b'], true]);
});
