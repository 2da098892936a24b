// For tests only: builds PDFs by hand, because no code in this project writes PDFs.

export interface CharacterSet {
  /** The name of the map from the bytes of a text to glyphs, such as `90ms-RKSJ-H`. */
  readonly encoding: string;
  /** The collection of glyphs: GB1, CNS1, Japan1 or Korea1. */
  readonly ordering: string;
}

/** A text on each page, in ASCII. */
export function pdfOf(pages: readonly string[]): Buffer {
  return build(
    pages.map((text) => `(${text})`),
    ['<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'],
  );
}

/** A PDF that names the character map of its font and does not contain the font, as many Chinese, Japanese and Korean ones. */
export function namedMapPdf(pages: readonly Uint8Array[], { encoding, ordering }: CharacterSet): Buffer {
  const info = `<< /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >>`;
  const box = '/FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93';
  return build(
    pages.map((bytes) => `<${Buffer.from(bytes).toString('hex')}>`),
    [
      `<< /Type /Font /Subtype /Type0 /BaseFont /Some-Light /Encoding /${encoding} /DescendantFonts [4 0 R] >>`,
      `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Some-Light /CIDSystemInfo ${info} /FontDescriptor 5 0 R /DW 1000 >>`,
      `<< /Type /FontDescriptor /FontName /Some-Light /Flags 6 ${box} >>`,
    ],
  );
}

/** The font is the first of `fontObjects`, which are numbered from 3. */
function build(texts: readonly string[], fontObjects: readonly string[]): Buffer {
  const first = 3 + fontObjects.length;
  const kids = texts.map((_, index) => `${first + index * 2} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${texts.length} >>`,
    ...fontObjects,
    ...texts.flatMap((text, index) => {
      const stream = `BT /F1 12 Tf 40 700 Td ${text} Tj ET`;
      const contents = `${first + 1 + index * 2} 0 R`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${contents} /Resources << /Font << /F1 3 0 R >> >> >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ];
    }),
  ];
  let file = '%PDF-1.4\n';
  const places: number[] = [];
  for (const [index, object] of objects.entries()) {
    places.push(file.length);
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const start = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')}`;
  return Buffer.from(`${file}trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`, 'latin1');
}
