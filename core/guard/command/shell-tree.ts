// Reads a line with the shell parser: the words of one simple command, or why it is something else. Runs nothing.

import { parse, type Command, type DoubleQuotedPart, type ParsedScript, type Word, type WordPart } from 'unbash';
import { err, ok, type Result } from '../../base/result.ts';

/** Returns null if the parser fails, because then it has not understood the line. */
export function parseShell(line: string): ParsedScript | null {
  try {
    return parse(line);
  } catch {
    // A line that crashes the parser counts as not understood.
    return null;
  }
}

/** Returns the literal words if the line is one simple command. */
export function literalWords(line: string): Result<readonly string[], string> {
  const tree = parseShell(line);
  if (tree === null || (tree.errors?.length ?? 0) > 0) return err('it cannot be read as a command');
  const [statement, ...more] = tree.commands;
  if (statement === undefined) return err('it is empty');
  if (more.length > 0 || tree.shebang !== undefined) return err('it chains several commands');
  if (statement.background === true) return err('it runs something in the background');
  if (statement.command.type !== 'Command') return err('it is more than one simple command');
  if (statement.command.redirects.length > 0) return err('it redirects input or output');
  try {
    return literalCommand(statement.command);
  } catch {
    // The parser reads parts lazily. If it fails here, it has not understood the line.
    return err('it cannot be read as a command');
  }
}

/** Returns the words of a command without its redirects. May throw if the parser does not understand a word. */
export function literalCommand(command: Command): Result<readonly string[], string> {
  if (command.prefix.length > 0) return err('it sets variables for the command');
  if (command.name === undefined) return err('it is empty');
  const words: string[] = [];
  for (const word of [command.name, ...command.args]) {
    if (word.type !== 'Word') return err('it sets variables for the command');
    if (!isLiteral(word)) return err('it contains an expansion');
    words.push(word.value);
  }
  return ok(words);
}

/** Returns whether every part of a word is literal. */
export function isLiteral(word: Word): boolean {
  return word.parts === undefined || word.parts.every(isLiteralPart);
}

function isLiteralPart(part: WordPart): boolean {
  if (part.type === 'Literal' || part.type === 'SingleQuoted') return true;
  return part.type === 'DoubleQuoted' && hasLiteralParts(part);
}

function hasLiteralParts(part: DoubleQuotedPart): boolean {
  return part.parts.every((child) => child.type === 'Literal');
}
