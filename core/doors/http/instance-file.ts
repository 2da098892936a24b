// instance.json in the data folder: how another process finds the one that owns it. Private to the person (0600), replaced atomically.

import * as nodeFs from 'node:fs';
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import { readPlainFile, type PlainFile } from '../../base/read-plain-file.ts';
import { renameOver } from '../../base/rename-over.ts';

const instanceRecordSchema = z.object({
  pid: z.number().int().positive(),
  socketPath: z.string().min(1),
  url: z.string().optional(),
  token: z.string().min(1),
  version: z.string(),
});
export type InstanceRecord = z.infer<typeof instanceRecordSchema>;

const FILE_BYTES_MAX = 100_000;
const temporaryName = /^instance\.json\.\d+\.tmp$/;

export function instanceFilePath(home: string): string {
  return join(home, 'instance.json');
}

/** Null when there is none, or none that can be read: then nobody is running as far as this file can tell. */
export function readInstanceFile(home: string): InstanceRecord | null {
  let read: PlainFile;
  try {
    read = readPlainFile(nodeFs, instanceFilePath(home), FILE_BYTES_MAX);
  } catch {
    // Missing is the usual case; an unreadable one is met again, with its reason, when the store is opened.
    return null;
  }
  const parsed = parseJson(read.kind === 'text' ? read.text : '');
  const record = instanceRecordSchema.safeParse(parsed.ok ? parsed.value : null);
  return record.success ? record.data : null;
}

export function writeInstanceFile(home: string, record: InstanceRecord): void {
  const temporary = `${instanceFilePath(home)}.${record.pid}.tmp`;
  // Also what processes left that ended in the middle: only the owner of the data folder writes here.
  for (const name of readdirSync(home)) if (temporaryName.test(name)) rmSync(join(home, name), { force: true });
  writeFileSync(temporary, JSON.stringify(record) + '\n', { mode: 0o600, flag: 'wx' });
  renameOver({ renameSync }, temporary, instanceFilePath(home));
}

export function removeInstanceFile(home: string): void {
  rmSync(instanceFilePath(home), { force: true });
}
