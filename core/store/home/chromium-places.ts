// The installed browsers that are built on Chromium, in the usual places of each system.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const onPath = [
  'google-chrome-stable',
  'google-chrome',
  'chromium',
  'chromium-browser',
  'microsoft-edge-stable',
  'microsoft-edge',
  'brave-browser',
  'vivaldi-stable',
];
const onMac = ['Google Chrome', 'Chromium', 'Microsoft Edge', 'Brave Browser', 'Vivaldi'];
const onWindows = [
  'Google\\Chrome\\Application\\chrome.exe',
  'Microsoft\\Edge\\Application\\msedge.exe',
  'BraveSoftware\\Brave-Browser\\Application\\brave.exe',
];

/** The paths of the programs, best first. */
export function findChromiums(environment: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): string[] {
  return candidates(environment, platform).filter(isExecutable);
}

function candidates(environment: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): string[] {
  if (platform === 'darwin') return onMac.map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
  if (platform === 'win32') {
    const roots = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'].flatMap((name) => environment[name] ?? []);
    return roots.flatMap((root) => onWindows.map((path) => join(root, path)));
  }
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return onPath.flatMap((name) => folders.map((folder) => join(folder, name)));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    // This browser is not installed.
    return false;
  }
}
