// Lists the files electron-builder would put into the package of a platform, using its own matchers and without Electron.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { getFileMatchers } from 'app-builder-lib/out/fileMatcher.js';
import { packagingConfig } from '../../build/electron-builder.mjs';
import type { PackedPlatform } from '../../build/packed-files.ts';
import { projectRoot } from './fixture-tree.ts';

const optionKeys = { linux: 'linux', darwin: 'mac', win32: 'win' } as const;

/** Paths in the package, with their sizes in bytes. Modules that npm did not install for that platform are left out. */
export function packedList(platform: PackedPlatform, arch: string): Map<string, number> {
  const config = packagingConfig(projectRoot, {});
  const matchers = getFileMatchers(config, 'files', '/package', {
    macroExpander: (text) => text.replaceAll('${arch}', arch),
    customBuildOptions: config[optionKeys[platform]] ?? {},
    globalOutDir: join(projectRoot, 'release'),
    defaultSrc: projectRoot.replace(/[\\/]$/, ''),
  });
  const packed = new Map<string, number>();
  for (const matcher of matchers ?? []) {
    const filter = matcher.createFilter();
    for (const file of walk(matcher.from, (path) => filter(path, statSync(path)))) {
      const path = join(matcher.to, relative(matcher.from, file)).replaceAll('\\', '/');
      packed.set(path.slice(path.indexOf('/package/') + '/package/'.length), statSync(file).size);
    }
  }
  return packed;
}

function walk(folder: string, isWanted: (path: string) => boolean): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => isWanted(path))
    .flatMap((path) => (statSync(path).isDirectory() ? walk(path, isWanted) : [path]));
}
