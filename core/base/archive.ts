// Shared by the readers of archives: the type of an entry, and the error for an archive that breaks a rule.

export interface ArchiveEntry {
  /** The name in the archive, with forward slashes. */
  readonly path: string;
  /** Unpacks the entry. Fails with the refusal if its content is not what the archive announced. */
  readonly content: () => Buffer;
}

/** Creates the error for an archive that breaks a rule; `why` completes a sentence. */
export type Refusal = (why: string) => Error;

export class BrokenRule extends Error {}

/** Turns a broken rule into the refusal. */
export function refusing<T>(refusal: Refusal, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw cause instanceof BrokenRule ? refusal(cause.message) : cause;
  }
}
