// Packages that a person installed into the data folder, where no tool writes: finds one and loads it. Knows none by name.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError } from '../../contracts/errors.ts';

export interface AddedPackage {
  readonly home: string;
  /** As npm names it; with a version where only that one is known to work. */
  readonly name: string;
  readonly version?: string;
  /** The file of the program, resolved from last: a checkout has packages next to it. */
  readonly besides?: string;
}

/** Fails with `invalid_config` and the command that installs it. */
export async function loadAddedPackage({ home, name, version, besides }: AddedPackage): Promise<object> {
  const folder = join(home, 'packages');
  const places = [join(folder, 'package.json'), ...(besides === undefined ? [] : [besides])];
  const hint = `Install it: npm install --prefix "${folder}" ${name}${version === undefined ? '' : `@${version}`}`;
  const entry = places.map((place) => resolvedFrom(place, name)).find((found) => found !== null);
  if (entry === undefined || entry === null)
    throw new AppError('invalid_config', `The package ${name} is not installed in ${folder}.`, { data: { hint } });
  try {
    return (await import(pathToFileURL(entry).href)) as object;
  } catch (cause) {
    throw new AppError('invalid_config', `The package ${name} cannot be loaded.`, { data: { hint }, cause });
  }
}

function resolvedFrom(place: string, name: string): string | null {
  try {
    return createRequire(place).resolve(name);
  } catch {
    return null;
  }
}
