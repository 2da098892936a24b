// The locations of the engine and of the files it runs. Only checks whether something exists; changes nothing.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The newest version with a prebuilt library for every platform below. */
export const engineVersion = '3.21.1';

/** The engine's name for this platform; null if it has no prebuilt library for it. */
export function engineTarget(platform: NodeJS.Platform, arch: string): string | null {
  const targets: Readonly<Record<string, string>> = {
    'linux-x64': 'linux-x64',
    'linux-arm64': 'linux-arm64',
    'darwin-arm64': 'mac-arm64-metal',
    'darwin-x64': 'mac-x64',
    'win32-x64': 'win-x64',
    'win32-arm64': 'win-arm64',
  };
  return targets[`${platform}-${arch}`] ?? null;
}

/** The folder for this version and platform. If it exists it is complete, because the engine is moved there in one step. */
export function engineFolder(home: string): string {
  return join(home, 'engine', `${engineVersion}-${process.platform}-${process.arch}`);
}

export function installedEngine(home: string): string | null {
  const folder = engineFolder(home);
  return existsSync(join(folder, 'node_modules')) ? folder : null;
}

/** Resolves a file of config.yaml: absolute, below ~/ or below the data folder. */
export function modelFilePath(file: string, home: string, userHome: string): string {
  return resolve(home, /^~[\\/]/.test(file) ? resolve(userHome, file.slice(2)) : file);
}

/** The name of the model in a file. */
export function embeddedModelId(file: string): string {
  return (file.split(/[\\/]/).at(-1) ?? file).replace(/\.gguf$/i, '');
}
