// Whether a person's list of allowed commands names a command. Pure: it knows the facts of the call and the list, and nothing else.

import type { CommandFact } from '../../contracts/tools.ts';
import { lexLiteral } from './literal-lexer.ts';
import { readers } from './profiles.ts';
import { taskPrograms } from './task-profiles.ts';

/**
 * An entry names what a command does (`git status`, `npm test`, `ls`: any further arguments known not to change that) or all of its
 * words. Of a program whose arguments are known, all words count only while they are known to be harmless where it runs.
 */
export function isPreApproved(fact: CommandFact, allowed: readonly string[]): boolean {
  const { plain } = fact;
  if (plain === undefined || fact.unclear !== undefined) return false;
  const { argv, family } = plain;
  const mayMatchWhole = family !== null || isUnprofiled(argv[0] ?? '');
  return allowed.some((entry) => {
    const words = wordsOf(entry);
    if (words === null) return false;
    return (family !== null && isSame(words, family)) || (mayMatchWhole && isSame(words, argv));
  });
}

/** A file of the project is not a name: what it holds can change under a list that names it. */
function isUnprofiled(program: string): boolean {
  return program !== '' && !/[/\\]/.test(program) && program !== 'git' && !readers.has(program) && !taskPrograms.has(program);
}

function wordsOf(entry: string): readonly string[] | null {
  const lexed = lexLiteral(entry);
  return lexed.ok && lexed.value.length > 0 ? lexed.value.map(({ text }) => text) : null;
}

function isSame(first: readonly string[], second: readonly string[]): boolean {
  return first.length === second.length && first.every((word, index) => word === second[index]);
}
