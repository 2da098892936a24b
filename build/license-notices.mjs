// The licences of the packages inside the bundles, as their terms require from anyone who distributes them: name, version and text, in one
// file.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** In dist/. */
export const noticesFile = 'licenses.txt';
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/**
 * The folders of the packages that modules of these bundles came from.
 * @param {readonly { type: string, moduleIds?: string[] }[]} output
 */
export function bundledPackages(output) {
  const folders = output
    .flatMap((part) => part.moduleIds ?? [])
    .map((id) => /^\0?(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id)?.[1])
    .filter((folder) => folder !== undefined && existsSync(join(folder, 'package.json')));
  return [...new Set(/** @type {string[]} */ (folders))];
}

/** @param {readonly string[]} folders */
export function licenseNotices(folders) {
  const notices = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const texts = readdirSync(folder)
      .filter((file) => LICENSE_FILE.test(file))
      .sort()
      .map((file) => readFileSync(join(folder, file), 'utf8').trim());
    return { title: `${name} ${version}`, text: [`License: ${license ?? 'see below'}`, ...texts].join('\n\n') };
  });
  const unique = new Map(notices.map(({ title, text }) => [title, text]));
  const sorted = [...unique].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([title, text]) => `${title}\n${'='.repeat(title.length)}\n\n${text}\n`).join('\n\n');
}
