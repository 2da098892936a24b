// Splits markdown into top-level blocks and keeps the finished ones while an answer streams, so that only the open block is parsed again.
// Never throws: text the parser rejects is shown as plain text.

import { Lexer, type Token, type TokenizerThis, type Tokens } from 'marked';

export type Block =
  | { readonly kind: 'markup'; readonly token: Token }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'formula'; readonly text: string }
  /** A collapsible section, as markdown. */
  | { readonly kind: 'details'; readonly summary: string; readonly text: string }
  | { readonly kind: 'plain'; readonly text: string };

/** Longer texts are shown as plain text, because parsing them would block the window. */
export const markdownCharsMax = 200_000;
/** A paragraph or list longer than this is shown as plain text. */
const blockCharsMax = 50_000;
/** Quotes and lists nested deeper than this exhaust the parser's stack. */
const deepNesting = /(?:^|\n)[ \t]*(?:>[ \t]*|[-*+][ \t]+|\d{1,9}[.)][ \t]+){40}/;
/** The same across lines: each level of a list is parsed once for every level around it. */
const deepIndent = /(?:^|\n)[ \t]{160,}(?:[-*+]|\d{1,9}[.)])[ \t]/;
/** A longer list is several blocks, so that a growing one is not rendered again as a whole. */
const listItemsMax = 100;
const openBracketsMax = 2000;
/** Without brackets in its label, as the parser reads it; otherwise each open bracket would be followed to the end of the text. */
const linkDefinition = /^ {0,3}\[(?:\\[\s\S]|[^[\]\\])+\]:/m;

export function toBlocks(text: string): Block[] {
  if (text === '') return [];
  if (text.length > markdownCharsMax || isHostile(text)) return [{ kind: 'plain', text }];
  try {
    return lex(normalise(text)).flatMap(toBlock);
  } catch {
    // The parser ran out of stack or rejected the text; show it as plain text.
    return [{ kind: 'plain', text }];
  }
}

/** Accepts a growing text and returns its blocks; finished blocks keep their identity between calls. */
export class BlockStream {
  #frozen: Block[] = [];
  #frozenChars = 0;
  #frozenText = '';
  /** The blocks of the latest text. */
  #latest: readonly Block[] = [];

