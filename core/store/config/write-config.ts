// Changes settings in config.yaml. Comments and order are kept, the whole file is checked first, and a crash leaves the old or the new
// file.

import * as fs from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Document, isScalar as IsScalar, isSeq as IsSeq } from 'yaml';
import { errnoOf } from '../../base/errno.ts';
import { replaceFile } from '../../base/rename-over.ts';
import { parseConfig, type LoadedConfig } from './parse-config.ts';
import { readText } from './read-text.ts';
import { noKeys, readDocument } from './yaml-document.ts';
import { AppError, toAppError, whyFileFailed } from '../../contracts/errors.ts';

export interface Setting {
  /** A dotted path such as `models.default`. */
  readonly key: string;
  /** Null removes the setting. */
  readonly value: unknown;
}

/** Writes all settings at once. Fails with `invalid_config`, naming the key; nothing is changed then. */
export async function writeSettings(path: string, settings: readonly Setting[]): Promise<LoadedConfig> {
  const yaml = await import('yaml');
  const document = await readSettingsDocument(path);
  const before: unknown = document.toJS() ?? {};
  let hasChanged = false;
  for (const { key, value } of settings) {
    const steps = key.split('.');
    if (value === null && !document.hasIn(steps)) continue;
    hasChanged = true;
    for (let depth = 1; value !== null && depth < steps.length; depth++) makeKeys(yaml, document, { path, steps, depth });
    if (value === null) document.deleteIn(steps);
    else document.setIn(steps, value);
  }
  const loaded = parseChanged(path, before, document.toJS() ?? {});
  if (hasChanged) writeWhole(linkedFile(path), document.toString());
  return loaded;
}

type Yaml = { readonly isScalar: typeof IsScalar; readonly isSeq: typeof IsSeq };
type Place = { readonly path: string; readonly steps: readonly string[]; readonly depth: number };

/** Makes the value above a setting able to hold it. Fails with `invalid_config` if it is another value. */
function makeKeys({ isScalar, isSeq }: Yaml, document: Document, { path, steps, depth }: Place): void {
  const above = steps.slice(0, depth);
  const node = document.getIn(above, true);
  if (isSeq(node) && !/^\d+$/.test(steps[depth] ?? '')) {
    if (above.join('.') !== 'plugins') throw new AppError('invalid_config', `${above.join('.')} is a list: set it as a whole.`);
    // The short form of `plugins.files`.
    document.setIn(above, document.createNode({ files: node }));
  }
  if (!isScalar(node)) return;
  // A key without a value, for example because all its lines are comments, can hold the setting. Any other value is a conflict.
  if (node.value !== null) throw new AppError('invalid_config', `${path} is not valid: ${above.join('.')} must be keys with values.`);
  const keys = document.createNode({});
  keys.comment = node.comment ?? null;
  document.setIn(above, keys);
}

/** If the file was valid before, what is wrong is a new setting and not the file. */
function parseChanged(path: string, before: unknown, after: unknown): LoadedConfig {
  try {
    return parseConfig(path, after);
  } catch (cause) {
    const { issues, hint } = toAppError(cause).data;
    if (!Array.isArray(issues) || !isValid(path, before)) throw cause;
    const data = { issues: issues as readonly string[] };
    const next = hint === undefined ? 'See all settings with: trayclaw config schema' : String(hint);
    throw new AppError('invalid_config', `${data.issues.join('; ')}.`, { data, hint: `Nothing was changed. ${next}` });
  }
}

function isValid(path: string, raw: unknown): boolean {
  try {
    parseConfig(path, raw);
    return true;
  } catch {
    return false;
  }
}

async function readSettingsDocument(path: string): Promise<Document> {
  const { isMap, isScalar } = await import('yaml');
  const document = await readDocument(path, fs.existsSync(path) ? readText(path) : '');
  // `---` and `null` contain no settings.
  if (isScalar(document.contents) && document.contents.value === null) document.contents = document.createNode({});
  if (document.contents !== null && !isMap(document.contents)) throw noKeys(path);
  return document;
}

/** Follows a link, for example to a folder where a person keeps settings: replacing the link with a file would separate the two. */
function linkedFile(path: string, linksMax = 20): string {
  if (linksMax === 0 || fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path;
  return linkedFile(resolve(dirname(path), fs.readlinkSync(path)), linksMax - 1);
}

function writeWhole(path: string, text: string): void {
  try {
    replaceFile(fs, path, text);
  } catch (cause) {
    const code = errnoOf(cause) === 'ENOSPC' ? 'store_full' : 'store_readonly';
    throw new AppError(code, `${path} cannot be written: ${whyFileFailed(cause)}.`, { cause });
  }
}
