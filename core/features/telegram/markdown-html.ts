// Converts the agent's Markdown to the HTML of the Bot API, in pieces that each fit into one message. Never cuts inside a tag, an escape or
// a surrogate pair; closes code at the end of a piece and reopens it in the next. Pure; the output is always valid.

interface Run {
  readonly text: string;
  readonly formats: readonly Format[];
}

type Format = { readonly kind: 'b' | 'i' | 's' | 'code' | 'blockquote' } | { readonly kind: 'pre'; readonly language: string } | Link;
interface Link {
  readonly kind: 'a';
  readonly url: string;
}

/** The text of one message, as HTML and unformatted. */
export interface FormattedPiece {
  readonly html: string;
  readonly plain: string;
}

/**
 * Pieces of at most `lengthMax` UTF-16 units of shown text. Their joined plain texts are the whole text, except for white space at the
 * cuts.
 */
export function toTelegramPieces(markdown: string, lengthMax: number): FormattedPiece[] {
  const runs = readBlocks(markdown.replaceAll('\r\n', '\n').replaceAll('\0', ''));
  return cutRuns(runs, lengthMax).map((piece) => ({ html: piece.map(runToHtml).join(''), plain: piece.map(({ text }) => text).join('') }));
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function runToHtml({ text, formats }: Run): string {
  // An empty run shows nothing, so it gets no tag.
  if (text === '') return '';
  const inside = escapeHtml(text);
  return formats.reduceRight((html, format) => wrap(html, format), inside);
}

function wrap(html: string, format: Format): string {
  switch (format.kind) {
    case 'a':
      return `<a href="${escapeHtml(format.url).replaceAll('"', '&quot;')}">${html}</a>`;
    case 'pre':
      return format.language === '' ? `<pre>${html}</pre>` : `<pre><code class="language-${format.language}">${html}</code></pre>`;
    default:
      return `<${format.kind}>${html}</${format.kind}>`;
  }
}

const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`\n]*$/;

/** Recognizes fences, headings, quotes and lists; everything else is plain text. */
function readBlocks(source: string): Run[] {
  const lines = source.split('\n');
  const runs: Run[] = [];
  const breakLine = (): void => {
    if (runs.length > 0) runs.push({ text: '\n', formats: [] });
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const [, mark, language = ''] = fence.exec(line) ?? [];
    breakLine();
    if (mark === undefined) {
      runs.push(...readLine(line));
      // An empty first line counts as a line.
      if (runs.length === 0) runs.push({ text: '', formats: [] });
      continue;
    }
    const end = findFenceEnd(lines, at + 1, mark);
    const code = lines.slice(at + 1, end).join('\n');
    runs.push({ text: code, formats: [{ kind: 'pre', language: language.replaceAll(/[^A-Za-z0-9+#_-]/g, '').slice(0, 30) }] });
    at = end;
  }
  return runs;
}

function findFenceEnd(lines: readonly string[], from: number, mark: string): number {
  const closes = new RegExp(`^ {0,3}\\${mark[0] ?? '`'}{${mark.length},}[ \\t]*$`);
  for (let at = from; at < lines.length; at++) if (closes.test(lines[at] ?? '')) return at;
  return lines.length;
}

function readLine(line: string): Run[] {
  const heading = /^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$/.exec(line);
  if (heading !== null) return readWords(heading[1] ?? '', [{ kind: 'b' }]);
  const quote = /^ {0,3}>[ ]?(.*)$/.exec(line);
  if (quote !== null) return readWords(quote[1] ?? '', [{ kind: 'blockquote' }]);
  const item = /^(\s*)[-*+][ \t]+(.*)$/.exec(line);
  if (item !== null) return [{ text: `${item[1] ?? ''}• `, formats: [] }, ...readWords(item[2] ?? '', [])];
  return readWords(line, []);
}

/** The maximum nesting of formats. Deeper ones stay plain text. */
const DEPTH_MAX = 6;

const spans: readonly (readonly [pattern: RegExp, kind: 'b' | 'i' | 's'])[] = [
  [/^\*\*(?=\S)((?:\\.|[^\\])+?)(?<=\S)\*\*/, 'b'],
  [/^__(?=\S)((?:\\.|[^\\])+?)(?<=\S)__(?!\w)/, 'b'],
  [/^~~(?=\S)((?:\\.|[^\\])+?)(?<=\S)~~/, 's'],
  [/^\*(?=[^\s*])((?:\\.|[^\\])+?)(?<=[^\s*])\*(?!\*)/, 'i'],
  [/^_(?=[^\s_])((?:\\.|[^\\])+?)(?<=[^\s_])_(?!\w)/, 'i'],
];
const link = /^\[([^\]\n]{1,1000})\]\((https?:\/\/[^\s()<>"]{1,2000}|mailto:[^\s()<>"]{1,300})(?:[ ]+"[^"]*")?\)/;
const codeSpan = /^(`{1,3})(?!`)(.+?)(?<!`)\1(?!`)/;
const plainRun = /^(?:[^\\`*_~[]|(?<=\w)_(?=\w))+/;

