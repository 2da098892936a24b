// Collects the licences of the bundled packages in one file (name, version and text), as their terms require from anyone who distributes
// them.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Path relative to dist/. */
export const noticesFile = 'licenses.txt';
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** The folders of the packages whose modules are in these bundles. */
export function bundledPackages(output: readonly { type: string; moduleIds?: string[] }[]) {
  const folders = output
    .flatMap((part) => part.moduleIds ?? [])
    .map((id) => /^\0?(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id)?.[1])
    .filter((folder) => folder !== undefined && existsSync(join(folder, 'package.json')));
  return [...new Set(folders as string[])];
}

export function licenseNotices(folders: readonly string[]) {
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
  const known = new Map();
  return sorted.map(([title, text]) => `${title}\n${'='.repeat(title.length)}\n\n${withoutRepeat(title, text, known)}\n`).join('\n\n');
}

/** Matches the lines that name a package's copyright holders. */
const OWNERS = /^(?:.*\n){0,7}?.*copyright .*\n(?:.*(?:copyright|all rights reserved).*\n|\s*\n)*/i;

/**
 * Leaves out terms that were already printed for an earlier package. `known`: the terms so far, each with the package it was printed for.
 */
function withoutRepeat(title: string, text: string, known: Map<string, string>) {
  const [owners = ''] = OWNERS.exec(text) ?? [];
  const terms = text.slice(owners.length);
  const key = terms.replace(/\s+/g, ' ').trim();
  const at = known.get(key);
  if (at !== undefined) return `${owners}The terms are those that stand under ${at}.`;
  if (key.length > 400) known.set(key, title);
  return text;
}
