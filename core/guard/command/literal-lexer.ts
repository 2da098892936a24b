// Our own parser of a line, independent of any shell parser. Returns words of literal text, or the first thing that is not literal. Does
// not know what a shell would do with the rest; rejects everything that is not listed here.

import { err, ok, type Result } from '../../base/result.ts';

export interface LiteralWord {
  readonly text: string;
  /** True if no part of the word is in quotes. */
  readonly isBare: boolean;
}

const WORDS_MAX = 512;
/** A longer run of blanks can push the rest of a line out of view. */
const BLANKS_MAX = 32;

const bare = /^[A-Za-z0-9_./:=,@%+^-]$/;

const metaProblems: Readonly<Record<string, string>> = {
  ';': 'it chains several commands',
  '|': 'it pipes one command into another',
  '(': 'it contains a group of commands',
  ')': 'it contains a group of commands',
  '`': 'it contains a command substitution',
  '{': 'it contains a brace expansion',
  '}': 'it contains a brace expansion',
  '*': 'it contains a pattern the shell replaces by file names',
  '?': 'it contains a pattern the shell replaces by file names',
  '[': 'it contains a pattern the shell replaces by file names',
  ']': 'it contains a pattern the shell replaces by file names',
  '\n': 'it has more than one line',
  '\r': 'it has more than one line',
};

/** Returns the words of a list entry. Returns null if there are none, or the entry is more than literal words. */
export function literalWords(entry: string): readonly string[] | null {
  const lexed = lexLiteral(entry.trim());
  return lexed.ok && lexed.value.length > 0 ? lexed.value.map(({ text }) => text) : null;
}

/** Returns the words of a line, or why the line is more than literal words. */
export function lexLiteral(line: string): Result<readonly LiteralWord[], string> {
  const lexer = new Lexer(line);
  const problem = lexer.run();
  return problem === null ? ok(lexer.words) : err(problem);
}

class Lexer {
  readonly words: LiteralWord[] = [];
  readonly #line: string;
  #at = 0;
  #blanks = 0;
  #text = '';
  #isInWord = false;
  #isBare = true;

  constructor(line: string) {
    this.#line = line;
  }

  run(): string | null {
    while (this.#at < this.#line.length) {
      const problem = this.#step(this.#line[this.#at] ?? '');
      if (problem !== null) return problem;
    }
    this.#endWord();
    return this.words.length > WORDS_MAX ? `it has more than ${WORDS_MAX} words` : null;
  }

