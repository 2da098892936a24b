import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { AppError, isAppError } from '../../contracts/errors.ts';
import type { Keychain } from './keychain.ts';
import { SecretStore } from './secret-store.ts';
import { Vault } from './vault.ts';

const passphrase = 'correct horse battery';
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vault-'));
  folders.push(folder);
  return join(folder, 'secrets.vault');
}

const open = (path: string, known: string | null = null): Vault => new Vault({ path, passphrase: () => known, scryptCost: 2 ** 12 });

async function codeOf(work: Promise<unknown>): Promise<string> {
  const cause: unknown = await work.then(
    () => 'no failure',
    (error: unknown) => error,
  );
  return isAppError(cause) ? cause.code : String(cause);
}

type Document = { kdf: { cost: number }; entries: Record<string, { data: string; tag: string }>; checksum: string; check: { tag: string } };

/** Changes the file as a disk error would. */
function change(path: string, edit: (document: Document) => void): void {
  const document = JSON.parse(readFileSync(path, 'utf8')) as Document;
  edit(document);
  writeFileSync(path, JSON.stringify(document));
}

/** Edits the file like an attacker who knows the format but not the passphrase. */
async function forge(path: string, edit: (document: Document) => void): Promise<void> {
  const { checksumOf, vaultSchema } = await import('./vault-format.ts');
  change(path, edit);
  change(path, (document) => {
    const { checksum: _, ...content } = vaultSchema.parse(document);
    document.checksum = checksumOf(content);
  });
}

test('returns values after a restart with the passphrase, and only then', async () => {
  const path = place();
  const vault = open(path);
  await vault.unlock(passphrase);
  await vault.set('lab', 'value with ünïcode');
  await vault.set('work', 'another value');
  expect([await vault.get('lab'), await vault.get('none'), vault.names()]).toEqual(['value with ünïcode', null, ['lab', 'work']]);

  const later = open(path);
  expect([later.isLocked, later.names()]).toEqual([true, ['lab', 'work']]);
  expect(await codeOf(later.get('lab'))).toBe('vault_locked');
  expect(await codeOf(later.set('lab', 'changed value'))).toBe('vault_locked');
  expect(await codeOf(later.delete('lab'))).toBe('vault_locked');
  expect(await codeOf(later.unlock('incorrect horse'))).toBe('vault_locked');
  await later.unlock(passphrase);
  expect([await later.get('work'), await later.delete('work'), await later.delete('work'), later.names()]).toEqual([
    'another value',
    true,
    false,
    ['lab'],
  ]);
  later.lock();
  expect(await codeOf(later.get('lab'))).toBe('vault_locked');
});

test('the file shows only names, only to its owner, and leaves no other file', async () => {
  const path = place();
  const vault = open(path);
  await vault.unlock(passphrase);
  await vault.set('lab', 'hunter2-hunter2');
  const text = readFileSync(path, 'latin1');
  for (const hidden of ['hunter2-hunter2', passphrase]) {
    expect(text).not.toContain(hidden);
    expect(text).not.toContain(Buffer.from(hidden).toString('base64').slice(0, 12));
  }
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(path, '..'))).toEqual(['secrets.vault']);
});

test("opens or creates a vault with the environment's passphrase if long enough", async () => {
  const path = place();
  expect(await codeOf(open(path).set('lab', 'hunter2-hunter2'))).toBe('vault_locked');
  expect(await codeOf(open(path, 'short').set('lab', 'hunter2-hunter2'))).toBe('invalid_params');
  expect(existsSync(path)).toBe(false);
  await open(path, passphrase).set('lab', 'hunter2-hunter2');
  expect(await open(path, passphrase).get('lab')).toBe('hunter2-hunter2');
  expect(await codeOf(open(path, 'another passphrase').get('lab'))).toBe('vault_locked');
});

test('keeps many concurrent changes', async () => {
  const path = place();
  const vault = open(path, passphrase);
  await Promise.all(Array.from({ length: 20 }, (_, index) => vault.set(`n${index}`, `value-of-${index}`)));
  const later = open(path, passphrase);
  expect(await Promise.all(later.names().map((name) => later.get(name)))).toEqual(later.names().map((name) => `value-of-${name.slice(1)}`));
  expect(later.names().length).toBe(20);
});

const damages: [string, (document: Document) => void][] = [
  ['a changed byte', (document) => (document.entries['lab'] = { ...entry(document, 'lab'), data: entry(document, 'work').data })],
  ['an entry gone', (document) => delete document.entries['work']],
  [
    'two entries swapped',
    (document) => ([document.entries['lab'], document.entries['work']] = [entry(document, 'work'), entry(document, 'lab')]),
  ],
  ['an entry under another name', (document) => (document.entries['copy'] = entry(document, 'lab'))],
];

