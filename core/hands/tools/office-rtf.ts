// Reads an RTF document as Markdown: headings, items of lists, tables and notes. Leaves out hidden and deleted text. Pure; the format is
// Microsoft's Rich Text Format 1.9.1.

import { visibleText } from './web-text.ts';
import type { DocumentText } from './document-text.ts';
import { OfficeBlocks } from './office-blocks.ts';

/** How the text of a group is read; a group inherits it. */
interface State {
  /** Where its text goes. */
  readonly into: 'text' | 'title' | 'styles' | 'fonts' | 'link' | 'nowhere';
  readonly isHidden: boolean;
  /** The number of characters that old readers show in place of a `\u`; they follow it. */
  readonly alternatives: number;
  readonly font: number;
  /** The text at the end of a note or a link; empty outside of them. */
  readonly tail: string;
}

const tokens = /\\([a-z]{1,32})(-?\d{1,9})? ?|\\'([\da-f]{2})|\\([^])|([{}])|[^\\{}]+/iy;
const unread =
  'colortbl listtable listoverridetable revtbl rsidtbl generator pict object header headerl headerr headerf footer footerl footerr footerf ' +
  'nonshppict xe tc themedata info listtext pntext bkmkstart bkmkend filetbl';
const nowhere: ReadonlySet<string> = new Set(unread.split(' '));
const signs = { tab: '\t', line: '\n', emdash: '—', endash: '–', bullet: '•', lquote: '‘', rquote: '’', ldblquote: '“', rdblquote: '”' };
const breaks: ReadonlySet<string> = new Set(['par', 'sect', 'page']);
const letters: Readonly<Record<string, string>> = { ...signs, '~': '\u00A0', _: '-', '\\': '\\', '{': '{', '}': '}' };
/** The code pages of Windows for the scripts of fonts, by the number of the script. */
const pagesOfScripts = new Map(
  '128:932 129:949 134:936 136:950 161:1253 162:1254 177:1255 178:1256 186:1257 204:1251 222:874 238:1250'
    .split(' ')
    .map((pair) => pair.split(':').map(Number) as [script: number, codePage: number]),
);
const encodings: Readonly<Record<number, string>> = { 932: 'shift_jis', 936: 'gb18030', 949: 'euc-kr', 950: 'big5', 65001: 'utf-8' };
const TITLE_CHARS_MAX = 200;

export function readRtf(bytes: Uint8Array): DocumentText {
  const flow = new RtfFlow();
  const source = Buffer.from(bytes).toString('latin1');
  const token = new RegExp(tokens);
  for (let found = token.exec(source); found !== null; found = token.exec(source)) {
    const [all, word, number, hex, symbol, brace] = found;
    if (brace === '{') flow.openGroup();
    else if (brace === '}') flow.closeGroup();
    else if (word === 'bin') token.lastIndex += Math.max(0, Number(number ?? 0));
    else if (word !== undefined) flow.word(word, number === undefined ? null : Number(number));
    else if (hex !== undefined) flow.bytes(String.fromCharCode(Number.parseInt(hex, 16)));
    else if (symbol !== undefined) flow.symbol(symbol);
    else flow.bytes(all.replaceAll(/[\r\n]+/g, ''));
  }
  return flow.document();
}

class RtfFlow {
  readonly #blocks = new OfficeBlocks();
  readonly #outer: State[] = [];
  #state: State = { into: 'text', isHidden: false, alternatives: 1, font: -1, tail: '' };
  readonly #headings = new Map<number, string>();
  readonly #charsets = new Map<number, string>();
  #codePage = 'windows-1252';
  #pending = '';
  #skips = 0;
  #title = '';
  /** The name and the number of the style that is being defined. */
  #name = '';
  #style = 0;
  #mark = '';
  #link = '';
  /** The paragraph is in a cell of a table. */
  #isInCell = false;
  #isTable = false;
  #isRow = false;

  constructor() {
    this.#blocks.beginParagraph();
  }

  openGroup(): void {
    this.#flush();
    this.#skips = 0;
    this.#outer.push(this.#state);
  }

