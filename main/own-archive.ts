// Makes Electron's file functions see one archive, the app's own. Without this they show every *.asar file as a folder, also those in a
// person's projects: such a file could be neither read, searched nor kept for undo.

import type * as nodeFs from 'node:fs';
import { resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

type Fs = Omit<typeof nodeFs, 'default'>;
type Call = (...args: unknown[]) => unknown;
type Calls = Record<PropertyKey, unknown>;

/**
 * Replaces the functions of `fs` in place by those of `plain` (Electron's `original-fs`) for every path outside `archive`. Modules that
 * imported a function by name see the change after `syncBuiltinESMExports` of `node:module`.
 */
export function seeOnlyOwnArchive(fs: Fs, plain: Fs, archive: string): void {
  const isOwn = (first: unknown): boolean => {
    const path = pathIn(first);
    // Most paths end here.
    if (path?.includes('.asar') !== true) return false;
    const whole = resolve(path);
    return whole === archive || whole.startsWith(archive + sep);
  };
  // A descriptor may be one of a file in the archive, which only Electron's functions can read.
  replaceCalls(fs, plain, (first) => typeof first === 'number' || isOwn(first));
}

function replaceCalls(target: Calls, plain: Calls, isForArchive: (first: unknown) => boolean): void {
  for (const name of Reflect.ownKeys(plain)) {
    const [seen, own] = [target[name], plain[name]];
    if (name === 'promises') replaceCalls(seen as Calls, own as Calls, isForArchive);
    // A name with a capital is a class.
    else if (isCall(seen) && isCall(own) && !/^[A-Z]/.test(String(name))) target[name] = eitherCall(seen, own, isForArchive);
  }
}

/** Functions may have others as properties: `realpath.native`, the form of `exists` for `promisify`. */
function eitherCall(seen: Call, own: Call, isForArchive: (first: unknown) => boolean): Call {
  const either = (...args: unknown[]): unknown => (isForArchive(args[0]) ? seen : own)(...args);
  const properties: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(seen);
  // An arrow function has none.
  delete properties['prototype'];
  for (const [name, property] of Reflect.ownKeys(properties).map((key) => [key, properties[key]] as const)) {
    const ownPart = (own as unknown as Calls)[name];
    // `opendir` is its own form for `promisify`.
    if (property?.value === seen) property.value = either;
    else if (isCall(property?.value) && isCall(ownPart)) property.value = eitherCall(property.value, ownPart, isForArchive);
  }
  return Object.defineProperties(either, properties);
}

function isCall(value: unknown): value is Call {
  return typeof value === 'function';
}

function pathIn(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value instanceof URL) return value.protocol === 'file:' ? fileURLToPath(value) : null;
  return Buffer.isBuffer(value) ? value.toString() : null;
}
