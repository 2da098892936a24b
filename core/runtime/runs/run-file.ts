// Reads a YAML file that a person named, such as a pipeline or a task, and checks its form.

import { readFileSync, statSync } from 'node:fs';
import { parse } from 'yaml';
import type * as z from 'zod';
import { describeIssues } from '../../contracts/describe-issues.ts';
import { AppError, unreadable } from '../../contracts/errors.ts';

const FILE_BYTES_MAX = 500_000;

interface RunFileForm<T> {
  readonly schema: z.ZodType<T>;
  readonly guide: string;
  /** Finds problems that the schema cannot. */
  readonly faults?: (file: T) => readonly string[];
}

/** Fails with not_found or invalid_params. */
export function readRunFile<T>(path: string, { schema, guide, faults }: RunFileForm<T>): T {
  const given = parseYaml(path);
  const checked = schema.safeParse(given);
  const problems = checked.success ? (faults?.(checked.data) ?? []) : describeIssues(checked.error.issues, { given, whole: 'the file' });
  if (checked.success && problems.length === 0) return checked.data;
  throw new AppError('invalid_params', `${path} cannot be used: ${problems.join('; ')}.`, {
    hint: `docs/guide/${guide} shows what belongs into it.`,
  });
}

function parseYaml(path: string): unknown {
  try {
    if (statSync(path).size > FILE_BYTES_MAX) throw new AppError('invalid_params', `${path} is larger than ${FILE_BYTES_MAX} bytes.`);
    return parse(readFileSync(path, 'utf8'), { logLevel: 'silent' });
  } catch (cause) {
    throw unreadable(path, cause);
  }
}
