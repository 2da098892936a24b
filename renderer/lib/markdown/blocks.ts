// Splits markdown into top-level blocks and keeps the finished ones while an answer streams, so that only the open block is parsed again.
// Never throws: text the parser rejects is shown as plain text.

import { Lexer, type Token, type Tokens } from 'marked';
import { findDetails, readDetails } from './details.ts';
import { findFootnote, findFootnoteMark, readFootnote, readFootnoteMark } from './footnotes.ts';
import { findInlineFormula, readBlockFormula, readInlineFormula } from './maths.ts';

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
