// Contradictions: found among candidates and memories, resolved by a person, and never both shown to a model.

import { expect, test } from 'vitest';
import { MemoryPackSource } from './memory-pack-source.ts';
import { openBench } from '../../../../tests/rigs/core/features/memory/memory-bench.ts';

test('a contradiction holds a candidate back until a person resolves it', () => {
  const { says, book, rows } = openBench();
  const vim = says('My editor is vim.');
  const other = says('My editor is emacs.', { by: 'agent', actor: 'agent main', sessionId: 's1' });
  expect(rows.find(other.memoryId)?.state).toBe('candidate');
  expect(book.get(vim.memoryId).contradictions).toEqual([
    { otherId: other.memoryId, otherText: 'My editor is emacs.', reason: 'They name different values of the same thing.' },
  ]);
  expect(book.settle(other.memoryId, vim.memoryId, 'this', 'ada')).toEqual({ kept: [other.memoryId] });
  expect(rows.find(vim.memoryId)).toBeNull();
  expect(rows.find(other.memoryId)).toMatchObject({ state: 'kept', rule: 'a person settled it' });
  expect(() => book.settle(other.memoryId, vim.memoryId, 'both', 'ada')).toThrow('Nothing is open');
});

test('contradictory candidates are detected, and repetition promotes neither', () => {
  const { says, book, rows } = openBench();
  const turn = { by: 'turn', actor: 'ada' } as const;
  const vim = says('My editor is Vim.', { ...turn, sessionId: 's1', turnId: 't1' });
  const emacs = says('My editor is Emacs.', { ...turn, sessionId: 's2', turnId: 't2' });
  expect(book.get(emacs.memoryId).contradictions).toMatchObject([{ otherId: vim.memoryId }]);
  says('My editor is Vim.', { ...turn, sessionId: 's3', turnId: 't3' });
  expect(rows.find(vim.memoryId)?.state).toBe('candidate');
  expect(book.list({ contradicted: true, limit: 9, offset: 0 })).toMatchObject({ counts: { contradictions: 1 } });
});

test('of two contradictory memories, the model sees only the newer one', async () => {
  const { says, book, store, recall, clock } = openBench();
  const turn = { by: 'turn', actor: 'ada' } as const;
  const vim = says('My editor is Vim.', { ...turn, sessionId: 's1', turnId: 't1' });
  clock.advance(1_000);
  const emacs = says('My editor is Emacs.', { ...turn, sessionId: 's2', turnId: 't2' });
  book.promote(vim.memoryId, 'ada');
  expect(book.promote(emacs.memoryId, 'ada').contradictions).toMatchObject([{ otherId: vim.memoryId, otherText: 'My editor is Vim.' }]);
  const source = new MemoryPackSource({ store, source: recall, clock, snippetsMax: 4 });
  const told = async (): Promise<string> => {
    const parts = await source.select({ session: 's', agent: 'main', query: 'which editor', signal: new AbortController().signal });
    return parts.map(({ text }) => text).join();
  };
  expect(await told()).toMatch(/^My editor is Emacs\.\n\(Not settled/);
  expect(await told()).not.toContain('Vim');
  book.pin(vim.memoryId, true, 'ada');
  expect(await told()).toMatch(/^My editor is Vim\./);
  expect(await told()).not.toContain('Emacs');
  book.settle(vim.memoryId, emacs.memoryId, 'both', 'ada');
  expect(await told()).toMatch(/^My editor is Vim\.,My editor is Emacs\.$/);
});

test('promotion detects a contradiction that an older version missed', () => {
  const { says, book, store } = openBench();
  const turn = { by: 'turn', actor: 'ada' } as const;
  const add = (memoryId: string, text: string): void =>
    store.append([
      {
        type: 'memory.remembered',
        body: {
          memory: {
            memoryId,
            kind: 'fact',
            text,
            scope: 'shared',
            importance: 0.5,
            origin: { ...turn, sessionId: 's', turnId: 't' },
            untrusted: [],
          },
          state: 'candidate',
          rule: null,
        },
      },
    ]);
  add('mem_1', 'My editor is Vim.');
  add('mem_2', 'My editor is Emacs.');
  says('My shell is fish.');
  expect(book.promote('mem_1', 'ada').contradictions).toMatchObject([{ otherId: 'mem_2' }]);
  expect(book.promote('mem_2', 'ada').contradictions).toHaveLength(1);
  expect(store.counts().contradictions).toBe(1);
});