  update(source: string): readonly Block[] {
    const text = normalise(source);
    if (!text.startsWith(this.#frozenText)) this.reset();
    if (text.length > markdownCharsMax || isHostile(text.slice(this.#frozenChars))) {
      return [...this.#frozen, { kind: 'plain', text: text.slice(this.#frozenChars) }];
    }
    try {
      return (this.#latest = this.#parse(text));
    } catch {
      return [...this.#frozen, { kind: 'plain', text: text.slice(this.#frozenChars) }];
    }
  }

  /**
   * The blocks of the complete text, parsed as a whole. Those that are as before keep their identity, so they are not rendered again.
   */
  finish(text: string): readonly Block[] {
    return this.#keep(toBlocks(text), text, 0);
  }

  reset(): void {
    this.#frozen = [];
    this.#frozenChars = 0;
    this.#frozenText = '';
    this.#latest = [];
  }

  #parse(text: string): readonly Block[] {
    const rest = text.slice(this.#frozenChars);
    const tokens = lex(rest);
    // The last two stay open: a blank line after a list may still be followed by its next item.
    const closed = tokens.slice(0, -2);
    for (const token of closed) {
      this.#frozen.push(...toBlock(token));
      this.#frozenChars += token.raw.length;
    }
    this.#frozenText = text.slice(0, this.#frozenChars);
    const open = tokens.slice(closed.length).flatMap(toBlock);
    return [...this.#frozen, ...this.#keep(open, rest, this.#frozen.length)];
  }

  /** Replaces blocks by equal ones of the latest text. A definition of a link changes blocks that were read before it. */
  #keep(blocks: readonly Block[], source: string, from: number): readonly Block[] {
    const latest = this.#latest;
    if (latest.length <= from || linkDefinition.test(source)) return blocks;
    return blocks.map((block, index) => {
      const before = latest[from + index];
      return isSameMarkup(block, before) ? before : block;
    });
  }
}

function listParts(list: Tokens.List): Tokens.List[] {
  return Array.from({ length: Math.ceil(list.items.length / listItemsMax) }, (_, part) => {
    const first = part * listItemsMax;
    const items = list.items.slice(first, first + listItemsMax);
    return { ...list, items, start: list.start === '' ? '' : list.start + first, raw: items.map(({ raw }) => raw).join('') };
  });
}

function isSameMarkup(block: Block, before: Block | undefined): before is Block {
  return block.kind === 'markup' && before?.kind === 'markup' && block.token.raw === before.token.raw;
}

function lex(text: string): Token[] {
  return new Lexer({ gfm: true, breaks: false, extensions }).lex(text);
}

/** Extensions in the parser's own format: by level, with functions that find where an inline one may begin. */
const extensions = {
  renderers: {},
  childTokens: {},
  block: [readBlockFormula, readFootnote, readDetails],
  startBlock: [findFootnote, findDetails],
  inline: [readInlineFormula, readFootnoteMark],
  startInline: [findInlineFormula, findFootnoteMark],
};

// The parser would do this itself, and its raw lengths would then differ from ours.
function normalise(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

function toBlock(token: Token): Block[] {
  if (token.type === 'space') return [];
  if (token.type === 'code') {
    const language = typeof token['lang'] === 'string' ? token['lang'].trim().split(/\s/, 1)[0] : '';
    return [{ kind: 'code', language: language ?? '', text: typeof token['text'] === 'string' ? token['text'] : '' }];
  }
  if (token.type === 'formulaBlock') return [{ kind: 'formula', text: typeof token['text'] === 'string' ? token['text'] : '' }];
  if (token.type === 'details') return [{ kind: 'details', summary: String(token['summary']), text: String(token['text']) }];
  if (token.type === 'list' && (token as Tokens.List).items.length > listItemsMax) return listParts(token as Tokens.List).flatMap(toBlock);
  return [token.raw.length > blockCharsMax ? { kind: 'plain', text: token.raw } : { kind: 'markup', token }];
}

function isHostile(text: string): boolean {
  if (deepNesting.test(text) || deepIndent.test(text)) return true;
  let open = 0;
  for (const char of text) {
    if (char === '[' || char === '!') open++;
    else if (char === ']' || char === '\n') open = Math.max(0, open - 1);
    if (open > openBracketsMax) return true;
  }
  return false;
}

// Parses a collapsible section of an answer, as models write it: <details> with its <summary>, and markdown in between. Pure; the tags
// themselves never reach the page.

const head = /^ {0,3}<details(?: open)?>\s*<summary>([^\n]{1,500}?)<\/summary>[ \t]*\n?/i;
/** Matches within single lines, so that the cost does not grow with the text that follows. */
const mark = /^ {0,3}(?:```|~~~).*$|<(\/?)details(?: open)?>/gim;

/** For the parser: the next position in a paragraph where a section may begin. */
function findDetails(source: string): number | undefined {
  const end = source.indexOf('\n\n');
  const at = (end === -1 ? source : source.slice(0, end)).search(/\n {0,3}<details(?: open)?>/i);
  return at === -1 ? undefined : at + 1;
}

/** Reads up to the end tag; without one, as while an answer streams, the section contains all following text. */
function readDetails(source: string): Tokens.Generic | undefined {
  const [begin, summary = ''] = head.exec(source) ?? [];
  if (begin === undefined) return undefined;
  const about = { type: 'details', summary: plainText(summary) };
  const end = findEnd(source);
  if (end === null) return { ...about, raw: source, text: source.slice(begin.length) };
  return { ...about, raw: source.slice(0, end.to), text: source.slice(begin.length, end.from) };
}

/** Tags inside code are text. */
function findEnd(source: string): { readonly from: number; readonly to: number } | null {
  let depth = 0;
  let isCode = false;
  for (const { 0: found, 1: slash, index } of source.matchAll(mark)) {
    if (slash === undefined) isCode = !isCode;
    else if (!isCode) depth += slash === '' ? 1 : -1;
    if (depth === 0) return { from: index, to: index + found.length };
  }
  return null;
}

function plainText(summary: string): string {
  return summary.replaceAll(/<\/?[a-z]+\d?>|\*\*|__|`/gi, '').trim();
}

// Footnotes: [^1] in a line, and [^1]: with its text on a separate line. Rules for the parser; nothing is rendered here. Footnotes are
// marks and not links, because an answer has no addresses inside the window.

const reference = /^\[\^([\p{L}\p{N}_-]{1,20})\](?!:)/u;
/** The text continues over indented lines. */
const definition = /^\[\^([\p{L}\p{N}_-]{1,20})\]:[ \t]+([^\n]+(?:\n[ \t]{2,}[^\n]+)*)(?:\n+|$)/u;

interface FootnoteToken {
  readonly type: 'footnoteMark' | 'footnote';
  readonly raw: string;
  readonly mark: string;
  readonly tokens?: Token[];
}

/** The start of a footnote inside a paragraph, without an empty line before it. */
function findFootnote(source: string): number | undefined {
  const end = source.indexOf('\n\n');
  const at = (end === -1 ? source : source.slice(0, end)).search(/\n\[\^[\p{L}\p{N}_-]{1,20}\]:[ \t]/u);
  return at === -1 ? undefined : at + 1;
}

/** The possible start of the next mark in a line. */
function findFootnoteMark(source: string): number | undefined {
  const at = source.indexOf('[^');
  return at === -1 ? undefined : at;
}

function readFootnoteMark(source: string): FootnoteToken | undefined {
  const match = reference.exec(source);
  return match === null ? undefined : { type: 'footnoteMark', raw: match[0], mark: match[1] ?? '' };
}

function readFootnote(this: TokenizerThis, source: string): FootnoteToken | undefined {
  const match = definition.exec(source);
  if (match === null) return undefined;
  const tokens = this.lexer.inline((match[2] ?? '').replaceAll(/\n[ \t]+/g, ' '));
  return { type: 'footnote', raw: match[0], mark: match[1] ?? '', tokens };
}

// Finds formulas in markdown: $…$ and \(…\) in a line, $$…$$ and \[…\] as a block. Rules for the parser; nothing is rendered here. A dollar
// sign means money unless it directly precedes text, its partner directly follows text, and no digit comes after (as in pandoc).

/** Longer ones are shown as text. */
const sourceMax = 4000;
const inlineRules: readonly RegExp[] = [
  /^\$\$(?!\s*\$)([^$]{1,4000}?)\$\$/,
  /^\$(?![\s$])((?:\\[^\n]|[^\\$\n]){1,1000}?)(?<![\s\\])\$(?!\d)/,
  /^\\\(((?:[^\\\n]|\\(?!\)))[^\n]{0,1000}?)\\\)/,
];
const blockRules: readonly RegExp[] = [/^\$\$\s*([^$]{1,4000}?)\s*\$\$[ \t]*(?:\n+|$)/, /^\\\[\s*([\s\S]{1,4000}?)\s*\\\][ \t]*(?:\n+|$)/];

interface FormulaToken {
  readonly type: 'formula' | 'formulaBlock';
  readonly raw: string;
  readonly text: string;
}

function firstMatch(rules: readonly RegExp[], source: string): RegExpExecArray | null {
  for (const rule of rules) {
    const match = rule.exec(source);
    if (match !== null && (match[1]?.length ?? 0) <= sourceMax) return match;
  }
  return null;
}

function toToken(type: FormulaToken['type'], match: RegExpExecArray | null): FormulaToken | undefined {
  return match === null ? undefined : { type, raw: match[0], text: (match[1] ?? '').trim() };
}

/** The possible start of the next formula in a line. */
function findInlineFormula(source: string): number | undefined {
  const found = [source.indexOf('$'), source.indexOf('\\(')].filter((at) => at !== -1);
  return found.length === 0 ? undefined : Math.min(...found);
}

function readInlineFormula(source: string): FormulaToken | undefined {
  return toToken('formula', firstMatch(inlineRules, source));
}

function readBlockFormula(source: string): FormulaToken | undefined {
  return toToken('formulaBlock', firstMatch(blockRules, source));
}
