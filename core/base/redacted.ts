// The brand of redacted values: text, and values made of text. Costs nothing at run time. An output that requires the brand cannot receive
// unredacted text.

declare const looked: unique symbol;

export type Redacted<T = string> = T & { readonly [looked]: true };

/**
 * For the redactor itself, and for text derived only from redacted text and the program's own text, such as a substring or a concatenation.
 */
export function stillRedacted<T>(made: T): Redacted<T> {
  return made as Redacted<T>;
}
