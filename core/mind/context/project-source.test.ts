// The project file as a part of a pack: read once until it changes, with how it may be cut after redaction, AGENTS.md before CLAUDE.md.

import { expect, test } from 'vitest';
import { ProjectSource } from './project-source.ts';

function rig(files: Record<string, { stamp: string; text: string | null }>) {
  const reads: string[] = [];
  const source = new ProjectSource({
    files: {
      stamp: (path) => files[path]?.stamp ?? null,
      read: (path) => {
        reads.push(path);
        return files[path]?.text ?? null;
      },
    },
    folderOf: (sessionId) => (sessionId === 'in' ? '/p' : null),
    join: (folder, name) => `${folder}/${name}`,
    redact: (text) => text.replaceAll('the-secret-key', '[redacted:key]'),
  });
  const select = (session = 'in') => source.select({ session });
  return { reads, select, files };
}

test('it is read once, and again when it changed', async () => {
  const { reads, select, files } = rig({ '/p/AGENTS.md': { stamp: '1', text: 'one' }, '/p/CLAUDE.md': { stamp: '1', text: 'other' } });
  const part = {
    id: 'project:/p/AGENTS.md',
    title: 'AGENTS.md',
    source: '/p/AGENTS.md',
    tainted: [{ kind: 'file', where: '/p/AGENTS.md' }],
    cut: { charsMax: 8_000, note: 'cut here; the file has more' },
  };
  expect(await select()).toEqual([{ ...part, text: 'one' }]);
  expect(await select()).toEqual([{ ...part, text: 'one' }]);
  expect(reads).toHaveLength(1);
  files['/p/AGENTS.md'] = { stamp: '2', text: 'two' };
  expect(await select()).toEqual([{ ...part, text: 'two' }]);
  delete files['/p/AGENTS.md'];
  expect((await select()).map(({ text }) => text)).toEqual(['other']);
  expect(await select('elsewhere')).toEqual([]);
});

test('its secrets are taken out before a cut can go through one', async () => {
  const text = `${'x'.repeat(7_990)}the-secret-key and more`;
  const { select } = rig({ '/p/AGENTS.md': { stamp: '1', text } });
  const [part] = await select();
  expect(part?.text).toBe(`${'x'.repeat(7_990)}[redacted:key] and more`);
});

test('an empty file and one that cannot be read are no part', async () => {
  expect(await rig({ '/p/AGENTS.md': { stamp: '1', text: ' \n' } }).select()).toEqual([]);
  expect(await rig({ '/p/AGENTS.md': { stamp: '1', text: null } }).select()).toEqual([]);
});
