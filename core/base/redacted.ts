// The brand of redacted values: text, and values made of text. It costs nothing at run time; an output that requires it cannot be reached
// with unredacted text.

declare const looked: unique symbol;

export type Redacted<T = string> = T & { readonly [looked]: true };

/** For the redactor itself, and for text made only of redacted text and the program's own text: a piece cut out, two joined. */
export function stillRedacted<T>(made: T): Redacted<T> {
  return made as Redacted<T>;
}
