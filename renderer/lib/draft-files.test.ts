// Files for the next message: accepted in order up to the host's limits; each other file is refused with its reason.

import { expect, test } from 'vitest';
import { takeFiles, type GivenFile } from './draft-files.ts';

const limits = { fileBytesMax: 1000, messageBytesMax: 1500, filesMax: 3 };

function given(name: string, text: string | number): GivenFile {
  const bytes = typeof text === 'number' ? new Uint8Array(text) : new TextEncoder().encode(text);
  return { name, type: 'text/plain', size: bytes.length, arrayBuffer: () => Promise.resolve(bytes.buffer) };
}

test('what fits is taken with its content, what does not is named with the reason', async () => {
  const folder: GivenFile = { ...given('folder', 0), arrayBuffer: () => Promise.reject(new Error('NotFoundError')) };
  const { files, problems } = await takeFiles([given('a.txt', 'Grüße'), given('b.bin', 1001), folder, given('c.bin', 900)], [], limits);
  expect(files.map(({ name, sizeBytes, base64, thumbnail }) => [name, sizeBytes, base64.slice(0, 12), thumbnail])).toEqual([
    ['a.txt', 7, Buffer.from('Grüße').toString('base64'), null],
    ['c.bin', 900, 'AAAAAAAAAAAA', null],
  ]);
  expect(problems).toEqual([
    { kind: 'tooLarge', name: 'b.bin', sizeBytes: 1001, max: 1000 },
    { kind: 'unreadable', name: 'folder' },
  ]);
});

test('what is there already counts, in number and in size', async () => {
  const first = await takeFiles([given('a', 700), given('b', 700)], [], limits);
  const next = await takeFiles([given('c', 200), given('d', 50), given('e', 1)], first.files, limits);
  expect([next.files.map(({ name }) => name), next.problems]).toEqual([
    ['d'],
    [
      { kind: 'tooMuch', name: 'c', max: 1500 },
      { kind: 'tooMany', name: 'e', max: 3 },
    ],
  ]);
  const ids = [...first.files, ...next.files].map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
});

test('a file of many pieces keeps its content', async () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 251);
  const file: GivenFile = { name: 'x', type: '', size: bytes.length, arrayBuffer: () => Promise.resolve(bytes.buffer) };
  const { files } = await takeFiles([file], [], { fileBytesMax: 1e6, messageBytesMax: 1e6, filesMax: 1 });
  expect(Buffer.from(files[0]?.base64 ?? '', 'base64').equals(Buffer.from(bytes))).toBe(true);
});
