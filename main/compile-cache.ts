// Locates the cache of compiled code that is kept between starts: in the user's own cache folder. Node's default is below the shared
// temporary folder, where another user could plant code that we would run.

import { mkdirSync, statSync } from 'node:fs';
import nodeModule from 'node:module';
import { isAbsolute, join } from 'node:path';
import { makeFolders } from '../core/base/make-folders.ts';

/** False where the folder cannot be made: then every start compiles. Left to Node, a folder below /proc would hold up the start forever. */
export function keepCompiled(folder: string): boolean {
  try {
    makeFolders({ mkdirSync, statSync }, folder);
  } catch {
    return false;
  }
  nodeModule.enableCompileCache(folder);
  return true;
}

export function compileCacheFolder(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  userFolder: string,
): string {
  return join(cacheFolder(env, platform, userFolder), 'compiled');
}

function cacheFolder(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform, userFolder: string): string {
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(userFolder, 'AppData', 'Local'), 'TrayClaw');
  if (platform === 'darwin') return join(userFolder, 'Library', 'Caches', 'TrayClaw');
  const shared = env['XDG_CACHE_HOME'];
  return join(shared !== undefined && isAbsolute(shared) ? shared : join(userFolder, '.cache'), 'trayclaw');
}
