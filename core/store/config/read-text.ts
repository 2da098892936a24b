// Reads the text of config.yaml, or reports why it cannot be read. Does not parse YAML.

import * as nodeFs from 'node:fs';
import { readPlainFile, type PlainFile } from '../../base/read-plain-file.ts';
import { AppError, notUtf8 } from '../../contracts/errors.ts';

const FILE_BYTES_MAX = 1_000_000;

/** Fails with `invalid_config`, also for a pipe or a device, because reading one would never end. */
export function readText(path: string): string {
  let read: PlainFile;
  try {
    read = readPlainFile(nodeFs, path, FILE_BYTES_MAX);
  } catch (cause) {
    throw new AppError('invalid_config', `${path} cannot be read.`, { cause, hint: 'Make the file readable for this user.' });
  }
  if (read.kind === 'text') return read.text;
  if (read.kind === 'not-utf8') throw notUtf8(path, 'invalid_config');
  if (read.kind === 'not-plain')
    throw new AppError('invalid_config', `${path} is not a plain file.`, { hint: 'Put a text file in its place, or remove it.' });
  throw new AppError('invalid_config', `${path} is larger than 1 MB.`, { hint: 'Remove what is not a setting from it.' });
}
