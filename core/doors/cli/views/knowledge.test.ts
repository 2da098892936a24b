// Adding documents and listing memories on the command line.

import { expect, test } from 'vitest';
import { FakeClaw } from '../../../../tests/doubles/fake-claw.ts';
import { fakeParts, runCommand } from '../../../../tests/doubles/fake-terminal.ts';
import { AppError } from '../../../contracts/errors.ts';
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

test('without a person to ask, a folder outside names the option that agrees', async () => {
  const refuse = (): never => {
    throw new AppError('invalid_params', '/docs lies outside.', { data: { needs: 'outside' } });
  };
  const { err } = await runCommand(['knowledge', 'add', 'docs', '/docs'], fakeParts(new FakeClaw({ 'knowledge.add': refuse })));
  expect(err).toMatch(/^\/docs lies outside\.\nAdd --outside to agree\. /);
});

test('a filter that matches no memory does not say that none is there', async () => {
  const embedder = { model: null, dimensions: null, waiting: 0, problem: null };
  const list = async (kept: number): Promise<string> => {
    const listed = { memories: [], counts: { kept, candidates: 0, contradictions: 0 }, embedder };
    return (await runCommand(['memory', 'list', '--state', 'candidate'], fakeParts(new FakeClaw({ 'memory.list': () => listed })))).out;
  };
  expect([await list(0), await list(1)]).toEqual(['Nothing is remembered.\n', 'No memory matches.\n']);
});