  closeGroup(): void {
    this.#flush();
    this.#skips = 0;
    const outer = this.#outer.pop();
    if (outer === undefined) return;
    if (this.#state.tail !== outer.tail) this.#add(this.#state.tail);
    if (this.#state.into === 'styles') this.#endStyle();
    this.#state = outer;
  }

  /** A byte of text, or several, in the encoding of the font. */
  bytes(text: string): void {
    const skipped = Math.min(this.#skips, text.length);
    this.#skips -= skipped;
    this.#pending += skipped === 0 ? text : text.slice(skipped);
  }

  symbol(symbol: string): void {
    if (symbol === '*') this.#change({ into: 'nowhere' });
    else if (symbol === '\n' || symbol === '\r') this.word('par', null);
    else if (letters[symbol] !== undefined) this.#letter(letters[symbol]);
  }

  word(word: string, number: number | null): void {
    const letter = letters[word];
    if (letter !== undefined) return this.#letter(letter);
    this.#flush();
    if (this.#destination(word) || this.#format(word, number ?? 1)) return;
    this.#layout(word, number ?? 0);
  }

  /** Returns false for a word that begins no text of another kind. */
  #destination(word: string): boolean {
    const { into } = this.#state;
    if (word === 'fonttbl') this.#change({ into: 'fonts' });
    else if (word === 'stylesheet') this.#change({ into: 'styles' });
    else if (word === 'title' && into !== 'text') this.#change({ into: 'title' });
    else if (word === 'footnote' && into === 'text') this.#begin(' [note: ', ']');
    else if (word === 'annotation' && this.#outer.at(-1)?.into === 'text') this.#begin(' [comment: ', ']');
    else if (word === 'fldinst' || word === 'fldrslt') this.#openLink(word);
    else return this.#leaveOut(word);
    return true;
  }

  #leaveOut(word: string): boolean {
    if (!nowhere.has(word)) return false;
    // The sign or the number of an item, as it is shown.
    if ((word === 'listtext' || word === 'pntext') && this.#state.into === 'text') this.#setMark('- ');
    this.#change({ into: 'nowhere' });
    return true;
  }

  #openLink(word: string): void {
    const target = word === 'fldrslt' ? /HYPERLINK\s+"([a-z][a-z\d+.-]*:[^"]*)"/i.exec(this.#link)?.[1] : undefined;
    this.#link = '';
    if (word === 'fldinst') this.#change({ into: 'link' });
    else if (target !== undefined && this.#state.into === 'text') this.#begin('[', `](${target})`);
  }

  /** Returns false for a word that does not say how text is read. */
  #format(word: string, number: number): boolean {
    if (word === 'ansicpg') this.#codePage = encodingOf(number);
    else if (word === 'f') this.#change({ font: number });
    else if (word === 'fcharset') this.#setCharset(pagesOfScripts.get(number));
    else if (word === 'uc') this.#change({ alternatives: Math.max(0, number) });
    else if (word === 'v' || word === 'deleted') this.#change({ isHidden: number !== 0 });
    else if (word === 'plain') this.#change({ isHidden: false });
    else if (word === 'u') {
      this.#letter(String.fromCharCode(number & 0xffff));
      this.#skips = this.#state.alternatives;
    } else return false;
    return true;
  }

  #setCharset(codePage: number | undefined): void {
    if (codePage !== undefined) this.#charsets.set(this.#state.font, encodingOf(codePage));
  }

  #layout(word: string, number: number): void {
    const { into, tail } = this.#state;
    if (into === 'styles') this.#define(word, number);
    if (into !== 'text') return;
    if (breaks.has(word)) this.#endParagraph(tail !== '' || this.#isInCell);
    else if (word === 'cell') this.#endCell();
    else if (word === 'row') this.#isRow = false;
    else if (word === 'intbl') this.#isInCell = true;
    else if (word === 's') this.#setMark(this.#headings.get(number) ?? '');
    else if (word === 'outlinelevel') this.#setMark(headingMark(number + 1));
    else if (word === 'pard' && tail === '') {
      this.#isInCell = false;
      this.#setMark('');
    }
  }

  #define(word: string, number: number): void {
    if (word === 's') this.#style = number;
    else if (word === 'outlinelevel') this.#headings.set(this.#style, headingMark(number + 1));
  }

  #setMark(mark: string): void {
    this.#mark = mark;
    this.#blocks.mark(mark);
  }

  #endParagraph(isInside: boolean): void {
    if (isInside) return this.#add(' ');
    this.#endTable();
    this.#blocks.endParagraph();
    this.#blocks.beginParagraph(this.#mark.startsWith('#') ? this.#mark : '');
  }

  #endCell(): void {
    if (!this.#isTable) this.#blocks.beginTable();
    if (!this.#isRow) this.#blocks.beginRow();
    this.#isTable = true;
    this.#isRow = true;
    this.#blocks.beginCell();
    this.#blocks.endParagraph();
    this.#blocks.endCell();
    this.#blocks.beginParagraph();
  }

  #endTable(): void {
    if (this.#isTable) this.#blocks.endTable();
    this.#isTable = false;
    this.#isRow = false;
  }

  #begin(head: string, tail: string): void {
    this.#change({ into: 'text' });
    this.#add(head);
    this.#change({ tail });
  }

  #add(text: string): void {
    if (this.#state.into === 'text' && !this.#state.isHidden) this.#blocks.add(text);
  }

  #letter(letter: string): void {
    this.#flush();
    this.#put(letter);
  }

  #flush(): void {
    if (this.#pending === '') return;
    const text = this.#pending;
    this.#pending = '';
    this.#put(/[\x80-\xff]/.test(text) ? this.#decode(text) : text);
  }

  #decode(text: string): string {
    return new TextDecoder(this.#charsets.get(this.#state.font) ?? this.#codePage).decode(Buffer.from(text, 'latin1'));
  }

  #put(text: string): void {
    const { into } = this.#state;
    if (into === 'title') this.#title += text;
    else if (into === 'styles') this.#name += text;
    else if (into === 'link') this.#link += text;
    else this.#add(text);
  }

  #endStyle(): void {
    const level = /^title;?$/i.test(this.#name) ? '1' : /^heading (\d)/i.exec(this.#name)?.[1];
    if (level !== undefined && !this.#headings.has(this.#style)) this.#headings.set(this.#style, headingMark(Number(level)));
    this.#name = '';
    this.#style = 0;
  }

  #change(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
  }

  document(): DocumentText {
    this.#flush();
    this.#endTable();
    this.#blocks.endParagraph();
    const text = visibleText(this.#blocks.toString());
    const title = visibleText(this.#title).trim().slice(0, TITLE_CHARS_MAX);
    const problem = text.trim() === '' ? 'It holds no text, only pictures perhaps.' : null;
    return { title: title === '' ? null : title, pages: [text], unit: null, problem };
  }
}

function encodingOf(codePage: number): string {
  const isOfWindows = codePage === 874 || (codePage >= 1250 && codePage <= 1258);
  return encodings[codePage] ?? (isOfWindows ? `windows-${codePage}` : 'windows-1252');
}

/** Body text has the level 10. */
function headingMark(level: number): string {
  return level >= 1 && level <= 9 ? `${'#'.repeat(Math.min(level, 6))} ` : '';
}
