// Finds an Electron that is already on this machine. Never downloads one.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

const binaryNames: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  win32: 'electron.exe',
  darwin: 'Electron.app/Contents/MacOS/Electron',
};

export function findElectron(root: string, env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): string | null {
  const folders = [env['ELECTRON_OVERRIDE_DIST_PATH'], join(root, 'node_modules', 'electron', 'dist')];
  for (const folder of folders) {
    if (folder === undefined || folder === '') continue;
    const binary = join(folder, binaryNames[platform] ?? 'electron');
    if (existsSync(binary)) return binary;
  }
  return null;
}
