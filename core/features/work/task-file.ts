// Reads a task file. Every mistake in it is reported as one sentence that names its place.

import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import type * as z from 'zod';
import { AppError } from '../../contracts/errors.ts';
import { describeIssues } from '../../contracts/describe-issues.ts';
import { workFileSchema, type WorkFile } from '../../contracts/features/work.ts';
import { unreadable } from '../../contracts/unreadable-file.ts';

const FILE_BYTES_MAX = 500_000;

/** Fails with `not_found` or `invalid_params`. A workspace in the file is relative to the file. */
export function readTaskFile(path: string): WorkFile {
  const file = readYaml(path, workFileSchema);
  return file.workspace === undefined ? file : { ...file, workspace: resolve(dirname(path), file.workspace) };
}

function readYaml<T>(path: string, schema: z.ZodType<T>): T {
  const given = parseYaml(path);
  const checked = schema.safeParse(given);
  if (checked.success) return checked.data;
  const problems = describeIssues(checked.error.issues, { given, whole: 'the file' }).join('; ');
  throw new AppError('invalid_params', `${path} cannot be used: ${problems}.`, { hint: 'docs/guide/tasks.md shows what belongs into it.' });
}

function parseYaml(path: string): unknown {
  try {
    if (statSync(path).size > FILE_BYTES_MAX) throw new AppError('invalid_params', `${path} is larger than ${FILE_BYTES_MAX} bytes.`);
    return parse(readFileSync(path, 'utf8'), { logLevel: 'silent' });
  } catch (cause) {
    throw unreadable(path, cause);
  }
}
