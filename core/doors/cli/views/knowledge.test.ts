// Adding documents on the command line.

import { expect, test } from 'vitest';
import { FakeClaw } from '../../../../tests/doubles/fake-claw.ts';
import { fakeParts, runCommand } from '../../../../tests/doubles/fake-terminal.ts';
import type { OpResult } from '../../../contracts/ops.ts';

test.each([
  [null, 0, ''],
  ['The disk is full.', 1, 'The disk is full.\nIt is read again when TrayClaw runs.\n'],
])('a source with the problem %j exits with %i', async (problem, code, err) => {
  const counts = { documents: 1, chunks: 2, failed: 0, indexedAtMs: 1 };
  const sources: OpResult<'knowledge.list'>['sources'] = [
    { name: 'docs', kind: 'directory', path: '/docs', ...counts, problem, progress: null },
  ];
  const embedder = { model: null, dimensions: null, waiting: 0, problem: null };
  const claw = new FakeClaw({
    'knowledge.add': () => ({ source: 'docs', path: '/docs', holds: 'now' }),
    'knowledge.list': () => ({ sources, indexing: false, embedder }),
  });
  const out = '{"source":"docs","path":"/docs","holds":"now"}\n';
  expect(await runCommand(['knowledge', 'add', 'docs', '/docs', '--json'], fakeParts(claw))).toEqual({ code, out, err });
});
