import { expect, test } from 'vitest';
import { bytesOf, kindOf, languageOf, pictureUrl, previewOf } from './artifact-kinds.ts';

test('kinds by type and by name; anything that could run is text', () => {
  expect(kindOf({ name: 'a.png', mediaType: 'image/png' })).toBe('picture');
  expect(kindOf({ name: 'a.svg', mediaType: 'image/svg+xml' })).toBe('code');
  expect(kindOf({ name: 'x', mediaType: 'image/svg+xml' })).toBe('code');
  expect(kindOf({ name: 'main.TS', mediaType: 'text/plain' })).toBe('code');
  expect(kindOf({ name: 'output', mediaType: 'text/plain; charset=utf-8' })).toBe('text');
  expect(kindOf({ name: 'a.zip', mediaType: 'application/zip' })).toBe('other');
  expect([languageOf('a.py'), languageOf('a.constructor'), languageOf('none')]).toEqual(['python', null, null]);
});

test('a preview by name, then by type', () => {
  expect(previewOf({ name: 'a.md', mediaType: 'text/plain' })).toBe('document');
  expect(previewOf({ name: 'report', mediaType: 'text/csv; charset=utf-8' })).toBe('table');
  expect(previewOf({ name: 'a.SVG', mediaType: 'text/xml' })).toBe('drawing');
  expect(previewOf({ name: 'a.html', mediaType: 'text/html' })).toBe('page');
  expect(previewOf({ name: 'a.constructor', mediaType: 'constructor' })).toBeNull();
});

test('only a raster picture becomes a data address', () => {
  expect(pictureUrl('image/png', 'AAAA')).toBe('data:image/png;base64,AAAA');
  expect(pictureUrl('image/svg+xml', 'AAAA')).toBeNull();
  expect(pictureUrl('text/html', 'AAAA')).toBeNull();
  expect(pictureUrl('image/png', '"><script>')).toBeNull();
  expect([...bytesOf('AQID')]).toEqual([1, 2, 3]);
});
