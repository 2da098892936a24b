// `node build/merge-feeds.mjs FEED FEED`: prints one update feed for macOS that lists the files of both processors, because each
// processor's feed is written on a separate runner. The updater chooses the file of its processor by name.

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parse, stringify } from 'yaml';

/**
 * The first feed provides the fields that older updaters read (`path`, `sha512`). Both feeds must be of the same version.
 * @param {string} first
 * @param {string} second
 */
export function mergeFeeds(first, second) {
  const [one, other] = [parse(first), parse(second)];
  if (one.version !== other.version) throw new Error(`the feeds are of two versions: ${one.version} and ${other.version}`);
  return stringify({ ...one, files: [...one.files, ...other.files] });
}

const [, script, ...feeds] = process.argv;
if (script !== undefined && import.meta.url === pathToFileURL(script).href) {
  const [first, second] = feeds.map((file) => readFileSync(file, 'utf8'));
  if (first === undefined || second === undefined) throw new Error('usage: node build/merge-feeds.mjs FEED FEED');
  process.stdout.write(mergeFeeds(first, second));
}