  #step(character: string): string | null {
    if (character === ' ' || character === '\t') return this.#blank();
    this.#blanks = 0;
    if (character === "'") return this.#singleQuoted();
    if (character === '"') return this.#doubleQuoted();
    if (character === '\\') return this.#escaped();
    const problem = this.#bareProblem(character);
    if (problem !== null) return problem;
    this.#take(character);
    this.#at += 1;
    return null;
  }

  /** In an argument, a backslash makes any printable ASCII character literal, in every shell. */
  #escaped(): string | null {
    const next = this.#line[this.#at + 1] ?? '';
    const isProgram = this.words.length === 0;
    if (isProgram || !/^[\x20-\x7e]$/.test(next)) return 'it contains a backslash outside quotes';
    this.#take(next);
    this.#quoted(this.#at + 2);
    return null;
  }

  #blank(): string | null {
    this.#endWord();
    this.#at += 1;
    this.#blanks += 1;
    return this.#blanks > BLANKS_MAX ? 'a long run of blanks could hide what follows' : null;
  }

  /**
   * Returns whether a sign is literal because it is a whole word: `[ -f x ]`, and `{}` as an argument. A second brace is only reached if the
   * first one has passed.
   */
  #standsAlone(character: string): boolean {
    const [first] = this.words;
    const after = this.#line[this.#at + 1] ?? '';
    const isAlone = !this.#isInWord && /^[ \t]?$/.test(after);
    if (character === '[') return isAlone && after !== '' && first === undefined;
    if (character === ']') return isAlone && first?.text === '[' && first.isBare;
    if (character === '{')
      return first !== undefined && !this.#isInWord && /^\{\}(?:[ \t]|$)/.test(this.#line.slice(this.#at, this.#at + 3));
    return character === '}' && this.#isBare && this.#text === '{';
  }

  #isPlain(character: string): boolean {
    return bare.test(character) || this.#standsAlone(character);
  }

  #bareProblem(character: string): string | null {
    if (this.#isPlain(character)) return null;
    const next = this.#line[this.#at + 1] ?? '';
    switch (character) {
      case '&':
        return next === '&' ? 'it chains several commands' : 'it runs something in the background';
      case '<':
      case '>':
        return redirectProblem(character, next);
      case '$':
        return dollarProblem(next, this.#line[this.#at + 2] ?? '');
      case '~':
        return this.#tildeProblem();
      case '#':
        return this.#isInWord ? null : 'it contains a comment';
      case '!':
        return this.#isPlainBang(next) ? null : 'it contains a history expansion';
      default:
        return metaProblems[character] ?? bareProblem(this.#codePoint());
    }
  }

  /** After the start of a word, a tilde is literal (`HEAD~1`), but shells differ after `=` and `:`. */
  #tildeProblem(): string | null {
    const before = this.#line[this.#at - 1] ?? '';
    return this.#isInWord && this.#isBare && before !== '=' && before !== ':' ? null : 'it contains a home folder expansion (~)';
  }

  /** A `!` as a whole argument is an operator of the program (`find . ! -name x`). At the end of an argument it is literal (`echo Hi!`). */
  #isPlainBang(next: string): boolean {
    if (this.words.length === 0) return false;
    return next === ' ' || next === '\t' || (next === '' && this.#isInWord);
  }

  #singleQuoted(): string | null {
    const end = this.#line.indexOf("'", this.#at + 1);
    if (end < 0) return 'a quote is not closed';
    for (const character of this.#line.slice(this.#at + 1, end)) {
      const problem = quotedLineProblem(character);
      if (problem !== null) return problem;
      this.#take(character);
    }
    this.#quoted(end + 1);
    return null;
  }

  #doubleQuoted(): string | null {
    this.#at += 1;
    for (;;) {
      const character = this.#codePoint();
      if (character === '') return 'a quote is not closed';
      if (character === '"') break;
      const next = this.#line[this.#at + 1] ?? '';
      const escape = character === '\\' && next !== '' && '\\"$`'.includes(next);
      const problem = escape ? null : doubleQuotedProblem(character, next);
      if (problem !== null) return problem;
      this.#take(escape ? next : character);
      this.#at += escape ? 2 : character.length;
    }
    this.#quoted(this.#at + 1);
    return null;
  }

  #quoted(next: number): void {
    this.#isInWord = true;
    this.#isBare = false;
    this.#at = next;
  }

  #take(character: string): void {
    this.#text += character;
    this.#isInWord = true;
  }

  #endWord(): void {
    if (this.#isInWord) this.words.push({ text: this.#text, isBare: this.#isBare });
    this.#text = '';
    this.#isInWord = false;
    this.#isBare = true;
  }

  #codePoint(): string {
    const code = this.#line.codePointAt(this.#at);
    return code === undefined ? '' : String.fromCodePoint(code);
  }
}

function redirectProblem(character: string, next: string): string {
  if (next === '(') return 'it contains a process substitution';
  return character === '<' && next === '<' ? 'it contains a here-document' : 'it redirects input or output';
}

function dollarProblem(next: string, second: string): string {
  if (next === '(') return second === '(' ? 'it contains an arithmetic expansion' : 'it contains a command substitution';
  if (next === "'" || next === '"') return 'it contains a quotation only some shells know';
  return 'it contains a variable';
}

function quotedLineProblem(character: string): string | null {
  return character === '\n' || character === '\r' ? 'it has more than one line' : quotedProblem(character);
}

/** Shells expand text inside double quotes. A dollar directly before the closing quote is literal in every shell. */
function doubleQuotedProblem(character: string, next: string): string | null {
  if (character === '`') return 'it contains a command substitution';
  if (character === '$' && next !== '"') return dollarProblem(next, '');
  if (character === '\\' && next === '\n') return 'it has more than one line';
  if (character === '!' && !' \t="'.includes(next)) return 'it contains a history expansion';
  return quotedLineProblem(character);
}

/** Letters, marks, digits, punctuation and symbols of any script; no control, invisible or padding characters. */
const visible = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u;
// Default ignorables are invisible; the Braille blank and the Hangul fillers look like a space.
const unseen = /^[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Variation_Selector}\u2800\ufffc]$/u;

/** Returns why a character inside quotes makes the line unclear, or null. */
function quotedProblem(character: string): string | null {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x20 && code < 0x7f) return null;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 'it contains a control character';
  if (visible.test(character) && !unseen.test(character)) return null;
  return 'it contains a character that cannot be seen';
}

const lookAlikes = /^[\uff01-\uff5e\u2024\u2010-\u2015\u2018-\u201f\u037e\u2215\u2216\u2223\u29f8\u2044]$/u;

/** Returns why a character outside quotes makes the line unclear. For characters beyond printable ASCII. */
function bareProblem(character: string): string {
  const hidden = quotedProblem(character);
  if (hidden !== null) return hidden;
  if (lookAlikes.test(character)) return 'it contains a character that only looks like one of the shell';
  return 'it contains a letter outside plain ASCII without quotes';
}
