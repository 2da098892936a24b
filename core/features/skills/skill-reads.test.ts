// Cached reads of skills: used only while their files look the same, never for recently changed files, and never instead of the files when
// a skill is opened.

import { hash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SkillBench } from '../../../tests/rigs/core/features/skills/skill-bench.ts';
import { seeTree } from './skill-folders.ts';
import { readWhole } from './skill-reads.ts';

let bench: SkillBench;

beforeEach(() => {
  bench = new SkillBench();
});

afterEach(() => bench.dispose());

const soon = () => bench.clock.advance(Date.now() + 60_000 - bench.clock.nowMs());

test('only files whose last change is some time ago are cached', () => {
  bench.skill('bundled/alpha');
  bench.clock.advance(Date.now() - bench.clock.nowMs());
  bench.book.list();
  bench.book.save();
  expect(bench.rows.reads()).toEqual([]);
  soon();
  bench.book.reload();
  bench.book.save();
  expect(bench.rows.reads().map(({ folder }) => folder)).toEqual([bench.at('bundled/alpha')]);
});

test('the cached read of a removed skill is dropped', () => {
  bench.skill('bundled/alpha');
  bench.write('bundled/broken/SKILL.md', 'no head');
  soon();
  bench.book.reload();
  bench.book.save();
  expect(bench.rows.reads()).toHaveLength(2);
  bench.remove('bundled/alpha');
  bench.book.reload();
  bench.book.save();
  expect(bench.rows.reads().map(({ folder }) => folder)).toEqual([bench.at('bundled/broken')]);
  expect(bench.book.refused).toMatchObject([{ reason: 'It has no head.' }]);
});

test('cached rows of another program version or form are ignored', () => {
  bench.skill('bundled/alpha');
  soon();
  const { seen } = seeTree(bench.at('bundled/alpha')) ?? { seen: '' };
  const folder = bench.at('bundled/alpha');
  for (const read of ['{', '{"head":{}}', '[]']) {
    bench.rows.keepReads([{ folder, seen: `1 ${seen}`, read, sha256: null }], []);
    bench.reopen();
    expect(bench.book.listed('alpha').description).toBe('Does what alpha says, for a test of skills.');
  }
});

test('a file that only looks unchanged is opened with its real text, and untrusted', () => {
  bench.skill('workspace/beta', { body: 'Harmless.' });
  bench.trustContent('beta');
  soon();
  bench.book.reload();
  expect(bench.book.listed('beta').trust).toBe('content');
  bench.book.save();
  const [kept] = bench.rows.reads();
  bench.skill('workspace/beta', { body: 'Swapped !' });
  const { seen } = seeTree(bench.at('workspace/beta')) ?? { seen: '' };
  if (kept !== undefined) bench.rows.keepReads([{ ...kept, seen: `1 ${seen}` }], []);
  bench.reopen();
  expect(bench.book.listed('beta').trust).toBe('content');
  const shown = bench.reader.open('beta', { sessionId: 's1', turnId: 't1', callId: 'c1' });
  expect(shown).toMatchObject({ text: expect.stringContaining('Swapped !') as string, untrusted: [{ kind: 'file' }] });
  expect(bench.book.listed('beta').trust).toBe('changed');
});

test('FORM must be raised when the same files are read in another way', () => {
  const head = [
    'homepage: https://example.com',
    'unknown: 1',
    'allowed-tools: Bash',
    'user-invocable: false',
    'metadata:',
    '  version: "1"',
    '  trayclaw-tools: exec read_file',
    '  trayclaw-requires: "gamma >=1.0.0"',
    '  trayclaw-hosts: API.example.com',
    '  status: deprecated',
    '  remove-after: "2026-13-01"',
    '  openclaw: {"requires":{"bins":["curl"],"env":["KEY"]},"install":[{"kind":"brew","formula":"curl","bins":["curl"]}]}',
  ].join('\n');
  bench.skill('bundled/alpha', { head, body: '# Title\n\nSee [more](more.md) and [out](../x.md).' });
  bench.write('bundled/alpha/steps.yaml', 'steps:\n  - skill: delta\n');
  const folder = bench.at('bundled/alpha');
  const whole = readWhole({ folder, fileName: 'SKILL.md' }, seeTree(folder));
  // If this hash changes, raise FORM in skill-reads.ts. Otherwise a newer program uses what an older one read.
  expect(hash('sha256', JSON.stringify(whole.ok ? whole.value.read : null)).slice(0, 12)).toBe('fff5a4668722');
});
