import { expect, test } from 'vitest';
import type { DraftFile } from './draft-files.ts';
import { newest } from './kept-files.svelte.ts';

const file = (id: number, chars: number): DraftFile => ({
  id,
  name: `${id}.txt`,
  mediaType: 'text/plain',
  sizeBytes: chars,
  base64: 'x'.repeat(chars),
  thumbnail: null,
});

test('the newest drafts that fit are kept whole; one without files leaves nothing', () => {
  const drafts = { old: [file(1, 60)], huge: [file(2, 200)], none: [], now: [file(3, 30), file(4, 20)] };
  expect(newest(drafts, 100)).toEqual({ now: drafts.now });
  expect(Object.keys(newest(drafts, 110))).toEqual(['old', 'now']);
});
