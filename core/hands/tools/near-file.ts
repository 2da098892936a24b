// Names the files that a model may have meant by a path at which there is nothing.

import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { didYouMean, nearNames } from '../../base/near-names.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { pathForModel } from './glob.ts';
import type { KnownFolders } from './path-facts.ts';
import { protectionOf } from './protected-places.ts';

const NAMES_MAX = 5_000;

/** Like `read`, but `not_found` suggests similar names in the same folder. Suggests only what a listing of the workspace shows as well. */
export async function suggestingNames<T>(real: string, folders: KnownFolders, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (!isAppError(cause) || cause.code !== 'not_found' || !isInside(real, folders.workspace)) throw cause;
    const folder = dirname(real);
    const names = (await readdir(folder).catch(() => [])).slice(0, NAMES_MAX);
    const open = names.filter((name) => protectionOf(join(folder, name), folders) === null);
    const hint = didYouMean(nearNames(basename(real), open).map((name) => pathForModel(join(folder, name), folders.workspace)));
    throw hint === null ? cause : new AppError('not_found', cause.message, { cause, hint });
  }
}
