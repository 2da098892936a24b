// The installed browsers that are built on Chromium, in the usual places of each system.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { isExecutable } from './programs.ts';

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

/** The paths of the programs, best first. Looks only as far as they are asked for. */
export function* findChromiums(
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): Generator<string, undefined> {
  // Runs at every start. Most places are empty, and a look at one is much quicker than a refused access.
  for (const path of candidates(environment, platform)) if (existsSync(path) && isExecutable(path)) yield path;
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
