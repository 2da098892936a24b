// Capsules and prompts: kept versions, differences, reverting, and remote texts that wait for a person.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { AppError } from '../../contracts/errors.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import { sessionMigrations, SessionLog } from '../../store/session/session.ts';
import { Storage } from '../../store/storage/storage.ts';
import { diffOfTexts } from '../../base/diff-lines.ts';
import { IdentityBook } from './identity-book.ts';
import { identityMigrations, IdentityRows } from './rows.ts';
import { PromptBook } from './prompt-book.ts';

let root: string;
let storage: Storage;
let book: IdentityBook;
let prompts: PromptBook;
/** The answer of the remote source. */
let remote: () => Promise<string>;
const clock = new ManualClock();
const hashOfNew = '182da0e24347ed2459a3c17d48f9fef327cc19db68f1c7c40549abd67d1d8eab';

function open(): void {
  storage = Storage.open({ home: root, migrations: [...sessionMigrations, ...identityMigrations] });
  const rows = new IdentityRows(storage.db);
  const log = new SessionLog({ storage, clock, logger: silentLogger, projections: [rows] });
  const record = (sessionId: string, drafts: readonly AnyDraft[]): void => void log.append(sessionId, drafts);
  const sources = { house: { url: 'https://example.org/house.md' }, pinned: { url: 'https://example.org/p.md', sha256: hashOfNew } };
  prompts = new PromptBook({ folder: join(root, 'prompts'), sources, record, fetchText: () => remote() });
  book = new IdentityBook({
    rows,
    clock,
    prompts,
    record,
    assertAgent: (agentId) => {
      if (agentId !== 'main') throw new AppError('not_found', 'no such agent');
    },
  });
}

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-identity-')));
  remote = () => Promise.reject(new AppError('fetch_failed', 'The host does not answer.'));
  open();
});

afterEach(() => {
  storage.dispose();
  rmSync(root, { recursive: true, force: true });
});

const by = { by: 'test' };
const codeOf = async (act: () => unknown): Promise<string> => {
  try {
    await act();
    return 'none';
  } catch (cause) {
    return cause instanceof AppError ? cause.code : String(cause);
  }
};

test('an agent without an identity has no text', () => {
  expect(book.get('main')).toMatchObject({ version: 0, capsule: { risk: 'balanced', constraints: [] } });
  expect(book.textOfAgent('main')).toBe('');
  expect(book.versions('main', 10)).toEqual([]);
});

test('each change makes a version that survives a restart; omitted fields stay', () => {
  book.set('main', { role: 'You keep the books.', constraints: ['Never round.'] }, by);
  book.set('main', { style: 'Dry.', risk: 'careful' }, by);
  storage.dispose();
  open();
  expect(book.versions('main', 10).map(({ version }) => version)).toEqual([2, 1]);
  expect(book.get('main').capsule).toEqual({
    role: 'You keep the books.',
    style: 'Dry.',
    constraints: ['Never round.'],
    risk: 'careful',
    prompts: [],
  });
  expect(book.get('main', 1).capsule).not.toHaveProperty('style');
  expect(book.textOfAgent('main')).toBe(
    'You keep the books.\n\nHow you speak: Dry.\n\nThese hold always:\n- Never round.\n\nBefore you change anything, say in one sentence what you are about to change and what could go wrong. When in doubt, ask.',
  );
});

test('makes no version without a change; an empty text removes a value', () => {
  book.set('main', { role: 'One.' }, by);
  expect(book.set('main', { role: 'One.' }, by).version).toBe(1);
  expect(book.set('main', { role: '' }, by)).toMatchObject({ version: 2, capsule: { risk: 'balanced' } });
  expect(book.get('main').capsule).not.toHaveProperty('role');
});

test('reverting makes a version too, and the diff shows it', () => {
  book.set('main', { role: 'One.' }, by);
  book.set('main', { role: 'Two.' }, by);
  expect(book.diff('main')).toEqual({
    from: 1,
    to: 2,
    lines: [
      { kind: 'removed', text: 'One.' },
      { kind: 'added', text: 'Two.' },
    ],
  });
  expect(book.revert('main', 1, 'test')).toMatchObject({ version: 3, reverts: 1, capsule: { role: 'One.' } });
  expect(book.revert('main', 0, 'test').capsule).not.toHaveProperty('role');
});

test('rejects changes based on older versions, and unknown versions and agents', async () => {
  book.set('main', { role: 'One.' }, by);
  expect(await codeOf(() => book.set('main', { role: 'Two.' }, { by: 'test', basedOn: 0 }))).toBe('conflict');
  expect(await codeOf(() => book.get('main', 7))).toBe('not_found');
  expect(await codeOf(() => book.get('other'))).toBe('not_found');
});

