import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { aboutBox, newKdf, openBox, sealBox, vaultSchema } from './vault-format.ts';

const key = randomBytes(32);
const kdf = newKdf(2 ** 12);

test('a box opens only with the kind, name and header it was sealed with', () => {
  const box = sealBox(key, aboutBox('entry', 'lab', kdf), 'hunter2-hunter2');
  const open = (about: string, by = key) => openBox(by, about, box);
  expect(open(aboutBox('entry', 'lab', kdf))).toBe('hunter2-hunter2');
  expect([
    open(aboutBox('entry', 'work', kdf)),
    open(aboutBox('check', 'lab', kdf)),
    open(aboutBox('entry', 'lab', { ...kdf, cost: 2 ** 13 })),
    open(aboutBox('entry', 'lab', newKdf(2 ** 12))),
    open(aboutBox('entry', 'lab', kdf), randomBytes(32)),
  ]).toEqual([null, null, null, null, null]);
});

test('rejects key derivation costs that are too low or would use all memory', () => {
  const box = sealBox(key, 'x', '');
  const accepts = (cost: number): boolean =>
    vaultSchema.safeParse({ format: 'trayclaw-vault', version: 1, kdf: { ...kdf, cost }, check: box, seal: box, entries: {}, checksum: '' })
      .success;
  expect([2 ** 11, 2 ** 12, 2 ** 17, 2 ** 20, 2 ** 21, 2 ** 40].map(accepts)).toEqual([false, true, true, true, false, false]);
});
