// The stand-in against Electron's documentation: what crosses between worlds and processes, and that its parts fit the real types.

import type * as Electron from 'electron';
import { expect, test } from 'vitest';
import type { ipcMain } from './stand-in/ipc-main.ts';
import type { dialog, globalShortcut } from './stand-in/native.ts';
import type { protocol } from './stand-in/protocol.ts';
import { createCodec } from './stand-in/structured.ts';

const codec = createCodec();
const encode = (value: unknown): string => codec.encode(value);
const decode = (text: string): unknown => codec.decode(text);

// "Arguments will be serialized with the Structured Clone Algorithm, just like window.postMessage, so prototype chains will not be included."
test('values cross by structured clone, cycles and identity kept', () => {
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

test('an error keeps its kind and message, a class loses its prototype, __proto__ is a key like any other', () => {
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
])('%s is refused', (_name, value) => {
  expect(() => encode({ value })).toThrow('could not be cloned');
});

type Fits<Ours, Real> = Ours extends Real ? true : false;
test('parts fit the types of Electron', () => {
  const fits: readonly [
    Fits<typeof ipcMain, Pick<Electron.IpcMain, 'handle' | 'removeHandler'>>,
    Fits<typeof dialog, Pick<Electron.Dialog, 'showErrorBox'>>,
    Fits<typeof globalShortcut, Pick<Electron.GlobalShortcut, 'unregister' | 'isRegistered'>>,
    Fits<typeof protocol, Pick<Electron.Protocol, 'registerSchemesAsPrivileged' | 'isProtocolHandled'>>,
  ] = [true, true, true, true];
  expect(fits).toHaveLength(4);
});
