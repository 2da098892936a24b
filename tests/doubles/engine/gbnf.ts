// Grammars as llama.cpp reads them (GBNF): parsed strictly and matched character by character. For tests only: supports the part of the
// format that the program writes and rejects the rest.

type Ranges = readonly (readonly [number, number])[];
type Element = { readonly ranges: Ranges; readonly isNegated: boolean } | { readonly rule: string };
type Sequence = readonly Element[];

/** The elements that must still follow, the next one first. */
interface Stack {
  readonly sequence: Sequence;
  readonly at: number;
  readonly rest: Stack | null;
}

const DEPTH_MAX = 400;
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', '[': '[', ']': ']' };

export class Grammar {
  readonly rules: ReadonlyMap<string, readonly Sequence[]>;

  /** Throws if the text is not a grammar or refers to a missing rule. */
  constructor(text: string) {
    const parser = new Parser(text);
    this.rules = parser.rules;
    for (const name of ['root', ...parser.named]) if (!this.rules.has(name)) throw new Error(`Undefined rule identifier '${name}'`);
  }
}

/** The state of matching one text. */
export class GrammarMatch {
  readonly #grammar: Grammar;
  #stacks: readonly (Stack | null)[];

  constructor(grammar: Grammar) {
    this.#grammar = grammar;
    this.#stacks = this.#open([{ sequence: [{ rule: 'root' }], at: 0, rest: null }]);
  }

  get canEnd(): boolean {
    return this.#stacks.includes(null);
  }

  fits(text: string): boolean {
    return this.#after(text).length > 0;
  }

  accept(text: string): void {
    const after = this.#after(text);
    if (after.length === 0) throw new Error(`Unexpected empty grammar stack after accepting piece: ${text}`);
    this.#stacks = after;
  }

  #after(text: string): readonly (Stack | null)[] {
    let stacks = this.#stacks;
    for (const sign of text) stacks = this.#step(stacks, sign.codePointAt(0) ?? 0);
    return stacks;
  }

  #step(stacks: readonly (Stack | null)[], code: number): readonly (Stack | null)[] {
    const moved = stacks.flatMap((stack) => {
      const element = stack?.sequence[stack.at];
      if (stack === null || element === undefined || 'rule' in element) return [];
      const isIn = element.ranges.some(([from, to]) => code >= from && code <= to);
      return isIn === element.isNegated ? [] : [{ ...stack, at: stack.at + 1 }];
    });
    return this.#open(moved);
  }

  /** Expands each stack until it starts with a character or is empty. */
  #open(stacks: readonly Stack[]): readonly (Stack | null)[] {
    const open = new Map<string, Stack | null>();
    const visit = (stack: Stack | null, depth: number): void => {
      if (depth > DEPTH_MAX) throw new Error('unsupported grammar, left recursion detected');
      if (stack === null) return void open.set('', null);
      const element = stack.sequence[stack.at];
      if (element === undefined) return visit(stack.rest, depth + 1);
      if (!('rule' in element)) return void open.set(this.#key(stack), stack);
      const rest = { ...stack, at: stack.at + 1 };
      for (const sequence of this.#grammar.rules.get(element.rule) ?? []) visit({ sequence, at: 0, rest }, depth + 1);
    };
    for (const stack of stacks) visit(stack, 0);
    return [...open.values()];
  }

  readonly #ids = new Map<Sequence, number>();

  #key(stack: Stack | null): string {
    if (stack === null) return '';
    const id = this.#ids.get(stack.sequence) ?? this.#ids.size;
    this.#ids.set(stack.sequence, id);
    return `${id}.${stack.at} ${this.#key(stack.rest)}`;
  }
}

class Parser {
  readonly rules = new Map<string, readonly Sequence[]>();
  readonly named = new Set<string>();
  readonly #text: string;
  #at = 0;
  #made = 0;

