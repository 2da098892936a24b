// The text of a streaming answer for a screen reader: whole sentences, each once, without markdown marks and code. Pure.

/** Longer text is not announced at once; the answer itself can be read. */
export const spokenCharsMax = 600;

const sentenceEnd = /[.!?:…。！？]["'”’)\]]*(?=\s)|\n{2,}/g;
const fence = /(?:^|\n)(`{3,}|~{3,})([^\n`]*)\n[\s\S]*?(?:\n\1[^\n]*(?=\n|$)|$)/g;
const openFence = /(?:^|\n)(`{3,}|~{3,})[^\n`]*(?:\n(?:(?!\n\1)[\s\S])*)?$/;

export class SentenceFeed {
  readonly #codeNamed: (language: string) => string;
  #saidChars = 0;

  /** `codeNamed` returns the text announced instead of code; the language may be empty. */
  constructor(codeNamed: (language: string) => string) {
    this.#codeNamed = codeNamed;
  }

  /** The sentences finished since the last call, and the rest once the answer is over. Empty if there is nothing new. */
  next(text: string, isOver: boolean): string {
    const end = isOver ? text.length : lastEnd(text, this.#saidChars);
    if (end <= this.#saidChars) return '';
    const part = text.slice(this.#saidChars, end);
    this.#saidChars = end;
    return this.#plainWords(part);
  }

  #plainWords(markdown: string): string {
    const words = markdown
      .replace(fence, (_all, _mark, language: string) => `\n${this.#codeNamed(language.trim())}\n`)
      .replace(/!?\[([^\]\n]*)\]\([^)\n]*\)/g, '$1')
      .replace(/^\s*(?:#{1,6}|>|[-*+]|\d+[.)])\s+/gm, '')
      .replace(/^\s*\|?[\s:|-]+\|?\s*$/gm, '')
      .replace(/\*\*|__|`+|\|/g, '')
      .replace(/\s+/g, ' ')
      .trim();
    return words.length > spokenCharsMax ? `${words.slice(0, spokenCharsMax)} …` : words;
  }
}

/** The end of the last finished sentence that is not inside an open code block. */
function lastEnd(text: string, from: number): number {
  const rest = text.slice(from);
  const open = openFence.exec(rest);
  const readable = open === null ? rest : rest.slice(0, open.index + 1);
  let end = 0;
  for (const match of readable.matchAll(sentenceEnd)) end = match.index + match[0].length;
  return from + end;
}
