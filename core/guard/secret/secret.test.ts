import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { isAppError } from '../../contracts/errors.ts';
import { KeytarKeychain, Secrets, SecretStore, Vault, type Keychain, type KeytarCalls } from './secret.ts';
import { needs } from '../../../tests/needs.ts';

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

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'secret-'));
  folders.push(folder);
  return folder;
}

function open(env: Record<string, string> = {}, { home = newFolder(), passphrase = null as string | null, scryptCost = 2 ** 12 } = {}) {
  const registered: [string, string][] = [];
  const said: unknown[] = [];
  const keychain = new MemoryKeychain();
  const store = new SecretStore({
    kind: 'auto',
    keychain,
    vault: new Vault({ path: join(home, 'secrets.vault'), passphrase: () => passphrase, scryptCost }),
  });
  const asked: string[] = [];
  const vault = new Secrets({
    store,
    env,
    home,
    userHome: home,
    registrar: {
      register: (value, name) => value.length >= 8 && asked.push(`register ${name}`) > 0 && registered.push([value, name]) > 0,
      redact: (text) => {
        asked.push('redact');
        return { text: text.replace(/(?<=TOKEN=).*/, '***') };
      },
    },
    logger: { log: (...args) => said.push(args) },
  });
  return { vault, keychain, registered, asked, said, home };
}

async function failureOf(work: Promise<unknown>): Promise<{ code: string; shown: string; hint: string | undefined }> {
  const cause: unknown = await work.then(
    () => new Error('no failure'),
    (error: unknown) => error,
  );
  if (!isAppError(cause)) throw cause;
  return { code: cause.code, shown: JSON.stringify(cause.toBody()), hint: cause.hint };
}

