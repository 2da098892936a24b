// Decides whether a line is one program with literal arguments and nothing else. Two independent parsers must agree; anything that either
// does not understand is unclear.

import { err, ok, type Result } from '../../base/result.ts';
import { lexLiteral, type LiteralWord } from './literal-lexer.ts';
import { readPowerShell } from './powershell-line.ts';
import { literalWords } from './shell-tree.ts';

const LINE_MAX = 8192;

const programName = /^(?:[A-Za-z0-9_.+/-]+|\[)$/;

/** Words reserved by the shell grammar, even if a program has that name. */
const keywords = new Set(
  'if then else elif fi for while until do done case esac in select function time coproc foreach repeat end nocorrect noglob'.split(' '),
);

/** Commands built into the shell. A program of the same name would do something else, or nothing. */
const shellCommands = new Set(
  [
    '. : alias bg bind break builtin caller cd chdir command compgen complete compopt continue declare dirs disown enable eval exec',
    'exit export fc fg getopts hash help history integer jobs kill let local logout mapfile popd pushd read readarray readonly return',
    'set shift shopt source suspend times trap type typeset ulimit umask unalias unset wait',
  ].flatMap((names) => names.split(' ')),
);

/** Commands that exist both in the shell and as programs. The function returns whether the two would differ. */
const twins: ReadonlyMap<string, (args: readonly string[]) => boolean> = new Map([
  ['echo', ([first = '', ...rest]) => isAboutItself(first) || (/^-[nE]*e/.test(first) && rest.some((text) => /\\[uUE]/.test(text)))],
  ['printf', ([format = '']) => format.startsWith('-') || /%[-0-9$ .#+*']*[(qQn]/.test(format)],
  ['pwd', (args) => args.some((text) => text !== '-L' && text !== '-P')],
  ['true', ([first = '']) => isAboutItself(first)],
  ['false', ([first = '']) => isAboutItself(first)],
  ['test', isOddTest],
  ['[', isOddTest],
]);

/** The shell knows tests of variables and options, in which it evaluates what they name. */
function isOddTest(args: readonly string[]): boolean {
  return args.some((text) => isAboutItself(text) || /^-[voRt]$|^[<>~]/.test(text));
}

function isAboutItself(argument: string): boolean {
  return argument === '--help' || argument === '--version';
}

/** The two parsers. */
export interface LineReaders {
  readonly lex: typeof lexLiteral;
  readonly parse: typeof literalWords;
}

const ownReaders: LineReaders = { lex: lexLiteral, parse: literalWords };

/** Returns the arguments of a plain line, or why it is not plain, such as "it contains a command substitution". */
export function readPlainLine(line: string, platform: NodeJS.Platform, readers = ownReaders): Result<readonly string[], string> {
  if (line.length > LINE_MAX) return err(`it is longer than ${LINE_MAX} characters`);
  if (platform === 'win32') return readPowerShell(line);
  return readWords(line, readers, programProblem);
}

/** Returns the literal words of one command if both parsers agree on them. `problemOf` may reject the words of the first parser. */
export function readWords(
  line: string,
  readers = ownReaders,
  problemOf: (words: readonly LiteralWord[]) => string | null = () => null,
): Result<readonly string[], string> {
  const lexed = readers.lex(line);
  if (!lexed.ok) return lexed;
  const problem = problemOf(lexed.value);
  if (problem !== null) return err(problem);
  const parsed = readers.parse(line);
  if (!parsed.ok) return parsed;
  const argv = lexed.value.map(({ text }) => text);
  return isSame(argv, parsed.value) ? ok(argv) : err('it can be read in more than one way');
}

function programProblem([program, ...args]: readonly LiteralWord[]): string | null {
  if (program === undefined) return 'it is empty';
  if (program.text.includes('=')) return 'it sets variables for the command';
  if (!program.isBare) return "the program's name is in quotes";
  if (!programName.test(program.text) || program.text.startsWith('-')) return "the program's name holds an unusual character";
  if (keywords.has(program.text)) return `${program.text} is part of the shell's own language`;
  if (shellCommands.has(program.text)) return `${program.text} is a command of the shell itself`;
  const isOdd = twins.get(program.text)?.(args.map(({ text }) => text)) === true;
  return isOdd ? `the shell's own ${program.text} understands this in another way` : null;
}

function isSame(first: readonly string[], second: readonly string[]): boolean {
  return first.length === second.length && first.every((word, index) => word === second[index]);
}
