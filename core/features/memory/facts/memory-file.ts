// The file format for memories: one JSON object per line. An export can be imported again. Pure.

import { parseJson } from '../../../base/json.ts';
import { describeIssues } from '../../../contracts/describe-issues.ts';
import { AppError } from '../../../contracts/errors.ts';
import { memoryFileEntrySchema, type MemoryFileEntry } from '../../../contracts/features/memory.ts';
import type { KeptMemory } from '../../../contracts/memory-ports.ts';

const LINES_MAX = 100_000;

export function writeMemoryFile(memories: readonly KeptMemory[]): string {
  return memories
    .toReversed()
    .map(({ kind, text, scope, importance, pinned, createdAtMs, origin, untrusted }) => {
      const source = origin.sessionId === null ? origin.actor : `${origin.actor} in ${origin.sessionId}`;
      const createdAt = new Date(createdAtMs).toISOString();
      return `${JSON.stringify({ kind, text, scope, importance, pinned, createdAt, source, ...(untrusted.length === 0 ? {} : { untrusted }) })}\n`;
    })
    .join('');
}

export interface ReadEntry {
  readonly entry: MemoryFileEntry;
  readonly createdAtMs: number | null;
}

/** Fails with invalid_params, naming the first invalid line. */
export function readMemoryFile(text: string): ReadEntry[] {
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const filled = lines.filter(({ line }) => line !== '');
  if (filled.length > LINES_MAX) throw new AppError('invalid_params', `There are more than ${LINES_MAX} memories in the file.`);
  return filled.map(({ line, number }) => readLine(line, number));
}

function readLine(line: string, number: number): ReadEntry {
  const json = parseJson(line);
  if (!json.ok) throw wrong(number, 'it is not JSON');
  const entry = memoryFileEntrySchema.safeParse(json.value);
  if (!entry.success) {
    throw wrong(number, describeIssues(entry.error.issues, { given: json.value, whole: 'it' }).join('; '));
  }
  const { createdAt } = entry.data;
  const createdAtMs = createdAt === undefined ? null : Date.parse(createdAt);
  if (Number.isNaN(createdAtMs)) throw wrong(number, 'createdAt is not a time');
  return { entry: entry.data, createdAtMs };
}

function wrong(number: number, why: string): AppError {
  return new AppError('invalid_params', `Line ${number} of the file is not valid: ${why}.`, {
    hint: 'One JSON object a line, as trayclaw memory export writes them. Nothing was read in.',
  });
}
