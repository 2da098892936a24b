import { expect, test } from 'vitest';
import { RecentDocument } from './recent-document.ts';

test('the same PDF is read once in a row; another, a failed and a huge one are read again', async () => {
  const read: string[] = [];
  const recent = new RecentDocument((bytes) => {
    const name = Buffer.from(bytes).toString();
    read.push(name);
    if (name === 'broken') return Promise.reject(new Error('no'));
    return Promise.resolve({ text: name === 'huge' ? 'x'.repeat(4_000_001) : `text of ${name}`, problem: null });
  });
  const { signal } = new AbortController();
  const lines = (name: string) => recent.lines(Buffer.from(name), signal);
  expect([(await lines('a')).text, (await lines('a')).text, (await lines('b')).text]).toEqual(['text of a', 'text of a', 'text of b']);
  for (let time = 0; time < 2; time += 1) await expect(lines('broken')).rejects.toThrow('no');
  for (let time = 0; time < 2; time += 1) expect((await lines('huge')).text).toHaveLength(4_000_001);
  await lines('b');
  expect(read).toEqual(['a', 'b', 'broken', 'broken', 'huge', 'huge', 'b']);
});
