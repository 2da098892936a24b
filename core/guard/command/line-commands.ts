// All simple commands of a line, wherever they are, including those that wrappers like sudo, env, xargs or `sh -c` run. Best effort: for
// warnings, never for permission.

import { forEachChild, type Command, type Pipeline, type SyntaxNode, type Word } from 'unbash';
import { isLiteral, parseShell } from './shell-tree.ts';
import { unwrap, type LineWord } from './wrappers.ts';

export type { LineWord } from './wrappers.ts';

export interface LineCommand {
  readonly words: readonly LineWord[];
  readonly written: readonly LineWord[];
  readonly read: readonly LineWord[];
  /** Folders entered before it by literal `cd`s, in order. */
  readonly folders: readonly LineWord[];
  /** The programs whose output it reads, the nearest last. */
  readonly pipedFrom: readonly string[];
  /** The wrapper it was found in ("sudo"). */
  readonly wrappers: readonly string[];
}

const NODES_MAX = 20_000;
const DEPTH_MAX = 6;
const COMMANDS_MAX = 500;

/** The commands of a line, and whether all of it could be read. */
export function commandsOf(line: string): { readonly commands: readonly LineCommand[]; readonly isWhole: boolean } {
  const collector = new Collector();
  try {
    collector.addLine(line, 0, []);
  } catch {
    // The parser reads parts lazily and runs out of stack on endless nesting.
    return { commands: collector.commands, isWhole: false };
  }
  return { commands: collector.commands, isWhole: collector.isWhole };
}

class Collector {
  readonly commands: LineCommand[] = [];
  #nodes = 0;
  #isCut = false;
  #folders: LineWord[] = [];

  get isWhole(): boolean {
    return !this.#isCut && this.#nodes <= NODES_MAX && this.commands.length <= COMMANDS_MAX;
  }

  addLine(line: string, depth: number, wrappers: readonly string[]): void {
    const tree = depth > DEPTH_MAX ? null : parseShell(line);
    if (tree === null) this.#isCut = true;
    else this.#visit(tree, [], { depth, wrappers });
  }

  #visit(node: SyntaxNode, pipedFrom: readonly string[], within: { depth: number; wrappers: readonly string[] }): void {
    this.#nodes += 1;
    if (this.#nodes > NODES_MAX || this.commands.length > COMMANDS_MAX) return;
    if (node.type === 'Command') this.#command(node, pipedFrom, within);
    if (node.type === 'Pipeline') {
      this.#pipeline(node, within);
      return;
    }
    forEachChild(node, (child) => this.#visit(child, pipedFrom, within));
  }

  #pipeline(node: Pipeline, within: { depth: number; wrappers: readonly string[] }): void {
    const before: string[] = [];
    for (const part of node.commands) {
      const first = this.commands.length;
      this.#visit(part, before, within);
      before.push(...this.commands.slice(first).map(({ words }) => words[0]?.text ?? ''));
    }
  }

  #command(node: Command, pipedFrom: readonly string[], within: { depth: number; wrappers: readonly string[] }): void {
    const words = [node.name, ...node.args].flatMap((word) =>
      word === undefined ? [] : [word.type === 'Word' ? wordOf(word) : literal(word.text)],
    );
    const written: LineWord[] = [];
    const read: LineWord[] = [];
    for (const redirect of node.redirects) {
      if (redirect.type !== 'Redirect' || redirect.target === undefined) continue;
      const isCopy = redirect.operator.endsWith('&') && /^\d+$|^-$/.test(redirect.target.value);
      if (!isCopy) (redirect.operator === '<' ? read : written).push(wordOf(redirect.target));
    }
    this.#add({ words, written, read, folders: [...this.#folders], pipedFrom, wrappers: within.wrappers }, within.depth);
  }

  #add(command: LineCommand, depth: number): void {
    this.commands.push(command);
    const [program, target] = command.words;
    if (program?.text === 'cd' && target !== undefined && target.isLiteral) this.#folders.push(target);
    if (depth > DEPTH_MAX || program === undefined) return;
    const inner = unwrap(command.words);
    const wrappers = [...command.wrappers, program.text];
    if (inner?.line !== undefined) this.addLine(inner.line, depth + 1, wrappers);
    if (inner?.words !== undefined && inner.words.length > 0) {
      this.#add({ ...command, words: inner.words, written: [], read: [], wrappers }, depth + 1);
    }
  }
}

function wordOf(word: Word): LineWord {
  return { text: word.value, isLiteral: isLiteral(word), isHome: word.text.startsWith('~') };
}

function literal(text: string): LineWord {
  return { text, isLiteral: true, isHome: false };
}