function entry(document: Document, name: string): { data: string; tag: string } {
  const found = document.entries[name];
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

test.each(damages)('distinguishes %s from a wrong passphrase', async (_, edit) => {
  const path = place();
  const vault = open(path, passphrase);
  await vault.set('lab', 'hunter2-hunter2');
  await vault.set('work', 'hunter3-hunter3');
  const whole = readFileSync(path);
  change(path, edit);
  expect(await codeOf(open(path).unlock(passphrase))).toBe('vault_damaged');
  writeFileSync(path, whole);
  await forge(path, edit);
  expect(await codeOf(open(path).unlock(passphrase))).toBe('vault_damaged');
  expect(await codeOf(open(path).unlock('another passphrase'))).toBe('vault_locked');
});

test('reports other content as damaged and refuses a cost that would use all memory', async () => {
  const path = place();
  for (const content of ['', '{', '[]', '{"format":"trayclaw-vault","version":2}', 'x'.repeat(17_000_000)]) {
    writeFileSync(path, content);
    expect(await codeOf(open(path).unlock(passphrase))).toBe('vault_damaged');
  }
  rmSync(path);
  await open(path, passphrase).set('lab', 'hunter2-hunter2');
  await forge(path, (document) => (document.kdf.cost = 2 ** 13));
  expect(await codeOf(open(path).unlock(passphrase))).toBe('vault_locked');
  change(path, (document) => (document.kdf.cost = 2 ** 30));
  expect(await codeOf(open(path).unlock(passphrase))).toBe('vault_damaged');
});

test('a new vault uses the advised cost, off the main thread', async () => {
  const path = place();
  const vault = new Vault({ path, passphrase: () => null });
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 5);
  await vault.unlock(passphrase);
  clearInterval(counting);
  expect((JSON.parse(readFileSync(path, 'utf8')) as Document).kdf.cost).toBe(2 ** 17);
  expect(turns).toBeGreaterThan(5);
});

function keychainThat(state: 'works' | 'absent' | 'locked'): Keychain & { readonly entries: Map<string, string> } {
  const entries = new Map<string, string>();
  const answer = <T>(value: () => T): Promise<T> =>
    state === 'works'
      ? Promise.resolve(value())
      : Promise.reject(new AppError('keychain_unavailable', 'No keychain.', { data: { state } }));
  return {
    entries,
    get: (name) => answer(() => entries.get(name) ?? null),
    set: (name, value) => answer(() => void entries.set(name, value)),
    delete: (name) => answer(() => entries.delete(name)),
    list: () => answer(() => [...entries.keys()]),
  };
}

test('uses a vault only if there is no keychain, and never silently', async () => {
  const path = place();
  const works = keychainThat('works');
  await new SecretStore({ kind: 'auto', keychain: works, vault: open(path, passphrase) }).set('lab', 'hunter2-hunter2');
  expect([[...works.entries.keys()], existsSync(path)]).toEqual([['lab'], false]);

  const absent = new SecretStore({ kind: 'auto', keychain: keychainThat('absent'), vault: open(path) });
  expect(await codeOf(absent.set('lab', 'hunter2-hunter2'))).toBe('vault_locked');
  expect(await codeOf(absent.list())).toBe('keychain_unavailable');
  // Nothing can be stored, so there is nothing to delete. Callers that remove a server must not fail here.
  expect(await absent.delete('lab')).toBe(false);
  expect(await absent.status()).toMatchObject({
    store: 'none',
    locked: false,
    hasVault: false,
    detail: expect.stringContaining('secret unlock'),
  });
  expect(await absent.unlock(passphrase)).toMatchObject({ store: 'vault', locked: false, hasVault: true });
  await absent.set('lab', 'hunter2-hunter2');
  expect([await absent.get('lab'), await absent.get('none'), await absent.list(), await absent.delete('none')]).toEqual([
    'hunter2-hunter2',
    null,
    ['lab'],
    false,
  ]);
});

test('reports a locked keychain and does not use the vault instead', async () => {
  const path = place();
  const store = new SecretStore({ kind: 'auto', keychain: keychainThat('locked'), vault: open(path, passphrase) });
  expect([await codeOf(store.set('lab', 'hunter2-hunter2')), await codeOf(store.get('lab')), existsSync(path)]).toEqual([
    'keychain_unavailable',
    'keychain_unavailable',
    false,
  ]);
  expect(await store.status()).toMatchObject({ store: 'keychain', locked: true });
});

test('uses only the configured store, vault or keychain', async () => {
  const path = place();
  const works = keychainThat('works');
  const only = new SecretStore({ kind: 'vault', keychain: works, vault: open(path) });
  expect(await only.status()).toMatchObject({ store: 'vault', locked: true, hasVault: false });
  await only.unlock(passphrase);
  await only.set('lab', 'hunter2-hunter2');
  expect([works.entries.size, await only.list(), await only.delete('lab'), await only.list()]).toEqual([0, ['lab'], true, []]);

  const keychainOnly = new SecretStore({ kind: 'keychain', keychain: keychainThat('absent'), vault: open(path, passphrase) });
  expect([await codeOf(keychainOnly.set('lab', 'hunter2-hunter2')), await codeOf(keychainOnly.unlock(passphrase))]).toEqual([
    'keychain_unavailable',
    'conflict',
  ]);
});

test('finds entries of both stores after a vault was created', async () => {
  const works = keychainThat('works');
  works.entries.set('old', 'from-the-keychain');
  const vault = open(place());
  await vault.unlock(passphrase);
  const store = new SecretStore({ kind: 'auto', keychain: works, vault });
  await store.set('new', 'from-the-vault');
  expect([await store.list(), await store.get('old'), await store.get('new'), await store.delete('old')]).toEqual([
    ['new', 'old'],
    'from-the-keychain',
    'from-the-vault',
    true,
  ]);
});
