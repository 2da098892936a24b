// Assertions. A failed assertion is a bug in the program, never a person's mistake.

export class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailure(message);
}

/** Makes a switch over a union exhaustive: if a member is added, the call becomes a type error. */
export function unreachable(value: never, what: string): never {
  throw new AssertionFailure(`unexpected ${what}: ${JSON.stringify(value)}`);
}
