// The values exchanged between worlds and processes of the stand-in, and the check that the quoted sentences occur in the real
// documentation.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { documentation } from './documented.ts';
import { createCodec } from './stand-in/structured.ts';

const codec = createCodec();
const encode = (value: unknown): string => codec.encode(value);
const decode = (text: string): unknown => codec.decode(text);

// "Arguments will be serialized with the Structured Clone Algorithm, just like window.postMessage, so prototype chains will not be included."
test('values cross by structured clone, with cycles and identity preserved', () => {
  const shared = { deep: [1, undefined, null, -0, Number.NaN, 10n] };
  const value: Record<string, unknown> = {
    date: new Date(5),
    map: new Map<unknown, unknown>([['a', new Set([shared])]]),
    bytes: new Uint16Array([1, 65_535]),
    pattern: /x/gi,
    shared,
    again: shared,
    missing: undefined,
  };
  value['self'] = value;
  const copy = decode(encode(value)) as typeof value;
  expect(copy).toEqual(value);
  expect([copy['self'] === copy, copy['shared'] === copy['again'], copy['shared'] === shared]).toEqual([true, true, false]);
  expect('missing' in copy).toBe(true);
});

test('an error keeps kind and message, a class loses its prototype, __proto__ is a key', () => {
  class Point {
    readonly x = 1;
    norm(): number {
      return this.x;
    }
  }
  const error = decode(encode(new RangeError('too far'))) as Error;
  expect([error instanceof RangeError, error.message]).toEqual([true, 'too far']);
  expect(Object.getPrototypeOf(decode(encode(new Point())))).toBe(Object.prototype);
  const odd = decode(encode(JSON.parse('{"__proto__":{"polluted":true}}'))) as object;
  expect([Object.keys(odd), Object.getPrototypeOf(odd) === Object.prototype]).toEqual([['__proto__'], true]);
});

// "Sending Functions, Promises, Symbols, WeakMaps, or WeakSets will throw an exception."
test.each([
  ['a function', () => undefined],
  ['a promise', Promise.resolve()],
  ['a symbol', Symbol('x')],
  ['a weak map', new WeakMap()],
])('%s is rejected', (_name, value) => {
  expect(() => encode({ value })).toThrow('could not be cloned');
});

test('quotes are checked against the real documentation, and false ones are not found', () => {
  const text = documentation();
  expect(text.length).toBeGreaterThan(500_000);
  expect(text.includes('Emitted before the application starts closing its windows.')).toBe(true);
  expect(text.includes('Emitted before the application starts opening its windows.')).toBe(false);
});

test.each([
  ['a boxed number', Object(5)],
  ['a boxed text', Object('x')],
  ['an array with holes', Object.assign(Array(4), { 1: 1, 3: 2 })],
  ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
  ['a view of a part', new Uint8Array([1, 2, 3, 4]).subarray(1, 3)],
  ['64 bits', new BigInt64Array([-1n, 2n])],
  ['negative zero and no number', [-0, Number.NaN, Infinity, -Infinity]],
  [
    'keys of every kind',
    new Map<unknown, unknown>([
      [new Date(1), null],
      [undefined, Object(true)],
    ]),
  ],
])('%s crosses as the platform clones it', (_name, value) => {
  expect(decode(encode(value))).toStrictEqual(structuredClone(value));
});

// Electron's issue 40719: `ready` comes once the main module has run to its end.
test.each([
  ['waits for ready beside itself', 'void ready();', { status: 7, stdout: 'early\nready\n' }],
  ['waits for ready at its top level, which never comes', 'await ready();', { status: 13, stdout: 'early\n' }],
])('a main module %s', (_name, end, outcome) => {
  const folder = mkdtempSync(join(tmpdir(), 'tcd-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const main = join(folder, 'main.mjs');
  const ready = "const ready = async () => { await app.whenReady(); console.log('ready'); app.exit(7); };";
  writeFileSync(main, `import { app } from 'electron';\nconsole.log(app.isReady() ? 'late' : 'early');\n${ready}\n${end}\n`);
  const runApp = fileURLToPath(new URL('./stand-in/run-app.ts', import.meta.url));
  expect(spawnSync(process.execPath, [runApp, main], { encoding: 'utf8', timeout: 40_000 })).toMatchObject(outcome);
});