function readWords(text: string, formats: readonly Format[]): Run[] {
  const runs: Run[] = [];
  let at = 0;
  let plain = '';
  const add = (more: readonly Run[]): void => {
    if (plain !== '') runs.push({ text: plain, formats });
    plain = '';
    runs.push(...more);
  };
  while (at < text.length) {
    const rest = text.slice(at, at + LINE_LOOK);
    const found = readSpan(rest, formats, /\w/.test(text[at - 1] ?? ''));
    if (found === null) {
      const words = plainRun.exec(rest)?.[0] ?? rest[0] ?? '';
      plain += words;
      at += words.length;
    } else {
      if (typeof found.runs === 'string') plain += found.runs;
      else add(found.runs);
      at += found.length;
    }
  }
  add([]);
  return runs;
}

/** The maximum distance, in characters, between the start and the end of a format. Limits the search; longer formats stay plain text. */
const LINE_LOOK = 1000;

interface Span {
  readonly length: number;
  readonly runs: readonly Run[] | string;
}

function readSpan(rest: string, formats: readonly Format[], isInWord: boolean): Span | null {
  switch (rest[0]) {
    case '\\': {
      const escaped = /^\\([!-/:-@[-`{-~])/.exec(rest);
      return escaped === null ? null : { length: 2, runs: escaped[1] ?? '' };
    }
    case '`': {
      // Code cannot be combined with other formats.
      const code = codeSpan.exec(rest);
      return code === null ? null : { length: code[0].length, runs: [{ text: code[2] ?? '', formats: [{ kind: 'code' }] }] };
    }
    case '[':
      return formats.length >= DEPTH_MAX ? null : readLink(rest, formats);
    case '*':
    case '~':
      return formats.length >= DEPTH_MAX ? null : readMarked(rest, formats);
    case '_':
      return formats.length >= DEPTH_MAX || isInWord ? null : readMarked(rest, formats);
    default:
      return null;
  }
}

function readLink(rest: string, formats: readonly Format[]): Span | null {
  const linked = formats.some(({ kind }) => kind === 'a') ? null : link.exec(rest);
  if (linked === null) return null;
  return { length: linked[0].length, runs: readWords(linked[1] ?? '', [...formats, { kind: 'a', url: linked[2] ?? '' }]) };
}

function readMarked(rest: string, formats: readonly Format[]): Span | null {
  for (const [pattern, kind] of spans) {
    const span = formats.some((one) => one.kind === kind) ? null : pattern.exec(rest);
    if (span !== null) return { length: span[0].length, runs: readWords(span[1] ?? '', [...formats, { kind }]) };
  }
  return null;
}

/** Fills pieces with runs. Cuts between paragraphs, lines or words if possible, otherwise anywhere except inside a character. */
function cutRuns(runs: readonly Run[], lengthMax: number): Run[][] {
  const pieces: Run[][] = [];
  let piece: Run[] = [];
  let left = lengthMax;
  const next = (): void => {
    pieces.push(piece);
    piece = [];
    left = lengthMax;
  };
  for (const { text, formats } of runs) {
    let rest = text;
    while (rest.length > left) {
      const at = findCut(rest, left, left === lengthMax);
      if (at > 0) piece.push({ text: rest.slice(0, at), formats });
      rest = rest.slice(at);
      next();
    }
    if (rest !== '') piece.push({ text: rest, formats });
    left -= rest.length;
  }
  if (piece.length > 0) next();
  // The server refuses messages that contain only white space.
  return pieces.filter((one) => one.some(({ text }) => text.trim() !== ''));
}

/**
 * The position at which the next piece starts. 0 moves the whole text to the next piece, which is not allowed if the current one is empty
 * (`isFresh`).
 */
function findCut(text: string, room: number, isFresh: boolean): number {
  const head = text.slice(0, room);
  for (const between of ['\n\n', '\n', ' ']) {
    const at = head.lastIndexOf(between);
    if (at > room / 2) return at + between.length;
  }
  if (!isFresh && room < 200) return 0;
  const last = head.charCodeAt(room - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return Math.max(isHalf ? room - 1 : room, isFresh ? 1 : 0);
}
