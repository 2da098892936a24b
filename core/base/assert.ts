// Assertions: a failed one is a bug in the program, never a person's mistake.

export class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailure(message);
}

/** Closes a switch over a union: adding a member makes the call a type error. */
export function unreachable(value: never, what: string): never {
  throw new AssertionFailure(`unexpected ${what}: ${JSON.stringify(value)}`);
}
