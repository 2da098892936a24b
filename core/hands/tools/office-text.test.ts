import { strToU8, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { officeFile } from '../../../tests/rigs/office.ts';
import { knownMediaType } from '../../base/media-type.ts';
import { readDocument } from './read-document.ts';

const relation = (id: string, type: string, target: string): string =>
  `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`;
const relations = (...all: string[]): string => `<Relationships>${all.join('')}</Relationships>`;
const zip = (parts: Readonly<Record<string, string>>): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(parts).map(([path, text]) => [path, strToU8(text)])));

const word = (body: string, more: Readonly<Record<string, string>> = {}): Uint8Array =>
  zip({
    '_rels/.rels': relations(relation('1', 'officeDocument', 'word/document.xml')),
    'word/document.xml': `<w:document><w:body>${body}</w:body></w:document>`,
    ...more,
  });
const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

const book = (rows: string, { styles = '', sheets = '<sheet name="S" r:id="s"/>', properties = '' } = {}): Uint8Array =>
  zip({
    '_rels/.rels': relations(relation('1', 'officeDocument', '/xl/workbook.xml')),
    'xl/_rels/workbook.xml.rels': relations(relation('s', 'worksheet', 'worksheets/a.xml'), relation('t', 'styles', 'styles.xml')),
    'xl/workbook.xml': `<workbook>${properties}<sheets>${sheets}</sheets></workbook>`,
    'xl/worksheets/a.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    'xl/styles.xml': `<styleSheet>${styles}</styleSheet>`,
  });

