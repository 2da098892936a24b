import { expect, test } from 'vitest';
import { commonEncoding, decodeText, encodeText } from './text-encoding.ts';

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

test.each([
  ['ASCII', 'a,b\r\n', 'UTF-8'],
  ['UTF-8', Buffer.from('Müller €'), 'UTF-8'],
  ['UTF-8 with its mark', Buffer.from('\uFEFFMüller'), 'UTF-8'],
  ['Windows-1252', bytesOf('M\xfcller;12,50 \x80\r\n\x84Zitat\x93'), 'Windows-1252'],
  ['every byte but controls, as Windows-1252', Uint8Array.from({ length: 224 }, (_, at) => at + 32), 'Windows-1252'],
  ['UTF-16', Buffer.from('\uFEFFMüller 😀', 'utf16le'), 'UTF-16LE'],
  ['UTF-16 of the other order', Buffer.from('\uFEFFMüller 😀', 'utf16le').swap16(), 'UTF-16BE'],
] as const)('%s is read, and written back byte by byte', (_name, given, encoding) => {
  const bytes = typeof given === 'string' ? Buffer.from(given) : given;
  const decoded = decodeText(bytes);
  expect(decoded).toMatchObject({ encoding, isExact: true });
  expect(Buffer.from(encodeText(decoded?.text ?? '', encoding) ?? [])).toEqual(Buffer.from(bytes));
});

test('Windows-1252 has the letters of its standard', () => {
  expect(decodeText(bytesOf('\x80 \x84\x93 \x96 \x9f \xdf\xfc'))?.text).toBe('€ „“ – Ÿ ßü');
  expect(encodeText('Łódź', 'Windows-1252')).toBeNull();
});

test.each([
  ['a NUL', Buffer.from('ab\0c')],
  ['letters and controls mixed', bytesOf('\x89PNG\x01\x02\xff\xfe')],
  ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0])],
])('%s is not text', (_name, bytes) => {
  expect(decodeText(bytes)).toBeNull();
});

test.each([
  ['one broken letter among right ones', Buffer.concat([Buffer.from('Grüße, Öl, Übung '), bytesOf('\xfc')]), 'UTF-8'],
  ['half a letter of UTF-16', Buffer.from('\uFEFFab', 'utf16le').subarray(0, 5), 'UTF-16LE'],
])('%s is shown, but not exact', (_name, bytes, encoding) => {
  expect(decodeText(bytes)).toMatchObject({ encoding, isExact: false });
});

test('a part may end within a letter, and a later part has the mark of the whole', () => {
  expect(decodeText(Buffer.from('ab€').subarray(0, 4), { isCut: true })).toEqual({ text: 'ab', encoding: 'UTF-8', isExact: true });
  const wide = Buffer.from('\uFEFFMüller', 'utf16le');
  expect(decodeText(wide.subarray(4, 8), { mark: wide.subarray(0, 2) })?.text).toBe('ül');
});

test('texts have an encoding in common unless their letters beyond ASCII differ in it', () => {
  const [plain, narrow, utf8] = [Buffer.from('ab'), bytesOf('\xfc'), Buffer.from('ü')].flatMap((bytes) => decodeText(bytes) ?? []);
  if (plain === undefined || narrow === undefined || utf8 === undefined) throw new Error('not text');
  expect(commonEncoding([plain, narrow])).toBe('Windows-1252');
  expect(commonEncoding([plain, plain])).toBe('UTF-8');
  expect(commonEncoding([narrow, utf8])).toBeNull();
});