  constructor(text: string) {
    this.#text = text;
    for (this.#space(true); this.#at < text.length; this.#space(true)) this.#rule();
  }

  #rule(): void {
    const name = this.#name();
    this.#space(false);
    this.#expect('::=');
    this.#space(false);
    this.rules.set(name, this.#choices(name, false));
    if (this.#at < this.#text.length && this.#text[this.#at] !== '\n') throw this.#unexpected();
  }

  #choices(rule: string, isNested: boolean): Sequence[] {
    const choices = [this.#sequence(rule, isNested)];
    while (this.#text[this.#at] === '|') {
      this.#at += 1;
      this.#space(isNested);
      choices.push(this.#sequence(rule, isNested));
    }
    return choices;
  }

  #sequence(rule: string, isNested: boolean): Sequence {
    const sequence: Element[] = [];
    for (;;) {
      const begin = sequence.length;
      const sign = this.#text[this.#at] ?? '';
      if (sign === '"') sequence.push(...this.#literal());
      else if (sign === '[') sequence.push(this.#signs());
      else if (/[a-zA-Z0-9-]/.test(sign)) sequence.push({ rule: this.#reference() });
      else if (sign === '(') sequence.push({ rule: this.#group(rule) });
      else return sequence;
      const sort = this.#text[this.#at] ?? '';
      if ('*+?'.includes(sort) && sort !== '') {
        this.#at += 1;
        sequence.push({ rule: this.#repeated(rule, sequence.splice(begin), sort) });
      }
      this.#space(isNested);
    }
  }

  #repeated(rule: string, once: Sequence, sort: string): string {
    const name = this.#newRule(rule);
    if (sort === '?') this.rules.set(name, [once, []]);
    else {
      const again: Sequence = [...once, { rule: name }];
      this.rules.set(name, sort === '*' ? [again, []] : [again, once]);
    }
    return name;
  }

  #group(rule: string): string {
    this.#expect('(');
    this.#space(true);
    const name = this.#newRule(rule);
    this.rules.set(name, this.#choices(rule, true));
    this.#expect(')');
    return name;
  }

  #literal(): Element[] {
    const signs: Element[] = [];
    this.#expect('"');
    while (this.#text[this.#at] !== '"') {
      const code = this.#sign();
      signs.push({ ranges: [[code, code]], isNegated: false });
    }
    this.#expect('"');
    return signs;
  }

  #signs(): Element {
    this.#expect('[');
    const isNegated = this.#text[this.#at] === '^';
    if (isNegated) this.#at += 1;
    const ranges: [number, number][] = [];
    while (this.#text[this.#at] !== ']') {
      const from = this.#sign();
      const isRange = this.#text[this.#at] === '-' && this.#text[this.#at + 1] !== ']';
      if (isRange) this.#at += 1;
      ranges.push([from, isRange ? this.#sign() : from]);
    }
    this.#expect(']');
    return { ranges, isNegated };
  }

  #sign(): number {
    const code = this.#text.codePointAt(this.#at);
    if (code === undefined || code === 10) throw this.#unexpected();
    this.#at += code > 0xffff ? 2 : 1;
    if (code !== 92) return code;
    const kind = this.#text[this.#at] ?? '';
    this.#at += 1;
    if (kind === 'x') {
      const digits = this.#text.slice(this.#at, this.#at + 2);
      if (!/^[0-9a-fA-F]{2}$/.test(digits)) throw this.#unexpected();
      this.#at += 2;
      return Number.parseInt(digits, 16);
    }
    const plain = escapes[kind];
    if (plain === undefined) throw new Error(`unknown escape at \\${kind}`);
    return plain.codePointAt(0) ?? 0;
  }

  #reference(): string {
    const name = this.#name();
    this.named.add(name);
    return name;
  }

  #name(): string {
    const name = /^[a-zA-Z0-9-]+/.exec(this.#text.slice(this.#at, this.#at + 100))?.[0];
    if (name === undefined) throw this.#unexpected();
    this.#at += name.length;
    return name;
  }

  #newRule(rule: string): string {
    this.#made += 1;
    return `${rule}_${this.#made}`;
  }

  #space(acrossLines: boolean): void {
    while ((acrossLines ? ' \t\n' : ' \t').includes(this.#text[this.#at] ?? '.')) this.#at += 1;
  }

  #expect(words: string): void {
    if (!this.#text.startsWith(words, this.#at)) throw this.#unexpected();
    this.#at += words.length;
  }

  #unexpected(): Error {
    return new Error(`expecting something else at ${this.#text.slice(this.#at, this.#at + 40)}`);
  }
}
