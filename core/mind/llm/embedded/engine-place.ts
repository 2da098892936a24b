// Where the engine and the files it runs lie. Reads whether something is there; changes nothing.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The newest that has a prebuilt library for every platform below. */
export const engineVersion = '3.21.1';

/** The name that the engine gives this platform; null where it has no prebuilt library for it. */
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

/** Of this version and platform. What is there is whole: it is put there in one step. */
export function engineFolder(home: string): string {
  return join(home, 'engine', `${engineVersion}-${process.platform}-${process.arch}`);
}

export function installedEngine(home: string): string | null {
  const folder = engineFolder(home);
  return existsSync(join(folder, 'node_modules')) ? folder : null;
}

/** The path that a file in config.yaml means: absolute, below ~/ or below the data folder. */
export function modelFilePath(file: string, home: string, userHome: string): string {
  return resolve(home, /^~[\\/]/.test(file) ? resolve(userHome, file.slice(2)) : file);
}

/** The name of the model in a file. */
export function embeddedModelId(file: string): string {
  return (file.split(/[\\/]/).at(-1) ?? file).replace(/\.gguf$/i, '');
}
