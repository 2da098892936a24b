import { expect, test } from 'vitest';
import { bytesOf, kindOf, languageOf, pictureUrl } from './artifact-kinds.ts';

test('kinds by type and by name; anything that could run is text', () => {
  expect(kindOf({ name: 'a.png', mediaType: 'image/png' })).toBe('picture');
  expect(kindOf({ name: 'a.svg', mediaType: 'image/svg+xml' })).toBe('code');
  expect(kindOf({ name: 'x', mediaType: 'image/svg+xml' })).toBe('code');
  expect(kindOf({ name: 'main.TS', mediaType: 'text/plain' })).toBe('code');
  expect(kindOf({ name: 'output', mediaType: 'text/plain; charset=utf-8' })).toBe('text');
  expect(kindOf({ name: 'a.zip', mediaType: 'application/zip' })).toBe('other');
  expect([languageOf('a.py'), languageOf('a.constructor'), languageOf('none')]).toEqual(['python', null, null]);
});

test('only a raster picture becomes a data address', () => {
  expect(pictureUrl('image/png', 'AAAA')).toBe('data:image/png;base64,AAAA');
  expect(pictureUrl('image/svg+xml', 'AAAA')).toBeNull();
  expect(pictureUrl('text/html', 'AAAA')).toBeNull();
  expect(pictureUrl('image/png', '"><script>')).toBeNull();
  expect([...bytesOf('AQID')]).toEqual([1, 2, 3]);
});
