// Footnotes: [^1] in a line, and [^1]: with its text on a separate line. Rules for the parser; nothing is rendered here. Footnotes are
// marks and not links, because an answer has no addresses inside the window.

import type { Token, TokenizerThis } from 'marked';

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
export function findFootnote(source: string): number | undefined {
  const end = source.indexOf('\n\n');
  const at = (end === -1 ? source : source.slice(0, end)).search(/\n\[\^[\p{L}\p{N}_-]{1,20}\]:[ \t]/u);
  return at === -1 ? undefined : at + 1;
}

/** The possible start of the next mark in a line. */
export function findFootnoteMark(source: string): number | undefined {
  const at = source.indexOf('[^');
  return at === -1 ? undefined : at;
}

export function readFootnoteMark(source: string): FootnoteToken | undefined {
  const match = reference.exec(source);
  return match === null ? undefined : { type: 'footnoteMark', raw: match[0], mark: match[1] ?? '' };
}

export function readFootnote(this: TokenizerThis, source: string): FootnoteToken | undefined {
  const match = definition.exec(source);
  if (match === null) return undefined;
  const tokens = this.lexer.inline((match[2] ?? '').replaceAll(/\n[ \t]+/g, ' '));
  return { type: 'footnote', raw: match[0], mark: match[1] ?? '', tokens };
}
