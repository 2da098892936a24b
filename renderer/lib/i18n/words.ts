// The type of a catalogue: every text of the window, with the same parameters as the English one.

import type { commands } from './english/commands.ts';
import type { english } from './english/english.ts';
import type { later } from './english/later.ts';
import type { talk } from './english/talk.ts';

type Translated<T> = {
  readonly [K in keyof T]: T[K] extends string
    ? string
    : T[K] extends (...values: infer V) => string
      ? (...values: V) => string
      : Translated<T[K]>;
};

export type Words = Translated<typeof english & { readonly commands: typeof commands } & typeof talk & typeof later>;
