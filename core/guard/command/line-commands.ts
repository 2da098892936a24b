// Finds all simple commands of a line, including those run by wrappers such as sudo, env, xargs or `sh -c`. Best effort: used for warnings,
// never to allow a command.

import { forEachChild, type Command, type CommandNode, type Pipeline, type SyntaxNode, type Word } from 'unbash';
import { carriedLines } from './carried-lines.ts';
import { fedText, knownText, outputOf, partsOf } from './known-text.ts';
import { isShell, nameOf } from './program-names.ts';
import { isLiteral, parseShell } from './shell-tree.ts';
import { unwrap, type LineWord } from './wrappers.ts';

export type { LineWord } from './wrappers.ts';

export interface LineCommand {
  readonly words: readonly LineWord[];
  readonly written: readonly LineWord[];
  readonly read: readonly LineWord[];
  /** Folders entered before the command by literal `cd`s, in order. */
  readonly folders: readonly LineWord[];
  /** The programs whose output the command reads, the nearest last. */
  readonly pipedFrom: readonly string[];
  /** The wrappers that run the command ("sudo"). */
  readonly wrappers: readonly string[];
  /** True if the command runs on another machine or in a container, where its paths have another meaning. */
  readonly elsewhere: boolean;
  /** True if the program it starts, or the text it runs, is only known at run time. */
  readonly isHidden: boolean;
}

interface Within {
  readonly depth: number;
  readonly wrappers: readonly string[];
  readonly elsewhere: boolean;
}

const NODES_MAX = 20_000;
const DEPTH_MAX = 6;
const COMMANDS_MAX = 500;

/** Returns the commands of a line, and whether the whole line could be read. */
export function commandsOf(line: string): { readonly commands: readonly LineCommand[]; readonly isWhole: boolean } {
  const collector = new Collector();
  try {
    collector.addLine(line, { depth: 0, wrappers: [], elsewhere: false });
  } catch {
    // The parser reads parts lazily and overflows the stack on very deep nesting.
    return { commands: collector.commands, isWhole: false };
  }
  return { commands: collector.commands, isWhole: collector.isWhole };
}

class Collector {
  readonly commands: LineCommand[] = [];
  #nodes = 0;
  #isCut = false;
  #folders: LineWord[] = [];
  /** HOME has the value `~`, which later expands to the home folder. */
  readonly #variables = new Map([['HOME', '~']]);

  get isWhole(): boolean {
    return !this.#isCut && this.#nodes <= NODES_MAX && this.commands.length <= COMMANDS_MAX;
  }

  addLine(line: string, within: Within): void {
    const tree = within.depth > DEPTH_MAX ? null : parseShell(line);
    if (tree === null) this.#isCut = true;
    else this.#visit(tree, [], within);
  }

  #visit(node: SyntaxNode, pipedFrom: readonly string[], within: Within): void {
    this.#nodes += 1;
    if (this.#nodes > NODES_MAX || this.commands.length > COMMANDS_MAX) return;
    if (node.type === 'Command') this.#command(node, pipedFrom, within);
    if (node.type === 'Pipeline') {
      this.#pipeline(node, within);
      return;
    }
    forEachChild(node, (child) => this.#visit(child, pipedFrom, within));
  }

  #pipeline(node: Pipeline, within: Within): void {
    const before: string[] = [];
    for (const [index, part] of node.commands.entries()) {
      const first = this.commands.length;
      this.#visit(part, before, within);
      before.push(...this.commands.slice(first).map(({ words }) => words[0]?.text ?? ''));
      if (index > 0 && readsItsCode(part)) this.#addText(outputOf(node.commands.slice(0, index), this.#variables), part, within);
    }
  }

