// Recognizes awk command lines that only print, using patterns, fields, arithmetic and text functions. Rejects programs that may open
// files, start programs, read the environment or choose other input files, and text that awk versions read differently.

/** Functions that only compute, in gawk, mawk and BusyBox. */
const functions = new Set(
  'length substr index split sub gsub match sprintf tolower toupper int sqrt exp log sin cos atan2 rand srand'.split(' '),
);
const statements = new Set('print printf if else for in while do break continue next exit delete BEGIN END'.split(' '));
/** Names that give a program access to more than its input. */
const reaching = new Set('ENVIRON ARGV ARGC PROCINFO SYMTAB FUNCTAB getline system close fflush extension func function'.split(' '));

const blank = /[ \t]+/y;
const end = /[\n;]/y;
/** A number ends before a letter in one awk and after it in another: `0x1system` is a name, or a number and a function. */
const value = /"(?:[^"\\\n]|\\[^\n])*"|(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)(?![\w.])/y;
const name = /[A-Za-z_]\w*/y;
/** Excludes `|` and `&`, which start a program, and `@`, which calls a function by its name. */
const sign = /&&|\|\||!~|[=!<>+\-*%]=|\+\+|--|[-+*%^!<>=~?:,$(){}[\]]/y;
/** A pattern. Brackets in it must be closed, so that every awk ends the pattern at the same slash. */
const pattern = /\/(?:[^/\\[\n]|\\[^\n]|\[\^?\]?[^\]/\\\n[]*\])+\//y;

const division = /\/=?/y;

type Slash = 'pattern' | 'division' | 'unclear';

/** Returns the files that `awk` reads with these arguments, or null if it may do more than print. */
export function awkFiles(words: readonly string[]): readonly string[] | null {
  const pending = [...words].reverse();
  for (let flag = pending.at(-1); flag !== undefined && /^-[Fv]/.test(flag); flag = pending.at(-1)) {
    pending.pop();
    if (flag.length === 2 && pending.pop()?.startsWith('-') !== false) return null;
  }
  const [program, ...files] = pending.reverse();
  const isKnown = program !== undefined && !program.startsWith('-') && new AwkProgram(program).onlyPrints();
  return isKnown && !files.some((file) => file.startsWith('-')) ? files : null;
}

class AwkProgram {
  readonly #text: string;
  #at = 0;
  /** The meaning of the next slash. After the name of a function, a slash divides in gawk but starts a pattern in mawk. */
  #slash: Slash = 'pattern';
  readonly #open: string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  onlyPrints(): boolean {
    while (this.#at < this.#text.length) if (!this.#token()) return false;
    return this.#open.length === 0;
  }

  #token(): boolean {
    if (this.#take(blank) !== null) return true;
    if (this.#take(end) !== null) return this.#then('pattern');
    if (this.#take(value) !== null) return this.#then('division');
    const word = this.#take(name);
    if (word !== null) return this.#isHarmless(word) && this.#then(slashAfter(word));
    if (this.#text[this.#at] === '/') return this.#isSlashClear();
    const found = this.#take(sign);
    return found !== null && this.#fits(found) && this.#then(/^(?:[)\]]|\+\+|--)$/.test(found) ? 'division' : 'pattern');
  }

  #isSlashClear(): boolean {
    if (this.#slash === 'division') return this.#take(division) !== null && this.#then('pattern');
    return this.#slash === 'pattern' && this.#take(pattern) !== null && this.#then('division');
  }

  #take(token: RegExp): string | null {
    token.lastIndex = this.#at;
    const text = token.exec(this.#text)?.[0] ?? null;
    this.#at += text?.length ?? 0;
    return text;
  }

  #then(slash: Slash): true {
    this.#slash = slash;
    return true;
  }

  #isHarmless(word: string): boolean {
    if (reaching.has(word)) return false;
    // A `for` loop may contain a print statement in its parentheses, and a `>` in it would name a file.
    if (word.startsWith('print')) return !this.#open.includes('(');
    return statements.has(word) || functions.has(word) || this.#text[this.#at] !== '(';
  }

  #fits(found: string): boolean {
    if ('([{'.includes(found)) return this.#open.push(found) > 0;
    if (')]}'.includes(found)) return this.#open.pop() === '([{'[')]}'.indexOf(found)];
    // In a pattern or in parentheses, `>` is a comparison. Elsewhere it may name an output file.
    return found !== '>' || this.#open.length === 0 || this.#open.at(-1) === '(';
  }
}

function slashAfter(word: string): Slash {
  if (statements.has(word)) return 'pattern';
  return functions.has(word) ? 'unclear' : 'division';
}
