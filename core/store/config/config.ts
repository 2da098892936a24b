// config.yaml: read once at the start, checked against the schema, never written by a tool. A wrong or unknown key is named.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainObject } from '../../base/json.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { parseConfig, type LoadedConfig } from './parse-config.ts';
import { readText } from './read-text.ts';
import { noKeys, readDocument } from './yaml-document.ts';

export type { LoadedConfig } from './parse-config.ts';
export { writeSettings, type Setting } from './write-config.ts';

/** Loads the file in the data folder, or `given`. Fails with `invalid_config`, naming every wrong key. */
export async function loadConfig(home: string, given?: unknown): Promise<LoadedConfig> {
  const path = join(home, 'config.yaml');
  const raw = given ?? (existsSync(path) ? await readYaml(path) : {});
  return parseConfig(given === undefined ? path : null, raw, path);
}

/** Returns the unchecked settings of the file: empty if the file is missing, a problem if it is unreadable. */
export async function readSettings(path: string): Promise<{ file: Record<string, unknown> | null; problem: string | null }> {
  try {
    const file = existsSync(path) ? await readYaml(path) : {};
    return { file: isPlainObject(file) ? file : {}, problem: null };
  } catch (cause) {
    return { file: null, problem: toAppError(cause).message };
  }
}

async function readYaml(path: string): Promise<unknown> {
  const value = toPlain(await readDocument(path, readText(path)), path);
  if (value === null || value === undefined) return {};
  if (!isPlainObject(value)) throw noKeys(path);
  return value;
}

/** Fails with `invalid_config` if aliases expand to too many values. */
function toPlain(document: { toJS(options: { maxAliasCount: number }): unknown }, path: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    throw new AppError('invalid_config', `${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`, { cause });
  }
}
