// Writes the files of a report to one archive that only this user can read.

import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { makeFolders } from '../../base/make-folders.ts';
import type { ReportFile } from './collect.ts';

export function saveReport(path: string, files: readonly ReportFile[]): { path: string; sizeBytes: number } {
  const bytes = zipSync(Object.fromEntries(files.map(({ name, text }) => [name, strToU8(text)])), { level: 9 });
  makeFolders({ mkdirSync, statSync }, dirname(path));
  writeFileSync(path, bytes, { mode: 0o600, flag: 'wx' });
  return { path, sizeBytes: bytes.length };
}
