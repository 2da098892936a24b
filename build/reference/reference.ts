// Generates the pages of docs/reference from the tables in the code. Holds the list of pages; each page has a separate file.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandPage } from './command-page.ts';
import { errorPage } from './error-page.ts';
import { eventPage } from './event-page.ts';
import { keyPage } from './key-page.ts';
import { operationPage } from './operation-page.ts';
import { settingPage } from './setting-page.ts';
import { toolPage } from './tool-page.ts';

export const referenceFolder = fileURLToPath(new URL('../../docs/reference', import.meta.url));

/** Every page by its file name. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['commands.md', await commandPage()],
    ['settings.md', settingPage()],
    ['operations.md', operationPage()],
    ['tools.md', await toolPage()],
    ['events.md', eventPage()],
    ['errors.md', errorPage()],
    ['keys.md', await keyPage()],
  ]);
}

/** Writes stale pages, removes files that are not pages, and resolves to the names of both. */
export async function writeReference(): Promise<readonly string[]> {
  mkdirSync(referenceFolder, { recursive: true });
  const pages = await referencePages();
  const present = readdirSync(referenceFolder);
  const surplus = present.filter((name) => !pages.has(name));
  for (const name of surplus) rmSync(join(referenceFolder, name));
  const stale = [...pages].filter(([name, text]) => !present.includes(name) || readFileSync(join(referenceFolder, name), 'utf8') !== text);
  for (const [name, text] of stale) writeFileSync(join(referenceFolder, name), text);
  return [...stale.map(([name]) => name), ...surplus];
}
