// The commands that are operations, read from the table, and the type of an entry in the command tree. Loads neither schemas nor the code
// of commands.

import type { CommandForm, OpForm } from '../../../contracts/command-form.ts';
import { opForms } from '../../../contracts/op-forms.ts';
import type { OpName } from '../../../contracts/ops.ts';
import type { CommandContext } from '../command-context.ts';

/** The typed values, by parameter or option, as commander names them. */
export type Given = Readonly<Record<string, unknown>>;

/** `entries` are all commands, for the completion command. */
export type Perform = (context: CommandContext, given: Given, entries: readonly Entry[]) => Promise<number>;

export interface Entry {
  readonly path: readonly string[];
  readonly about: string;
  readonly form: CommandForm;
  readonly source: { readonly op: OpName; readonly opForm: OpForm } | { readonly load: () => Promise<Perform> };
}

export function opEntries(): Entry[] {
  return Object.entries(opForms).flatMap(([op, opForm]) =>
    Object.entries(opForm.commands ?? {}).map(([words, form]): Entry => ({
      path: words.split(' '),
      about: form.about ?? opForm.about,
      form,
      source: { op: op as OpName, opForm },
    })),
  );
}

export interface Taken {
  readonly name: string;
  readonly isParameter: boolean;
  readonly isVariadic: boolean;
  readonly isOptional: boolean;
}

/** Parses the argument notation, such as `text...?`. */
export function takenBy(form: CommandForm): Taken[] {
  return (form.takes ?? []).map((word) => {
    const [, colon = '', name = '', variadic = '', optional = ''] = /^(:?)([\w-]+)(\.\.\.)?(\?)?$/.exec(word) ?? [];
    return { name, isParameter: colon === '', isVariadic: variadic !== '', isOptional: optional !== '' };
  });
}
