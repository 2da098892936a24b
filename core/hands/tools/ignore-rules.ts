// Reads .gitignore files and decides about a path: the rules of the deepest folder with a match win. Reads nothing else.

import { constants } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { AppError } from '../../contracts/errors.ts';
import { errnoOf } from '../../base/errno.ts';
import { openPlainFile } from './open-file.ts';

const RULES_BYTES_MAX = 1_000_000;
const PARENTS_MAX = 32;

/** The rules of one folder: its own and those of its parents. */
export class IgnoreRules {
  readonly #layers: readonly { readonly folder: string; readonly rules: Ignore }[];

  constructor(layers: readonly { readonly folder: string; readonly rules: Ignore }[] = []) {
    this.#layers = layers;
  }

  /** These rules and those of `folder`'s own .gitignore, if it has a readable one. */
  async below(folder: string): Promise<IgnoreRules> {
    const text = await readRules(join(folder, '.gitignore'));
    if (text === null) return this;
    return new IgnoreRules([{ folder, rules: ignore().add(text) }, ...this.#layers]);
  }

  ignores(path: string, isFolder: boolean): boolean {
    for (const { folder, rules } of this.#layers) {
      const inside = relative(folder, path).split(sep).join('/');
      const verdict = rules.test(isFolder ? `${inside}/` : inside);
      if (verdict.ignored) return true;
      if (verdict.unignored) return false;
    }
    return false;
  }
}

/** The rules that a search starting at `folder` inherits from its repository; none outside a repository. */
export async function inheritedRules(folder: string): Promise<IgnoreRules> {
  const above: string[] = [];
  let current = folder;
  for (let i = 0; i < PARENTS_MAX; i++) {
    if (await exists(join(current, '.git'))) break;
    const parent = dirname(current);
    if (parent === current || i === PARENTS_MAX - 1) return new IgnoreRules();
    above.push(parent);
    current = parent;
  }
  let rules = new IgnoreRules();
  for (const parent of above.reverse()) rules = await rules.below(parent);
  return rules;
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return false;
  }
}

async function readRules(path: string): Promise<string | null> {
  try {
    const handle = await openPlainFile(path, constants.O_RDONLY, 'read');
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min((await handle.stat()).size, RULES_BYTES_MAX)));
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    // Unreadable rules hide nothing.
    if (cause instanceof AppError) return null;
    throw cause;
  }
}