test('reports a read-only agent', () => {
  expect(book.isReadOnly('main')).toBe(false);
  book.set('main', { risk: 'read-only' }, by);
  expect(book.isReadOnly('main')).toBe(true);
});

test('a capsule names the newest version of a prompt file or a given one', async () => {
  prompts.set('style', 'First text.', 'test');
  prompts.set('style', 'Second text.', 'test');
  prompts.set('style', 'Second text.', 'test');
  expect(prompts.list().find(({ name }) => name === 'style')).toMatchObject({ version: 2, versions: [1, 2] });
  expect(prompts.diff('style')).toEqual({
    from: 1,
    to: 2,
    lines: [
      { kind: 'removed', text: 'First text.' },
      { kind: 'added', text: 'Second text.' },
    ],
  });
  expect(prompts.diff('style', 0, 1)).toEqual({ from: 0, to: 1, lines: [{ kind: 'added', text: 'First text.' }] });
  expect(() => prompts.diff('style', 7)).toThrow(/no version 7 of the prompt style/);
  book.set('main', { prompts: ['style', 'style@1'] }, by);
  expect(book.textOfAgent('main')).toBe('Second text.\n\nFirst text.');
  expect(await codeOf(() => book.set('main', { prompts: ['missing'] }, by))).toBe('not_found');
  expect(await codeOf(() => prompts.get('style', 9))).toBe('not_found');
  expect(prompts.text('../../mind/identity')).toBeNull();
});

test('compares long texts in bounded time, with the middle as one change', () => {
  const lines = (word: string): string => Array.from({ length: 5_000 }, (_, index) => `${word} ${index}`).join('\n');
  const found = diffOfTexts(`first\n${lines('a')}\nlast`, `first\n${lines('b')}\nlast`);
  expect(found.map(({ kind }) => kind)).toEqual([
    'same',
    ...Array<string>(5_000).fill('removed'),
    ...Array<string>(5_000).fill('added'),
    'same',
  ]);
  expect(diffOfTexts('a\nb\nc', 'a\nc')).toEqual([
    { kind: 'same', text: 'a' },
    { kind: 'removed', text: 'b' },
    { kind: 'same', text: 'c' },
  ]);
});

test('a source that does not respond changes nothing', async () => {
  prompts.set('house', 'Local.', 'test');
  const [listed] = await prompts.refresh('house', 'test', new AbortController().signal);
  expect(listed).toMatchObject({ version: 1, incoming: null, problem: 'The host does not answer.' });
  expect(prompts.text('house')).toBe('Local.');
});

test('a remote text waits for a person, who accepts exactly the text that was shown', async () => {
  prompts.set('house', 'Local.', 'test');
  remote = () => Promise.resolve('New text.\n');
  const [listed] = await prompts.refresh('house', 'test', new AbortController().signal);
  expect(listed?.incoming).toEqual({ sha256: hashOfNew, text: 'New text.' });
  expect(prompts.text('house')).toBe('Local.');
  remote = () => Promise.resolve('Swapped.');
  await prompts.refresh('house', 'test', new AbortController().signal);
  expect(await codeOf(() => prompts.accept('house', hashOfNew, 'test'))).toBe('conflict');
  remote = () => Promise.resolve('New text.');
  await prompts.refresh('house', 'test', new AbortController().signal);
  expect(prompts.accept('house', hashOfNew, 'test')).toMatchObject({ version: 2, incoming: null });
  expect(prompts.text('house')).toBe('New text.');
});

test('accepts content that matches a configured hash, and nothing else', async () => {
  remote = () => Promise.resolve('Something else.');
  const signal = new AbortController().signal;
  const [refused] = await prompts.refresh('pinned', 'test', signal);
  expect(refused).toMatchObject({ version: null, incoming: null, problem: expect.stringContaining('not taken') as string });
  remote = () => Promise.resolve('New text.');
  expect(await prompts.refresh('pinned', 'test', signal)).toMatchObject([{ version: 1, problem: null }]);
  expect(await codeOf(() => prompts.refresh('unknown', 'test', signal))).toBe('not_found');
});

test('diffs by common lines', () => {
  const signs = { same: ' ', added: '+', removed: '-' } as const;
  const shown = (a: string, b: string) => diffOfTexts(a, b).map(({ kind, text }) => signs[kind] + text);
  expect(shown('a\nb\nc', 'a\nx\nc')).toEqual([' a', '-b', '+x', ' c']);
  expect(shown('', 'a')).toEqual(['+a']);
  expect(shown('a', '')).toEqual(['-a']);
  expect(shown('a\nb', 'a\nb')).toEqual([' a', ' b']);
});
