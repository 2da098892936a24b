// The form of an entry in the table of programs that only read.

/** The meaning of operands. read-command.ts defines how each kind is read. */
export type Operands =
  | 'files'
  | 'text'
  | 'none'
  | 'at most one file'
  | 'test expression'
  | 'archive members'
  | 'compressed files'
  | 'files, no line number'
  | 'files, no folders'
  | 'files, no lists'
  | 'folders listed'
  | 'folders walked'
  | 'program names'
  | 'date format'
  | 'print format'
  | 'pattern, then files'
  | 'pattern, then files without hidden ones'
  | 'find expression'
  | 'sed script'
  | 'awk program'
  | 'jq filter, then files'
  | 'command for any words'
  | 'time limit, then command'
  | 'priority, then command'
  | 'variables, then command'
  | 'variable names'
  | 'database, then queries';

/** bundled: `-an5`, as getopt reads them. one a word: letters after a flag without a value mean nothing. values apart: `-an 5` only. */
export type ShortFlags = 'bundled' | 'one a word' | 'values apart';

/** A program that only reads. */
export interface Reader {
  /** For example "lists files". Shown to the person. */
  readonly reads: string;
  /** Defaults to `files`. */
  readonly operands?: Operands;
  /** In the notation of `flagTable`. Absent if flags and operands form one language. */
  readonly flags?: string;
  readonly shortFlags?: ShortFlags;
  /** In place of flags and operands: matches all arguments, joined by blanks. None of them may hold a blank. */
  readonly words?: RegExp;
  /** One of these flags must be given. Without it, the program writes. */
  readonly only?: readonly string[];
  /** Programs that it may start, found on the search path. */
  readonly starts?: readonly string[];
}
