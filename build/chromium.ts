// Finds the Chromium that end-to-end tests drive. Downloads nothing.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The headless shell comes first: a page in it takes a third of the work. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PLACES = {
  darwin: ['/Applications/Chromium.app/Contents/MacOS/Chromium', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'],
  win32: ['C:/Program Files/Google/Chrome/Application/chrome.exe', 'C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe'],
};

/** Tries TRAYCLAW_CHROMIUM first, then the usual names and places of this system. */
export function findChromium(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string | null {
  const given = env['TRAYCLAW_CHROMIUM'];
  if (given) return isExecutable(given) ? given : null;
  if (platform === 'darwin' || platform === 'win32') return PLACES[platform].find(isExecutable) ?? null;
  return findOnPath(NAMES, env);
}

export function findOnPath(names: readonly string[], env: Readonly<Record<string, string | undefined>> = process.env): string | null {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable) ?? null;
}

function isExecutable(file: string) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // Missing or not executable: try the next place.
  }
}