  #command(node: Command, pipedFrom: readonly string[], within: Within): void {
    for (const { name, value } of node.prefix.filter((part) => part.type === 'Assignment')) {
      const text = value.type === 'Word' ? knownText(value, this.#variables) : null;
      if (text !== null) this.#variables.set(name, text);
    }
    const words = [...this.#nameOf(node.name), ...node.args.flatMap((word) => this.#wordsOf(word))];
    const written: LineWord[] = [];
    const read: LineWord[] = [];
    for (const redirect of node.redirects) {
      if (redirect.type !== 'Redirect' || redirect.target === undefined) continue;
      const isCopy = redirect.operator.endsWith('&') && /^\d+$|^-$/.test(redirect.target.value);
      if (!isCopy) (redirect.operator === '<' ? read : written).push(this.#wordsOf(redirect.target)[0] ?? wordOf(redirect.target));
    }
    const isHidden = words[0] !== undefined && !words[0].isLiteral && /[$`]/.test(words[0].text);
    this.#add({ words, written, read, folders: [...this.#folders], pipedFrom, wrappers: within.wrappers, elsewhere: within.elsewhere, isHidden }, within.depth); // prettier-ignore
    if (readsItsCode(node)) this.#addFed(node, within);
  }

  /** Returns the program, followed by its first arguments if an expansion contains them too. */
  #nameOf(name: Word | undefined): readonly LineWord[] {
    if (name === undefined) return [];
    const text = isLiteral(name) ? null : knownText(name, this.#variables);
    if (text === null) return [wordOf(name)];
    const inBraces = /^\{([^{}]*)\}$/.exec(text)?.[1]?.split(',');
    return (inBraces ?? text.split(/\s+/)).filter((part) => part !== '').map((part) => ({ text: part, isLiteral: false, isHome: false }));
  }

  #wordsOf(word: Command['args'][number]): readonly LineWord[] {
    if (word.type !== 'Word') return [literal(word.value.type === 'Word' ? `${word.name}=${word.value.value}` : word.text)];
    const text = isLiteral(word) ? null : knownText(word, this.#variables);
    if (text === null) return [wordOf(word)];
    const isOne = word.parts?.some((part) => part.type === 'DoubleQuoted') === true;
    return (isOne ? [text] : text.split(/\s+/))
      .filter((part) => part !== '')
      .map((part) => ({ text: part, isLiteral: true, isHome: isHomeOf(part, word) }));
  }

  /** Adds text from a here-document, a here-string or a process substitution. */
  #addFed(node: Command, within: Within): void {
    const isFed = node.redirects.some(({ type }) => type === 'HereDoc' || type === 'HereString');
    if (isFed) this.#addText(fedText(node, this.#variables), node, within);
    for (const word of node.args) {
      const [part, ...more] = word.type === 'Word' ? (word.parts ?? []) : [];
      if (part?.type !== 'ProcessSubstitution' || more.length > 0 || part.script === undefined) continue;
      const command = part.script.commands[0]?.command;
      this.#addText(outputOf(command === undefined ? [] : partsOf(command), this.#variables), node, within);
    }
  }

  #addText(text: string | null, by: CommandNode, within: Within): void {
    const name = programOf(by);
    const wrappers = [...within.wrappers, name];
    if (text === null) this.commands.push({ ...nothingKnown, wrappers, elsewhere: within.elsewhere });
    else if (isShell(name) || readsText.test(name)) this.addLine(text, { ...within, depth: within.depth + 1, wrappers });
    else this.#addCarried([name, '-c', text], within, wrappers);
  }

  #add(command: LineCommand, depth: number): void {
    this.commands.push(command);
    const [program, target] = command.words;
    if (program?.text === 'cd' && target !== undefined && target.isLiteral) this.#folders.push(target);
    if (depth > DEPTH_MAX || program === undefined) return;
    const inner = unwrap(command.words);
    const wrappers = [...command.wrappers, program.text];
    const within: Within = { depth, wrappers: command.wrappers, elsewhere: command.elsewhere };
    if (inner?.line !== undefined) this.addLine(inner.line, { ...within, depth: depth + 1, wrappers });
    if (inner?.words !== undefined && inner.words.length > 0) {
      this.#add({ ...command, words: inner.words, written: [], read: [], wrappers }, depth + 1);
    }
    this.#addCarried(command.words.map(({ text }) => text), within, wrappers); // prettier-ignore
  }

  #addCarried(words: readonly string[], within: Within, wrappers: readonly string[]): void {
    for (const { line, elsewhere } of carriedLines(words)) {
      this.addLine(line, { depth: within.depth + 1, wrappers, elsewhere: within.elsewhere || elsewhere });
    }
  }
}

const nothingKnown: Omit<LineCommand, 'wrappers' | 'elsewhere'> = {
  words: [],
  written: [],
  read: [],
  folders: [],
  pipedFrom: [],
  isHidden: true,
};

/** Programs that run shell text from a file or from their input. */
const readsText = /^(?:source|\.|at|batch)$/;

/**
 * Returns whether a command runs code from its input or from elsewhere: an interpreter without code or a file in its arguments, or
 * `source`.
 */
function readsItsCode(node: CommandNode): boolean {
  const name = programOf(node);
  if (node.type !== 'Command') return false;
  if (readsText.test(name)) return true;
  if (!isShell(name) && !/^(?:python[\d.]*|node|perl|ruby|php)$/.test(name)) return false;
  return node.args.every((word) => word.type === 'Word' && (/^-(?:$|[^ce]*$)/.test(word.value) || word.text.startsWith('<(')));
}

function isHomeOf(text: string, word: Word): boolean {
  return text.startsWith('~') && /^"?\$\{?HOME\b/.test(word.text);
}

function programOf(node: CommandNode): string {
  return node.type === 'Command' ? nameOf(node.name?.value ?? '') : '';
}

function wordOf(word: Word): LineWord {
  return { text: word.value, isLiteral: isLiteral(word), isHome: word.text.startsWith('~') };
}

function literal(text: string): LineWord {
  return { text, isLiteral: true, isHome: false };
}
