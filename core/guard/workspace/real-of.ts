// Resolves the real path of a folder in the settings and creates the configured workspace.

import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeFolders } from '../../base/make-folders.ts';
import { folderError } from '../../store/storage/storage.ts';

/** A missing folder keeps its given path and is resolved again later. */
export function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** Fails with `store_readonly` if it can be neither found nor made. */
export function openWorkspace(home: string, path = 'workspace'): string {
  const folder = resolve(home, path);
  try {
    makeFolders({ mkdirSync, statSync }, folder);
    return realpathSync(folder);
  } catch (cause) {
    const hint = 'Connect its disk or put a folder there, or name another one as workspace.path in config.yaml.';
    throw folderError({ what: 'workspace', path: folder, hint }, cause);
  }
}
