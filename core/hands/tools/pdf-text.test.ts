import { expect, test } from 'vitest';
import { namedMapPdf, pdfOf } from '../../../tests/rigs/pdf.ts';
import { characterMap } from './pdf-character-maps.ts';
import { readPdf } from './pdf-text.ts';

const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(' ', ''), 'hex');
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

// The bytes are those of iconv for GBK, Big5, CP932, EUC-JP and CP949.
test.each([
  ['UniGB-UCS2-H', 'GB1', utf16('增值税发票 Total 1,234'), '增值税发票 Total 1,234'],
  ['UniGB-UTF16-V', 'GB1', utf16('你好'), '你好'],
  ['GBK-EUC-H', 'GB1', hex('d4f6 d6b5 cbb0 20 e946'), '增值税 镕'],
  ['UniCNS-UTF16-H', 'CNS1', utf16('統一發票'), '統一發票'],
  ['ETen-B5-H', 'CNS1', hex('b2ce a440 b56f b2bc'), '統一發票'],
  ['UniJIS-UCS2-HW-H', 'Japan1', utf16('請求書'), '請求書'],
  ['90ms-RKSJ-H', 'Japan1', hex('90bf 8b81 8f91 20 b6c0 b6c5'), '請求書 ｶﾀｶﾅ'],
  ['EUC-H', 'Japan1', hex('c0c1 b5e1 bdf1'), '請求書'],
  ['H', 'Japan1', hex('4041 3561 3d71'), '請求書'],
  ['UniKS-UCS2-H', 'Korea1', utf16('대한민국 漢字'), '대한민국 漢字'],
  ['KSCms-UHC-H', 'Korea1', hex('b4eb c7d1 20 8c63 b9e6'), '대한 똠방'],
])('a PDF that names the character map %s is read', async (encoding, ordering, bytes, expected) => {
  expect(await readPdf(namedMapPdf([bytes], { encoding, ordering }))).toEqual({
    title: null,
    pages: [expected],
    unit: 'page',
    problem: null,
  });
});

test('a font whose map was made for another collection of glyphs is read by its map', async () => {
  const { pages } = await readPdf(namedMapPdf([utf16('臺北市')], { encoding: 'UniGB-UCS2-H', ordering: 'CNS1' }));
  expect(pages).toEqual(['臺北市']);
});

test('glyphs that only the font knows are left out instead of being guessed', async () => {
  const { pages, problem } = await readPdf(namedMapPdf([hex('4f60 1234 0100')], { encoding: 'Identity-H', ordering: 'GB1' }));
  expect({ pages, problem }).toEqual({ pages: [''], problem: 'It holds no text, only pictures perhaps.' });
});

test('each code of a byte encoding has one line, and an unknown map is none', () => {
  const lines = (characterMap('90ms-RKSJ-V') ?? '').split('\n');
  expect(lines.slice(0, 2)).toEqual(['begincmap', '/WMode 1 def']);
  const codes = lines.flatMap((line) => /^<(\w+)> \d+$/.exec(line)?.[1] ?? []);
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes.length).toBe(0x81 + 0x40 + (0x9f_fc - 0x81_40 + 1) + (0xfc_fc - 0xe0_40 + 1));
  expect(['CNS-EUC-H', 'Adobe-KR-UCS2', '../../etc/passwd', 'Identity-H', ''].map(characterMap)).toEqual([null, null, null, null, null]);
});

test('every page is read; a file that is not a PDF or has no text says so', async () => {
  expect(await readPdf(pdfOf(['One.', 'Two.']))).toEqual({ title: null, pages: ['One.', 'Two.'], unit: 'page', problem: null });
  expect((await readPdf(pdfOf(['']))).problem).toBe('It holds no text, only pictures perhaps.');
  expect(await readPdf(Buffer.from('%PDF-1.7 and nothing else'))).toEqual({
    title: null,
    pages: [],
    unit: 'page',
    problem: 'It is no PDF that can be read, or it is locked.',
  });
});