test('resolves each kind of reference and registers its value with the redactor first', async () => {
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

test('names what is missing and how to fix it', async () => {
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

test('stores values of any length, but does not register one too short to redact', async () => {
  const { vault, keychain, registered } = open({ SHORT: 'lab' });
  expect(await vault.set('lab', 'none')).toEqual({ isKeptOut: false });
  expect(await vault.set('long', 'long-enough-1')).toEqual({ isKeptOut: true });
  expect([await vault.resolve('env:SHORT'), await vault.resolve('keychain:lab')]).toEqual(['lab', 'none']);
  expect(registered).toEqual([['long-enough-1', 'long']]);
  expect([...keychain.entries].map(([, value]) => value)).toEqual(['none', 'long-enough-1']);
});

test('refuses empty values and pasted secrets without showing them', async () => {
  const { vault, keychain, registered, home } = open({ EMPTY: '' });
  writeFileSync(join(home, 'big'), 'x'.repeat(70_000), { mode: 0o600 });
  const failures = await Promise.all([
    failureOf(vault.resolve('env:EMPTY')),
    failureOf(vault.set('lab', ' \n')),
    failureOf(vault.set('no/such name', 'hunter2-hunter2')),
    failureOf(vault.resolve('hunter2-hunter2')),
    failureOf(vault.resolve('file:big')),
    failureOf(vault.delete('hunter2/')),
  ]);
  expect(failures.map((failure) => failure.code)).toEqual([
    'secret_missing',
    'invalid_params',
    'invalid_params',
    'invalid_config',
    'secret_missing',
    'invalid_params',
  ]);
  expect(failures.filter((failure) => failure.shown.includes('hunter2'))).toEqual([]);
  expect([registered, [...keychain.entries]]).toEqual([[], []]);
});

test('reports a file others can read once', needs('a Unix system'), async () => {
  const { vault, said, home } = open();
  const path = join(home, 'key');
  writeFileSync(path, 'from-a-file');
  chmodSync(path, 0o644);
  await vault.resolve('file:key');
  await vault.resolve('file:key');
  expect(said).toEqual([['warn', 'Others can read a secret file; run chmod 600 on it.', { path }]]);
});

test('lists and deletes entries', async () => {
  const { vault } = open();
  await vault.set('b', 'value-of-b');
  await vault.set('a', 'value-of-a');
  expect(await vault.list()).toEqual(['a', 'b']);
  expect([await vault.delete('a'), await vault.delete('a')]).toEqual([true, false]);
  expect(await vault.list()).toEqual(['b']);
});

/** Behaves like keytar 7.10 on a locked Secret Service: every entry is missing, and none can be added. */
const locked: KeytarCalls = {
  getPassword: () => Promise.resolve(null),
  setPassword: () => Promise.reject(new Error('Cannot create an item in a locked collection')),
  deletePassword: () => Promise.resolve(false),
};

test('reports an absent, locked or silent keychain as unavailable, with a hint', async () => {
  const silent = new KeytarKeychain({
    load: () => Promise.resolve({ ...locked, getPassword: () => new Promise<never>(() => undefined) }),
    timeoutMs: 5,
  });
  const absent = new KeytarKeychain({ load: () => Promise.reject(new Error('libsecret-1.so.0: cannot open shared object file')) });
  const shut = new KeytarKeychain({ load: () => Promise.resolve(locked) });
  const failures = await Promise.all(
    [silent.get('x'), shut.get('x'), shut.set('x', 'hunter2-hunter2'), shut.delete('x'), shut.list(), absent.list()].map(failureOf),
  );
  expect(failures.map(({ code, hint }) => [code, hint?.slice(0, 9)])).toEqual([
    ...Array.from({ length: 5 }, () => ['keychain_unavailable', 'Unlock it']),
    ['keychain_unavailable', 'Create an'],
  ]);
  expect(JSON.stringify(failures)).not.toContain('hunter2');
});

test('keeps the names of entries, whatever the order of changes', async () => {
  const entries = new Map<string, string>();
  const keychain = new KeytarKeychain({
    load: () =>
      Promise.resolve({
        getPassword: (service, account) => Promise.resolve(entries.get(`${service}/${account}`) ?? null),
        setPassword: (service, account, value) => Promise.resolve(void entries.set(`${service}/${account}`, value)),
        deletePassword: (service, account) => Promise.resolve(entries.delete(`${service}/${account}`)),
      }),
  });
  expect(await keychain.list()).toEqual([]);
  await Promise.all(['b', 'a', 'c', 'a'].map((name) => keychain.set(name, `value-of-${name}`)));
  expect([await keychain.list(), await keychain.get('a'), await keychain.get('z')]).toEqual([['a', 'b', 'c'], 'value-of-a', null]);
  expect([await keychain.delete('b'), await keychain.delete('b'), await keychain.list()]).toEqual([true, false, ['a', 'c']]);
});

test('registers known secrets from files and environment at the start', () => {
  const { vault, registered, home } = open({
    LAB_KEY: 'from-the-env',
    OTHER_TOKEN: 'other-value',
    PATH: '/usr/bin',
    TRAYCLAW_VAULT_PASSPHRASE: 'battery staple',
  });
  writeFileSync(join(home, 'key'), 'from-a-file', { mode: 0o600 });
  vault.registerKnown(['env:LAB_KEY', 'env:MISSING', 'file:key', 'file:none', 'keychain:lab']);
  expect(registered).toEqual([
    ['from-the-env', 'LAB_KEY'],
    ['from-a-file', 'key'],
    ['other-value', 'OTHER_TOKEN'],
    ['battery staple', 'vault-passphrase'],
  ]);
});

test('judges every variable before it registers the first, because each new value makes the next redaction costly', () => {
  const { vault, asked } = open({ A_TOKEN: 'first-value', B_TOKEN: 'second-value', PATH: '/usr/bin', C_TOKEN: 'third-value' });
  vault.registerKnown([]);
  const registers = ['register A_TOKEN', 'register B_TOKEN', 'register C_TOKEN'];
  expect(asked).toEqual([...asked.filter((call) => call === 'redact'), ...registers]);
});

test('registers keychain values that the settings refer to with the redactor', async () => {
  const { vault, keychain, registered } = open();
  keychain.entries.set('lab', 'from-the-keychain');
  vault.loadKept(['env:LAB_KEY']);
  await vault.whenKnown(1_000);
  expect(registered).toEqual([]);
  vault.loadKept(['keychain:lab']);
  await vault.whenKnown(1_000);
  expect(registered).toEqual([['from-the-keychain', 'lab']]);
});

test.each([
  ['Unknown or unsupported transport “disabled” for address “disabled:”', 'absent'],
  ['Cannot autolaunch D-Bus without X11 $DISPLAY', 'absent'],
  ['Could not connect: No such file or directory', 'absent'],
  ['The given address is empty', 'absent'],
  ['libsecret-1.so.0: cannot open shared object file: No such file or directory', 'absent'],
  ['Failed to load keytar native addon, checked ["../build/Release"] on prebuilds/linux-x64', 'absent'],
  ['Cannot create an item in a locked collection', 'locked'],
  ['Object does not exist at path “/org/freedesktop/secrets/collection/login”', 'locked'],
  ['Something else', 'failed'],
])('maps the keychain message to its state: %s', async (text, state) => {
  const keychain = new KeytarKeychain({ load: () => Promise.reject(new Error(text)) });
  expect((await failureOf(keychain.list())).shown).toContain(`"state":"${state}"`);
});

test('waits for a vault, however long its key derivation takes', async () => {
  const first = open({}, { passphrase: 'correct horse battery', scryptCost: 2 ** 15 });
  await first.vault.unlock('correct horse battery');
  first.keychain.set = () => Promise.reject(new Error('The given address is empty'));
  await first.vault.set('lab', 'from-the-vault');
  const { vault, registered } = open({}, { home: first.home, passphrase: 'correct horse battery', scryptCost: 2 ** 15 });
  vault.loadKept(['keychain:lab']);
  await vault.whenKnown(0);
  expect([vault.unread, registered]).toEqual([null, [['from-the-vault', 'lab']]]);
});

test('waits for a silent keychain for a limited time and reports missing values', async () => {
  const { vault, keychain, registered } = open();
  let answer: (value: string | null) => void = () => undefined;
  keychain.get = () => new Promise((resolve) => (answer = resolve));
  vault.loadKept(['keychain:lab']);
  await vault.whenKnown(5);
  expect(vault.unread?.code).toBe('keychain_unavailable');
  expect(registered).toEqual([]);
  answer('from-the-keychain');
  await vault.whenKnown(1_000);
  expect([vault.unread, registered]).toEqual([null, [['from-the-keychain', 'lab']]]);
});
