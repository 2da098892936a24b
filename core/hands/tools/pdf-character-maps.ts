// Maps of Chinese, Japanese and Korean characters for PDFs that name such a map instead of containing it. The real maps lead from the bytes
// of a text to the glyphs of a font and take two megabytes. The text alone needs none of them: here each glyph has a number above those of
// the real fonts, and both directions are computed from Unicode and the decoders of Node.
// https://developer.adobe.com/pdf (ISO 32000-2, 9.7.5.2) lists the names.

type Collection = 'GB1' | 'CNS1' | 'Japan1' | 'Korea1';

/** The collections of glyphs, with a number above all of their glyphs. */
const firstOwn: Readonly<Record<Collection, number>> = { GB1: 30_600, CNS1: 30_600, Japan1: 30_600, Korea1: 19_000 };

type Run = readonly [first: number, last: number];
const HANGUL: Run = [0xac_00, 0xd7_a3];
const RARE_HAN: Run = [0x34_00, 0x4d_bf];
/** Latin to Cyrillic, signs and kana, Han, compatible Han, vertical forms, full and half width. */
const runs: readonly Run[] = [
  [0xa0, 0x4_ff],
  [0x20_00, 0x33_ff],
  [0x4e_00, 0x9f_ff],
  [0xf9_00, 0xfa_ff],
  [0xfe_30, 0xfe_4f],
  [0xff_00, 0xff_ef],
];

/** In each collection these characters have the glyphs 1 to 95, whose widths a PDF states. */
const ASCII: Run = [0x20, 0x7e];

/** Glyphs that a PDF names by their number in a real font become characters for private use, which text has no use for. */
const UNKNOWN = 0xe0_00;
/** The first glyph after ASCII, which has no character here. */
const UNKNOWN_GLYPH = 0x60;
export const unknownCharacters = /[\u{e000}-\u{f8ff}]/gu;

interface Bytes {
  /** The label of the encoding for `TextDecoder`. */
  readonly label: string;
  /** First and last code of each length, as hexadecimal digits. */
  readonly codes: readonly (readonly [first: string, last: string])[];
  /** Is added to each byte before it is decoded. */
  readonly plus?: number;
}

const gbk: Bytes = {
  label: 'gb18030',
  codes: [
    ['00', '80'],
    ['8140', 'fefe'],
  ],
};
const big5: Bytes = {
  label: 'big5',
  codes: [
    ['00', '80'],
    ['8140', 'fefe'],
  ],
};
const uhc: Bytes = {
  label: 'euc-kr',
  codes: [
    ['00', '80'],
    ['8141', 'fefe'],
  ],
};
const shiftJis: Bytes = {
  label: 'shift_jis',
  codes: [
    ['00', '80'],
    ['a0', 'df'],
    ['8140', '9ffc'],
    ['e040', 'fcfc'],
  ],
};
const eucJp: Bytes = {
  label: 'euc-jp',
  codes: [
    ['00', '80'],
    ['8ea0', '8edf'],
    ['a1a1', 'fefe'],
  ],
};
const jis: Bytes = { label: 'euc-jp', codes: [['2121', '7e7e']], plus: 0x80 };

/** By the name of a map without its direction. */
const encodings: readonly (readonly [name: RegExp, collection: Collection, bytes: Bytes | 'utf-16'])[] = [
  [/^GBK?p?(?:c|2K)?(?:-EUC)?$/, 'GB1', gbk],
  [/^UniGB-U(?:CS2|TF16)$/, 'GB1', 'utf-16'],
  [/^(?:B5pc|HKscs-B5|ETenms-B5|ETen-B5)$/, 'CNS1', big5],
  [/^UniCNS-U(?:CS2|TF16)$/, 'CNS1', 'utf-16'],
  [/^(?:83pv|90msp?|90pv|Add|Ext)-RKSJ$/, 'Japan1', shiftJis],
  [/^EUC$/, 'Japan1', eucJp],
  [/^$/, 'Japan1', jis],
  [/^UniJIS(?:2004|X0213|X02132004)?-U(?:CS2|TF16)(?:-HW)?$/, 'Japan1', 'utf-16'],
  [/^KSC(?:pc-EUC|-EUC|ms-UHC(?:-HW)?)$/, 'Korea1', uhc],
  [/^UniKS-U(?:CS2|TF16)$/, 'Korea1', 'utf-16'],
];

/**
 * The map of this name in the form of a PDF file. Null for a name without a map here.
 * @param name `90ms-RKSJ-H` leads from bytes to glyphs, `Adobe-Japan1-UCS2` from glyphs to UTF-16
 */
