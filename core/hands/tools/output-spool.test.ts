import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { OutputSpool } from './output-spool.ts';

const folder = mkdtempSync(join(tmpdir(), 'trayclaw-spool-'));
afterAll(() => rmSync(folder, { recursive: true }));

const text = ({ bytes, offset }: { bytes: Buffer; offset: number }): [number, string] => [offset, bytes.toString()];

test('every part reads back as written, in memory or not', () => {
  const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 30 });
  fc.assert(
    fc.property(chunks, fc.nat(1300), fc.nat(1300), (pieces, offset, length) => {
      const spool = new OutputSpool({ folder, memoryBytesMax: 64, fileBytesMax: 100_000 });
      for (const piece of pieces) spool.append(Buffer.from(piece));
      const whole = Buffer.concat(pieces);
      expect(spool.totalBytes).toBe(whole.length);
      expect(spool.read(offset, length).bytes.equals(whole.subarray(offset, offset + length))).toBe(true);
      expect(spool.content().equals(whole)).toBe(true);
      spool.close();
    }),
    { numRuns: 300 },
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('beyond the file limit the start and the newest output are kept, with the gap', () => {
  const spool = new OutputSpool({ folder, memoryBytesMax: 8, fileBytesMax: 12 });
  for (let i = 0; i < 10; i++) spool.append(Buffer.from(`${i}${i}${i}${i}`));
  expect(spool.totalBytes).toBe(40);
  expect(text(spool.read(0, 100))).toEqual([0, '000011112222']);
  expect(text(spool.read(14, 100))).toEqual([32, '88889999']);
  expect(text(spool.read(38, 1))).toEqual([38, '9']);
  expect(spool.content().toString()).toBe('000011112222\n[… 20 bytes were not kept …]\n88889999');
  spool.close();
  expect(text(spool.read(0, 100))).toEqual([32, '88889999']);
});

test('if no file can be created, the newest output is kept', () => {
  const spool = new OutputSpool({ folder: join(folder, 'missing'), memoryBytesMax: 8, fileBytesMax: 1000 });
  for (let i = 0; i < 10; i++) spool.append(Buffer.from(`${i}${i}${i}${i}`));
  expect(text(spool.read(0, 100))).toEqual([32, '88889999']);
  spool.close();
});
