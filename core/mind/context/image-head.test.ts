import { expect, test } from 'vitest';
import type { ArtifactRef } from '../../contracts/tools.ts';
import { picturesOf, readImageHead, withFiles } from './attached-files.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const png = (side: string): Buffer => hex(`89504e470d0a1a0a 0000000d49484452 ${side} 00000007 0802000000`);
const jpeg = hex('ffd8 ffe0 0004 0000 ffff ffc4 0002 ffc2 000b 08 0102 2000 01 000000');
const gif = Buffer.from('GIF89a\x10\x00\x02\x01', 'latin1');
const webp = (form: string, rest: string): Buffer => Buffer.concat([Buffer.from(`RIFF....WEBP${form}`, 'latin1'), hex(rest)]);

test.each([
  ['a PNG', png('00001f41'), ['image/png', 8001, 7]],
  ['a JPEG with fill bytes and tables before its frame', jpeg, ['image/jpeg', 8192, 258]],
  ['a GIF', gif, ['image/gif', 16, 258]],
  ['a WebP with an extended head', webp('VP8X', '0a000000 00000000 ff1f00 0f0000'), ['image/webp', 8192, 16]],
  ['a lossy WebP', webp('VP8 ', '00000000 000000 9d012a 0120 1000'), ['image/webp', 8193, 16]],
  ['a lossless WebP', webp('VP8L', '00000000 2f ff1f0000'), ['image/webp', 8192, 1]],
  ['a PNG that is cut off', png('00000001').subarray(0, 12), ['image/png', 0, 0]],
  ['a JPEG that is cut off', jpeg.subarray(0, 15), ['image/jpeg', 0, 0]],
  ['a photo of another kind', Buffer.from('\0\0\0\x18ftypheic', 'latin1'), [undefined, undefined, undefined]],
  ['nothing', Buffer.alloc(0), [undefined, undefined, undefined]],
])('reads the head of %s', (_what, bytes, [mediaType, width, height]) => {
  const head = readImageHead(bytes);
  expect([head?.mediaType, head?.width, head?.height]).toEqual([mediaType, width, height]);
});

const file = (bytes: Buffer): ArtifactRef => ({ name: 'a.png', mediaType: 'image/png', sha256: 'a'.repeat(64), sizeBytes: bytes.length });

test('an image that vendors refuse becomes text, and a wrong type is corrected', () => {
  const shown = (bytes: Buffer) => ({ ...withFiles('see', [file(bytes)], () => bytes), pictures: picturesOf([file(bytes)], () => bytes) });
  expect(shown(png('00001f40'))).toMatchObject({ images: [{ mediaType: 'image/png' }], pictures: [{ mediaType: 'image/png' }] });
  expect(shown(gif)).toMatchObject({ images: [{ mediaType: 'image/gif' }], pictures: [{ mediaType: 'image/gif' }] });
  const large = shown(png('00001f41'));
  expect(large).toMatchObject({ text: expect.stringContaining('8001 by 7 pixels') as string, pictures: [] });
  const photo = shown(Buffer.from('\0\0\0\x18ftypheic', 'latin1'));
  expect(photo).toMatchObject({ text: expect.stringContaining('not a PNG, JPEG, GIF or WebP image') as string, pictures: [] });
  expect([large, photo].flatMap(({ role, ...rest }) => ('images' in rest ? [role] : []))).toEqual([]);
});

test('a PDF is named with the tool that reads its text', () => {
  const { text } = withFiles('see', [{ ...file(Buffer.from('%PDF-1.7')), name: 'a.pdf', mediaType: 'application/pdf' }], () =>
    Buffer.from('%PDF-1.7'),
  );
  expect(text).toBe(`see\n\n[The person attached "a.pdf" (application/pdf, 8 bytes). Read its text with artifact_read ${'a'.repeat(64)}.]`);
});