export function characterMap(name: string): string | null {
  const back = /^Adobe-(GB1|CNS1|Japan1|Korea1)-UCS2$/.exec(name)?.[1];
  if (back !== undefined) return toUnicode(back as Collection);
  const [, set = '', direction] = /^(?:(.+)-)?([HV])$/.exec(name) ?? [];
  const found = direction === undefined ? undefined : encodings.find(([names]) => names.test(set));
  if (found === undefined) return null;
  const [, collection, bytes] = found;
  const lines = bytes === 'utf-16' ? fromUtf16(collection) : fromBytes(bytes, collection);
  return mapFile([...(direction === 'V' ? ['/WMode 1 def'] : []), ...lines]);
}

/** The runs of characters with the number of the first glyph of each. */
function glyphRuns(collection: Collection): { first: number; last: number; glyph: number }[] {
  let glyph = firstOwn[collection];
  const own = [...runs, collection === 'Korea1' ? HANGUL : RARE_HAN].map(([first, last]) => {
    const run = { first, last, glyph };
    glyph += last - first + 1;
    return run;
  });
  return [{ first: ASCII[0], last: ASCII[1], glyph: 1 }, ...own];
}

function toUnicode(collection: Collection): string {
  const ranges = glyphRuns(collection).map(
    ({ first, last, glyph }) => `<${hex(glyph, 2)}> <${hex(glyph + last - first, 2)}> <${hex(first, 2)}>`,
  );
  // Without an entry, the number of a glyph would be taken for its character.
  const unknown: string[] = [];
  for (let glyph = UNKNOWN_GLYPH; glyph < firstOwn[collection]; glyph = (glyph | 0xff) + 1) {
    const last = Math.min(glyph | 0xff, firstOwn[collection] - 1);
    unknown.push(`<${hex(glyph, 2)}> <${hex(last, 2)}> <${hex(UNKNOWN + (glyph & 0xff), 2)}>`);
  }
  return mapFile([...codeSpaces([['0000', 'ffff']]), 'beginbfrange', ...ranges, ...unknown, 'endbfrange']);
}

function fromUtf16(collection: Collection): string[] {
  const ranges = glyphRuns(collection).map(({ first, last, glyph }) => `<${hex(first, 2)}> <${hex(last, 2)}> ${glyph}`);
  const spaces = codeSpaces([
    ['0000', 'd7ff'],
    ['d800dc00', 'dbffdfff'],
    ['e000', 'ffff'],
  ]);
  return [...spaces, 'begincidrange', ...ranges, 'endcidrange'];
}

function fromBytes({ label, codes, plus = 0 }: Bytes, collection: Collection): string[] {
  const decoder = new TextDecoder(label);
  const more = collection === 'Korea1' ? moreHangul(decoder) : null;
  const glyphs = glyphRuns(collection);
  const lines: string[] = [];
  for (const [first, last] of codes) {
    const length = first.length / 2;
    for (let code = Number.parseInt(first, 16); code <= Number.parseInt(last, 16); code++) {
      const bytes = length === 1 ? [code] : [code >> 8, code & 0xff];
      const text = decoder.decode(Uint8Array.from(bytes, (byte) => byte + plus));
      const character = more?.get(code) ?? (text.length === 1 ? text.charCodeAt(0) : -1);
      const run = glyphs.find((one) => one.first <= character && character <= one.last);
      lines.push(`<${hex(code, length)}> ${run === undefined ? UNKNOWN_GLYPH : run.glyph + character - run.first}`);
    }
  }
  return [...codeSpaces(codes), 'begincidchar', ...lines, 'endcidchar'];
}

/**
 * The syllables that Windows adds to EUC-KR, which the decoder of Node does not know: all that are missing, in the order of Unicode, in the
 * codes that are free.
 */
function moreHangul(decoder: InstanceType<typeof TextDecoder>): ReadonlyMap<number, number> {
  const known = new Set<number>();
  for (let code = 0xa1_a1; code <= 0xfe_fe; code++) known.add(decoder.decode(Uint8Array.of(code >> 8, code & 0xff)).charCodeAt(0));
  const codes = new Map<number, number>();
  let syllable = HANGUL[0];
  for (let code = 0x81_41; syllable <= HANGUL[1]; code++) {
    const second = code & 0xff;
    const isLetter = (second >= 0x41 && second <= 0x5a) || (second >= 0x61 && second <= 0x7a);
    const isFree = isLetter || (second >= 0x81 && second <= (code < 0xa1_00 ? 0xfe : 0xa0));
    if (!isFree) continue;
    while (known.has(syllable)) syllable += 1;
    if (syllable <= HANGUL[1]) codes.set(code, syllable);
    syllable += 1;
  }
  return codes;
}

function codeSpaces(codes: Bytes['codes']): string[] {
  return ['begincodespacerange', ...codes.map(([first, last]) => `<${first}> <${last}>`), 'endcodespacerange'];
}

function mapFile(lines: readonly string[]): string {
  return ['begincmap', ...lines, 'endcmap', ''].join('\n');
}

function hex(number: number, bytes: number): string {
  return number.toString(16).padStart(bytes * 2, '0');
}
