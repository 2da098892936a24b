// Adding and removing document sources while the program runs: the immediate effect, the stored content, and the refusals with their
// reasons.

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { OpParams } from '../../contracts/ops.ts';
import { createTrayClaw, type TrayClaw } from '../../index.ts';

async function open() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-sources-')));
  const home = join(folder, 'home');
  const workspace = join(home, 'workspace');
  mkdirSync(join(workspace, 'notes', 'deep'), { recursive: true });
  mkdirSync(join(folder, 'elsewhere'));
  writeFileSync(join(workspace, 'notes', 'plan.md'), '# Plan\n\nThe roof is tiled in October.\n');
  writeFileSync(join(workspace, 'notes', 'deep', 'more.txt'), 'The cellar is dried in June.\n');
  writeFileSync(join(folder, 'elsewhere', 'far.md'), 'The garden is planted in spring.\n');
  writeFileSync(join(home, 'config.yaml'), '# mine\nmodels: { default: demo/offline }\n');
  const claw = await createTrayClaw({ home, environment: {} });
  onTestFinished(async () => {
    await claw.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { claw, folder, home, workspace };
}

async function settled(claw: TrayClaw) {
  for (;;) {
    const { sources, indexing } = await claw.op('knowledge.list', {});
    if (!indexing) return sources;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const found = async (claw: TrayClaw, query: string): Promise<string[]> =>
  (await claw.op('knowledge.search', { query })).evidence.map(({ citation }) => citation);
const hasSearchTool = async (claw: TrayClaw): Promise<boolean> =>
  (await claw.op('tool.list', {})).tools.some(({ name }) => name === 'knowledge_search');

test('a folder, a file and a text are searchable at once, and config.yaml lists them', async () => {
  const { claw, home, workspace } = await open();
  expect(await hasSearchTool(claw)).toBe(false);
  const notes = join(workspace, 'notes');
  expect(await claw.op('knowledge.preview', { path: 'notes', endings: ['md'] })).toEqual({
    path: notes,
    kind: 'directory',
    outside: false,
    files: 1,
    more: false,
    problem: null,
  });
  expect(await claw.op('knowledge.add', { name: 'notes', path: 'notes', endings: ['md'] })).toEqual({
    source: 'notes',
    path: notes,
    holds: 'now',
  });
  await claw.op('knowledge.add', { name: 'cellar', path: join(notes, 'deep', 'more.txt'), watch: false });
  await claw.op('knowledge.add', { name: 'prices', text: 'A seat costs twelve.', title: 'Prices' });
  const about = { failed: 0, problem: null, progress: null, indexedAtMs: expect.any(Number) as number, documents: 1, chunks: 1 };
  expect(await settled(claw)).toEqual([
    { name: 'notes', kind: 'directory', path: notes, ...about },
    { name: 'cellar', kind: 'file', path: join(notes, 'deep', 'more.txt'), ...about },
    { name: 'prices', kind: 'inline', path: null, ...about },
  ]);
  expect(await found(claw, 'roof tiled')).toEqual(['notes/plan.md:1-3']);
  expect(await found(claw, 'cellar dried')).toEqual(['cellar/more.txt:1']);
  expect(await found(claw, 'what a seat costs')).toEqual(['inline:prices:1']);
  expect(await hasSearchTool(claw)).toBe(true);
  const text = readFileSync(join(home, 'config.yaml'), 'utf8');
  expect(text).toMatch(/^# mine\n/);
  expect((await claw.op('config.get', {})).file).toMatchObject({
    knowledge: {
      sources: {
        notes: { kind: 'directory', path: notes, endings: ['md'] },
        cellar: { kind: 'file', path: join(notes, 'deep', 'more.txt'), watch: false },
        prices: { kind: 'inline', title: 'Prices', text: 'A seat costs twelve.' },
      },
    },
  });
});

test('an invalid source says why, and nothing is written', async () => {
  const { claw, folder, home, workspace } = await open();
  await claw.op('knowledge.add', { name: 'notes', path: 'notes' });
  const before = readFileSync(join(home, 'config.yaml'), 'utf8');
  const missing = join(workspace, 'gone');
  const refusals: readonly [OpParams<'knowledge.add'>, string, string | RegExp][] = [
    [{ name: 'notes', text: 'x' }, 'conflict', 'There is a source notes already.'],
    [{ name: 'again', path: 'notes' }, 'conflict', `${join(workspace, 'notes')} is the source notes already.`],
    [{ name: 'gone', path: 'gone' }, 'not_found', `There is nothing at ${missing}, or it cannot be read.`],
    [{ name: 'null', path: '/dev/null' }, 'invalid_params', '/dev/null is neither a folder nor a file.'],
    [{ name: 'own', path: join(home, '.') }, 'forbidden', `${home} is TrayClaw's own data, which is never read as documents.`],
    [{ name: 'both', path: 'notes', text: 'x' }, 'invalid_params', /either a path or a text/],
    [{ name: 'no/name', text: 'x' }, 'invalid_params', /a name has letters/],
    [{ name: 'one', path: 'notes/plan.md', endings: ['md'] }, 'invalid_params', /endings are for folders/],
    [{ name: 'far', path: join(folder, 'elsewhere') }, 'conflict', /outside of the folders that are open to the agent/],
  ];
  for (const [params, code, message] of refusals) {
    const refused = await claw.op('knowledge.add', params).catch((cause: unknown) => cause);
    expect(refused).toMatchObject({ code });
    expect((refused as Error).message).toMatch(message);
  }
  // Otherwise the command line would point to the list of sources.
  await expect(claw.op('knowledge.add', { name: 'gone', path: 'gone' })).rejects.toMatchObject({ hint: expect.stringMatching(/the path/) });
  expect(await claw.op('knowledge.preview', { path: 'gone' })).toMatchObject({
    kind: null,
    files: 0,
    problem: expect.stringContaining(missing),
  });
  await expect(claw.op('knowledge.remove', { source: 'gone' })).rejects.toMatchObject({ code: 'not_found' });
  expect(readFileSync(join(home, 'config.yaml'), 'utf8')).toBe(before);
});

test('a source inside the data folder is not read', async () => {
  const { claw, home } = await open();
  mkdirSync(join(home, 'backups'), { recursive: true });
  writeFileSync(join(home, 'backups', 'notes.md'), 'The roof is private.');
  await claw.op('config.set', { key: 'knowledge.sources.own', value: { kind: 'directory', path: join(home, 'backups') } });
  expect(await settled(claw)).toMatchObject([{ name: 'own', documents: 0, problem: expect.stringContaining("TrayClaw's own data") }]);
  expect(await found(claw, 'roof private')).toEqual([]);
});

test('a folder outside the open ones is read with consent, as untrusted content', async () => {
  const { claw, folder } = await open();
  const path = join(folder, 'elsewhere');
  expect(await claw.op('knowledge.preview', { path })).toMatchObject({ outside: true, files: 1, problem: null });
  await claw.op('knowledge.add', { name: 'far', path, outside: true });
  await settled(claw);
  const { evidence } = await claw.op('knowledge.search', { query: 'garden planted' });
  expect(evidence).toMatchObject([{ citation: 'far/far.md:1', untrusted: [{ kind: 'file', where: join(path, 'far.md') }] }]);
});

test('a removed source is no longer found, and returns unchanged', async () => {
  const { claw, workspace } = await open();
  await claw.op('knowledge.add', { name: 'notes', path: 'notes' });
  const [before] = await settled(claw);
  const { setting } = await claw.op('knowledge.remove', { source: 'notes' });
  expect(setting).toEqual({ kind: 'directory', path: join(workspace, 'notes') });
  expect(await settled(claw)).toEqual([]);
  expect(await found(claw, 'roof tiled')).toEqual([]);
  expect(await hasSearchTool(claw)).toBe(false);
  await claw.op('config.set', { key: 'knowledge.sources.notes', value: setting });
  // Indexed at the same moment as before: no document was reread.
  expect(await settled(claw)).toEqual([before]);
  expect(await found(claw, 'roof tiled')).toEqual(['notes/plan.md:1-3']);
});