describe('a file of a real program', () => {
  const report = [
    '# Quarterly report',
    '# Results',
    'Sales rose by [comment 0]12 % & costs fell <slightly>.',
    '- First point\n- Second point',
    '| Item | Cost |\n|---|---|\n| Rent | 1,200 |\n| Heat\\|ing | 80 per month |',
    'A\ttab and [a link](https://example.org/a?b=1&c=2)',
    '## Überblick 概要',
    'The end.',
  ];

  test('a Word document has headings, lists, tables, links and comments', async () => {
    const text = [...report, '[comment 0] Ada: Please check this number.'].join('\n\n');
    expect(await readDocument(officeFile('report.docx'))).toEqual({ title: 'Quarterly report', pages: [text], unit: null, problem: null });
  });

  test('so has an OpenDocument text', async () => {
    const text = report.join('\n\n').replace('Sales', '[comment] Please check this number.\n\nSales').replace('[comment 0]', '');
    expect(await readDocument(officeFile('report.odt'))).toEqual({ title: 'Quarterly report', pages: [text], unit: null, problem: null });
  });

  test('so has an RTF document', async () => {
    const text = report.join('\n\n').replace('by [comment 0]', 'by  [comment: Please check this number.]');
    expect(await readDocument(officeFile('report.rtf'))).toEqual({ title: 'Quarterly report', pages: [text], unit: null, problem: null });
  });

  test('an EPUB book has its chapters in their order', async () => {
    // The program that wrote it keeps neither headings nor lists.
    const text = report
      .join('\n\n')
      .replaceAll(/^[#-]+ /gm, '')
      .replace('point\nSecond', 'point\n\nSecond')
      .replace('[comment 0]', '')
      .replace('|---|---|', '| --- | --- |')
      .replace('\t', ' ');
    expect(await readDocument(officeFile('report.epub'))).toEqual({ title: 'Quarterly report', pages: [text], unit: null, problem: null });
  });

  test.each([
    ['budget.xlsx', '=SUM(B2:B3)', '2026-02-28 13:45', '07:05', ' (hidden)'],
    ['budget.ods', '1280.5', '2026-02-28 13:45:00', '7:05', ''],
  ])('%s has rows under letters, with dates as dates', async (name, ...[sum, time, clock, hidden]) => {
    const { pages } = await readDocument(officeFile(name));
    expect(pages).toEqual([
      [
        '# Budget',
        '',
        '\tA\tB\tC\tD\tE',
        '1\tItem\tCost\tDate\tDone\tShare',
        '2\tRent\t1200.5\t2026-01-31\tTRUE\t0.25',
        `3\tHeat ing\t80\t${time}\tFALSE\t0.1`,
        `6\tTotal\t${sum}\t${clock}\tZ: far`,
        '',
        `# Hidden one${hidden}`,
        '',
        '\tA\tB',
        '2\t\tsecret',
        '',
        '# Empty',
        '',
        '(empty)',
      ].join('\n'),
    ]);
  });

  test('dates count from 1904 where the workbook says so, and a cell in the last corner costs one line', async () => {
    const { pages } = await readDocument(officeFile('from-1904.xlsx'));
    expect(pages).toEqual(['# 日本\n\n\tA\n1\t漢字\n2\t2026-03-04\n3\t2\n4\ta b c\n6\t12345.678\n1048576\tXFD: corner']);
  });

  test.each([
    ['talk.pptx', 'Our plan\nFirst step\nSecond step\n\nNotes: Say hello first.'],
    ['talk.odp', 'Our plan\n- First step\n- Second step\nNotes: Say hello first.'],
  ])('%s has a page for each slide, with its notes', async (name, first) => {
    expect(await readDocument(officeFile(name))).toEqual({ title: null, pages: [first, 'Thanks'], unit: 'slide', problem: null });
  });
});

describe('a Word document', () => {
  const textOf = async (bytes: Uint8Array): Promise<string> => (await readDocument(bytes)).pages.join();

  test('what was deleted or moved away, and what is there for old readers, is left out', async () => {
    const body = [
      '<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>',
      '<w:ins><w:r><w:t>kept</w:t></w:r></w:ins><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>',
      `<w:p><mc:AlternateContent><mc:Choice><w:txbxContent>${paragraph('In a box')}</w:txbxContent></mc:Choice>`,
      `<mc:Fallback><w:txbxContent>${paragraph('In a box')}</w:txbxContent></mc:Fallback></mc:AlternateContent></w:p>`,
    ];
    expect(await textOf(word(body.join('')))).toBe('kept\n\nIn a box');
  });

  test('headings are known by the name of their style, whatever its id, or by their level', async () => {
    const styled = (style: string): string => `<w:p><w:pPr>${style}</w:pPr><w:r><w:t>H</w:t></w:r></w:p>`;
    const bytes = word(
      styled('<w:pStyle w:val="berschrift2"/>') + styled('<w:outlineLvl w:val="0"/>') + styled('<w:outlineLvl w:val="9"/>'),
      {
        'word/_rels/document.xml.rels': relations(relation('a', 'styles', 'styles.xml')),
        'word/styles.xml': '<w:styles><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style></w:styles>',
      },
    );
    expect(await textOf(bytes)).toBe('## H\n\n# H\n\nH');
  });

  test('notes, nested lists, tables in tables, pictures, CDATA and characters by number are read', async () => {
    const item = (level: number): string =>
      `<w:p><w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>item</w:t></w:r></w:p>`;
    const table = (inside: string): string => `<w:tbl><w:tr><w:tc>${inside}</w:tc><w:tc>${paragraph('2')}</w:tc></w:tr></w:tbl>`;
    const body = [
      '<w:p><w:r><w:t>Text</w:t><w:footnoteReference w:id="2"/></w:r><w:r><w:drawing><wp:docPr descr="A &quot;cat&quot;"/></w:drawing></w:r></w:p>',
      item(0) + item(1),
      table(table(paragraph('1'))),
      paragraph('<![CDATA[a < b]]> &#x1F600;&#169;&nbsp;<!-- <w:t>no</w:t> -->'),
    ];
    const bytes = word(body.join(''), {
      'word/_rels/document.xml.rels': relations(relation('f', 'footnotes', 'footnotes.xml')),
      'word/footnotes.xml': `<w:footnotes><w:footnote w:id="-1" w:type="separator"><w:p/></w:footnote><w:footnote w:id="2">${paragraph('Below')}</w:footnote></w:footnotes>`,
    });
    expect(await textOf(bytes)).toBe(
      'Text[footnote 2][picture: A "cat"]\n\n- item\n  - item\n\n| \\| 1 \\| 2 \\| \\|---\\|---\\| | 2 |\n|---|---|\n\na < b 😀©&nbsp;\n\n[footnote 2] Below',
    );
  });
});

describe('a workbook', () => {
  test.each([
    ['0', '<cellXfs><xf numFmtId="0"/></cellXfs>', '44000.5', '44000.5'],
    ['a date', '<cellXfs><xf numFmtId="14"/></cellXfs>', '1', '1900-01-01'],
    ['after the leap day that never was', '<cellXfs><xf numFmtId="14"/></cellXfs>', '61', '1900-03-01'],
    [
      'a duration',
      '<numFmts><numFmt numFmtId="170" formatCode="[h]:mm:ss"/></numFmts><cellXfs><xf numFmtId="170"/></cellXfs>',
      '1.5',
      '36:00',
    ],
    ['a time', '<cellXfs><xf numFmtId="21"/></cellXfs>', '0.75001', '18:00:01'],
    [
      'money',
      '<numFmts><numFmt numFmtId="170" formatCode="[Red]0.00 &quot;days&quot;\\d"/></numFmts><cellXfs><xf numFmtId="170"/></cellXfs>',
      '5',
      '5',
    ],
    [
      'a style that is not a cell format',
      '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="2"/></cellXfs>',
      '5',
      '5',
    ],
    ['beyond all dates', '<cellXfs><xf numFmtId="14"/></cellXfs>', '9e15', '9e15'],
  ])('a number is shown by its format: %s', async (_, styles, value, shown) => {
    const { pages } = await readDocument(book(`<row><c s="0"><v>${value}</v></c></row>`, { styles }));
    expect(pages).toEqual([`# S\n\n\tA\n1\t${shown}`]);
  });

  test('errors, texts of formulas, and rows and cells without a number are read; the reading of names is not', async () => {
    const rows =
      '<row><c t="e"><v>#DIV/0!</v></c><c t="str"><f>A1</f><v>x</v></c></row><row r="4"><c r="B4" t="inlineStr"><is><t>東</t><rPh><t>ひがし</t></rPh></is></c></row>';
    expect((await readDocument(book(rows))).pages).toEqual(['# S\n\n\tA\tB\n1\t#DIV/0!\tx\n4\t\t東']);
  });
});

const epub = (chapters: Readonly<Record<string, string>>, more: Readonly<Record<string, string>> = {}): Uint8Array => {
  const names = Object.keys(chapters);
  const items = names.map((name, at) => `<item id="i${at}" href="${encodeURIComponent(name)}"/>`);
  const order = names.map((_, at) => `<itemref idref="i${at}"/>`).reverse();
  return zipSync({
    mimetype: [strToU8('application/epub+zip'), { level: 0 }],
    'META-INF/container.xml': strToU8('<rootfile full-path="b/c.opf"/>'),
    'b/c.opf': strToU8(`<dc:title>T</dc:title><manifest>${items.join('')}</manifest><spine>${order.join('')}${order.join('')}</spine>`),
    ...Object.fromEntries(Object.entries(chapters).map(([name, text]) => [`b/${name}`, strToU8(text)])),
    ...Object.fromEntries(Object.entries(more).map(([name, text]) => [name, strToU8(text)])),
  });
};

describe('a book', () => {
  test('is read in the order of its spine, each chapter once, without what is hidden', async () => {
    const second =
      '<head><title/><style>.x { visibility: hidden }</style></head><h1><a id="a"/><span class="x">no</span>Two &mdash; 2</h1><div>loose<p hidden="">no</p><span style="display: none">no</span></div>';
    const first = '<ul><li><p>a</p><ul><li>b</li></ul></li><li>c</li></ul><pre>x\n  y</pre><p>z<br/>1<img alt="A cat"/></p>';
    const { title, pages } = await readDocument(epub({ 'two 2.xhtml': second, 'one.xhtml': first }));
    expect([title, pages]).toEqual(['T', ['- a\n  - b\n- c\n\nx\n  y\n\nz\n1[image: A cat]\n\n# Two — 2\n\nloose']]);
  });

  test('shows no text that its styles hide, in the page or in a file of the book', async () => {
    const page = '<head><link rel="stylesheet" href="../s%201.css"/><style>.b { opacity: 0 }</style></head>';
    const text = '<body><p>Shown.</p><p class="a">No, by the file.</p><p class="b">No, by the page.</p></body>';
    const styles = { 's 1.css': '/* one */ .a { display: none } @media print { p { display: none } }' };
    expect((await readDocument(epub({ 'a.xhtml': page + text }, styles))).pages).toEqual(['Shown.']);
  });

  test('may close an element in its own tag', async () => {
    const page = '<head><title/><script src="x.js"/></head><body><a id="start"/><p>One<i/> two<br/>three</p><div/><p>Four.</p></body>';
    expect((await readDocument(epub({ 'a.xhtml': page }))).pages).toEqual(['One two\nthree\n\nFour.']);
  });

  test('whose chapters are encrypted says so; one with encrypted fonts is read', async () => {
    const locks = (path: string) => ({ 'META-INF/encryption.xml': `<CipherReference URI="${path}"/>` });
    expect((await readDocument(epub({ 'a.xhtml': '<p>a</p>' }, locks('b/a.xhtml')))).problem).toBe('It is locked by its seller.');
    expect((await readDocument(epub({ 'a.xhtml': '<p>a</p>' }, locks('b/font.otf')))).pages).toEqual(['a']);
  });
});

describe('an RTF document', () => {
  test.each([
    ['Unicode, with what old readers show for it', String.raw`a\u252?b\uc0\u228 c{\uc2\u8364\'80x}d\u-10179\u-8704 `, 'aübäc€d😀'],
    [
      'bytes in the code page, and in that of a font',
      String.raw`{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}\f0 \'e4\f1 \'e4\f0\'80`,
      'äд€',
    ],
    ['hidden and deleted text', String.raw`a{\v no}b\v no\v0 c{\deleted no}d\v no\plain e`, 'abcde'],
    ['unread groups and raw bytes', String.raw`a{\*\x no}{\pict\bin5 }}}}}}b{\header no}c`, 'abc'],
    ['a table and text around it', String.raw`a\par\intbl b\par c\cell d\cell\row\pard e\par`, 'a\n\n| b c | d |\n|---|---|\n\ne'],
    ['a note', String.raw`a{\footnote\pard b\par c}d\par e`, 'a [note: b c]d\n\ne'],
    ['a link without an address outside', String.raw`{\field{\*\fldinst HYPERLINK \\l "x"}{\fldrslt a}}`, 'a'],
    ['more ends than groups', 'a}}b', 'ab'],
  ])('has %s', async (_, body, text) => {
    expect((await readDocument(Buffer.from(String.raw`{\rtf1\ansi\ansicpg1252 ${body}}`, 'latin1'))).pages).toEqual([text]);
  });

  test('without text says so', async () => {
    expect((await readDocument(Buffer.from('{\\rtf1 {\\pict 00}}'))).problem).toBe('It holds no text, only pictures perhaps.');
  });
});

test.each([
  ['is cut', (bytes: Buffer) => bytes.subarray(0, -40), 'It is damaged and cannot be read.'],
  [
    'has a changed byte',
    (bytes: Buffer) => Buffer.from(bytes.map((byte, at) => (at === 2_000 ? byte ^ 1 : byte))),
    'It is damaged and cannot be read.',
  ],
])('a document that %s says so', async (_, damage, problem) => {
  expect(await readDocument(damage(officeFile('report.docx')))).toEqual({ title: null, pages: [], unit: null, problem });
});

test('an empty, a locked and an old document say so, and other archives are not documents', async () => {
  expect((await readDocument(word('<w:p/>'))).problem).toBe('It holds no text, only pictures perhaps.');
  const locked = zip({ mimetype: 'application/vnd.oasis.opendocument.text', 'META-INF/manifest.xml': '<m:encryption-data/>' });
  expect((await readDocument(locked)).problem).toBe('It is locked with a password.');
  const old = Buffer.from('d0cf11e0a1b11ae1', 'hex');
  expect((await readDocument(old)).problem).toBe('Its text cannot be read: save it as .docx, .xlsx or .pptx, without a password.');
  expect([knownMediaType(old), knownMediaType(zip({ 'a.txt': 'a' }))]).toEqual(['application/x-ole-storage', 'application/zip']);
});

test.each([
  ['a tag without an end', `<w:p><w:t a="${'x'.repeat(10)}>`],
  ['a comment without an end', '<!-- '],
])('%s is damage, not a wait', async (_, body) => {
  expect((await readDocument(word(body))).problem).toBe('It is damaged and cannot be read.');
});

test('markup that was made to be slow is read in the time its size takes', async () => {
  const startedMs = performance.now();
  for (const piece of [
    '<w:p>',
    '<w:tbl><w:tr><w:tc>',
    '</w:p>',
    '&',
    '<a b="',
    "<a b='>'>",
    '<li>',
    '<table><tr><td>',
    '<a href="x:">',
    '<p style="display:',
  ])
    for (const made of [word, (text: string) => epub({ 'a.xhtml': text })]) await readDocument(made(piece.repeat(200_000)));
  for (const piece of [
    '{',
    '}',
    '\\\\',
    "\\'e4",
    '\\u1 ',
    '{\\v ',
    '\\cell ',
    '\\intbl a\\cell\\row',
    '{\\s1 Heading 1;',
    '{\\fldinst HYPERLINK "x:',
    '{\\fldrslt ',
    '{\\footnote ',
    '\\bin1 ',
  ])
    await readDocument(Buffer.from(`{\\rtf1{\\stylesheet ${piece.repeat(50_000)}}${piece.repeat(50_000)}`, 'latin1'));
  expect(performance.now() - startedMs).toBeLessThan(60_000);
});
