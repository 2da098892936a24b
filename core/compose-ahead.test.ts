// What can be done ahead of the first turn: every check of an event is compiled by it, in pieces.

import { expect, test } from 'vitest';
import { firstUses } from './compose-ahead.ts';
import { eventBodySchemas } from './contracts/events.ts';

test('after all pieces the first event of each kind is checked without compiling anything', async () => {
  const compiled: string[] = [];
  const { Function: original } = globalThis;
  globalThis.Function = new Proxy(original, {
    construct: (target, args: string[], newTarget) => {
      compiled.push(args.at(-1) ?? '');
      return Reflect.construct(target, args, newTarget) as object;
    },
  });
  try {
    const pieces = firstUses();
    expect(pieces).toHaveLength(1 + Object.keys(eventBodySchemas).length);
    for (const piece of pieces) await piece();
    // A check for each kind of event, and more for what they hold.
    expect(compiled.length).toBeGreaterThan(pieces.length);
    const before = compiled.length;
    for (const schema of Object.values(eventBodySchemas)) schema.safeParse({});
    eventBodySchemas['panic.engaged'].safeParse({ reason: 'x' });
    expect(compiled.length).toBe(before);
  } finally {
    globalThis.Function = original;
  }
});
