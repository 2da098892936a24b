// What is known of a program: which of its arguments leave it a mere reader, and what it then reads. The usual ways operands are meant.

import { flagTable, readArguments, type GivenArguments } from './argument-reader.ts';

/** A folder a command goes through by itself. */
export interface FolderWalk {
  /** As given, relative to the folder the command runs in. */
  readonly root: string;
  /** content: it reads the files. names: it only lists what there is. */
  readonly shows: 'content' | 'names';
  /** False where names that begin with a dot are passed over unless an ignore file says otherwise. */
  readonly entersHidden: boolean;
  /** How deep it goes; unlimited when absent. */
  readonly depthMax?: number;
}

/** What a command of known harmless arguments reads. */
export interface Reading {
  /** "lists files": what the person is told. */
  readonly reads: string;
  /** Paths as given, relative to the folder the command runs in. */
  readonly files: readonly string[];
  readonly walks: readonly FolderWalk[];
  /** It would go through a folder among its files, following links. */
  readonly refusesFolders?: boolean;
}

export interface Profile {
  readonly program: string;
  /** What the arguments (without the program) make of it; null when they are not all known to be harmless. */
  read(args: readonly string[]): Reading | null;
}

export interface ReaderForm {
  readonly reads: string;
  /** In the notation of `flagTable`. */
  readonly flags: string;
  /** Further limits, and what the operands mean. */
  readonly operands: (given: GivenArguments) => Pick<Reading, 'files' | 'walks' | 'refusesFolders'> | null;
}

export function createReader(program: string, form: ReaderForm): Profile {
  const table = flagTable(form.flags);
  return {
    program,
    read(args) {
      const given = readArguments(args, table);
      const meant = given === null ? null : form.operands(given);
      if (given === null || meant === null) return null;
      return { ...meant, reads: form.reads, files: withoutInput([...given.files, ...meant.files]) };
    },
  };
}

/** Every operand is a file. */
export const filesOf = ({ operands }: GivenArguments): Pick<Reading, 'files' | 'walks'> => ({ files: operands, walks: [] });

/** Operands are text that names nothing. */
export const textOf = (): Pick<Reading, 'files' | 'walks'> => ({ files: [], walks: [] });

export const nothingOf = ({ operands }: GivenArguments): Pick<Reading, 'files' | 'walks'> | null =>
  operands.length === 0 ? { files: [], walks: [] } : null;

/** `-` is the input, which holds nothing. */
export function withoutInput(files: readonly string[]): readonly string[] {
  return files.filter((file) => file !== '-');
}
