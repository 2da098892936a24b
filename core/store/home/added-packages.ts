// Finds and loads packages that a person installed into the data folder, where no tool can write. Knows no package by name.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError } from '../../contracts/errors.ts';

export interface AddedPackage {
  readonly home: string;
  /** The npm name, with a version if only that version is known to work. */
  readonly name: string;
  readonly version?: string;
  /** The file of the program, tried last: in a checkout, packages are installed next to it. */
  readonly besides?: string;
}

/** Fails with `invalid_config` and the command that installs the package. */
export async function loadAddedPackage({ home, name, version, besides }: AddedPackage): Promise<object> {
  const folder = join(home, 'packages');
  const places = [join(folder, 'package.json'), ...(besides === undefined ? [] : [besides])];
  const hint = `Install it: npm install --prefix "${folder}" ${name}${version === undefined ? '' : `@${version}`}`;
  const entry = places.map((place) => resolvedFrom(place, name)).find((found) => found !== null);
  if (entry === undefined || entry === null)
    throw new AppError('invalid_config', `The package ${name} is not installed in ${folder}.`, { hint });
  try {
    return (await import(pathToFileURL(entry).href)) as object;
  } catch (cause) {
    throw new AppError('invalid_config', `The package ${name} cannot be loaded.`, { hint, cause });
  }
}

function resolvedFrom(place: string, name: string): string | null {
  try {
    return createRequire(place).resolve(name);
  } catch {
    return null;
  }
}
