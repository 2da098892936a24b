// Work ahead of the first turn: it compiles every check of an event, in pieces. Runs in a separate process, because a check is compiled
// once per process.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const source = `
  const compiled = [];
  globalThis.Function = new Proxy(Function, {
    construct(target, args, newTarget) {
      compiled.push(args.at(-1) ?? '');
      return Reflect.construct(target, args, newTarget);
    },
  });
  const { firstUses } = await import(${JSON.stringify(new URL('first-uses.ts', import.meta.url).href)});
  const { eventBodySchemas } = await import(${JSON.stringify(new URL('../../contracts/events.ts', import.meta.url).href)});
  const pieces = firstUses();
  for (const piece of pieces) await piece();
  const ahead = compiled.length;
  for (const schema of Object.values(eventBodySchemas)) schema.safeParse({});
  eventBodySchemas['panic.engaged'].safeParse({ reason: 'x' });
  const kinds = Object.keys(eventBodySchemas).length;
  console.log(JSON.stringify({ pieces: pieces.length, kinds, ahead, afterwards: compiled.length - ahead }));
`;

test('after all pieces the first event of each kind is checked without compiling', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source], { timeout: 20_000 });
  const { pieces, kinds, ahead, afterwards } = JSON.parse(stdout) as Record<'pieces' | 'kinds' | 'ahead' | 'afterwards', number>;
  expect({ pieces, afterwards }).toEqual({ pieces: 1 + kinds, afterwards: 0 });
  // One check for each kind of event, and more for nested schemas.
  expect(ahead).toBeGreaterThan(pieces);
});
