// Resolves the real path of a folder in the settings and creates the configured workspace.

import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeFolders } from '../../base/make-folders.ts';

/** A missing folder keeps its given path and is resolved again later. */
export function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

export function openWorkspace(home: string, path = 'workspace'): string {
  const folder = resolve(home, path);
  makeFolders({ mkdirSync, statSync }, folder);
  return realpathSync(folder);
}
