// instance.json in the data folder: how another process finds the one that owns it. After an orderly end, ended.json instead: how open
// windows find the next one. Private to the person (0600), replaced atomically.

import * as nodeFs from 'node:fs';
import { lstatSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isPlainObject, parseJson } from '../../base/json.ts';
import { readPlainFile, type PlainFile } from '../../base/read-plain-file.ts';
import { renameOver } from '../../base/rename-over.ts';

export interface InstanceRecord {
  readonly pid: number;
  readonly socketPath: string;
  readonly url?: string | undefined;
  readonly token: string;
  readonly version: string;
}

const FILE_BYTES_MAX = 100_000;
const temporaryName = /^(?:instance|ended)\.json\.\d+\.tmp$/;

export function instanceFilePath(home: string): string {
  return join(home, 'instance.json');
}

function endedFilePath(home: string): string {
  return join(home, 'ended.json');
}

/** Null when there is no readable file: then no instance is running as far as this file can tell. */
export function readInstanceFile(home: string): InstanceRecord | null {
  return readRecord(instanceFilePath(home));
}

function readRecord(path: string): InstanceRecord | null {
  let read: PlainFile;
  try {
    read = readPlainFile(nodeFs, path, FILE_BYTES_MAX);
  } catch {
    // Missing is the usual case; an unreadable one is met again, with its reason, when the store is opened.
    return null;
  }
  const parsed = parseJson(read.kind === 'text' ? read.text : '');
  return parsed.ok ? recordIn(parsed.value) : null;
}

function recordIn(value: unknown): InstanceRecord | null {
  if (!isPlainObject(value)) return null;
  const { pid, socketPath, url, token, version } = value;
  const isWhole = typeof pid === 'number' && Number.isInteger(pid) && pid > 0 && isText(socketPath) && isText(token);
  if (!isWhole || typeof version !== 'string' || (url !== undefined && typeof url !== 'string')) return null;
  return { pid, socketPath, token, version, ...(url === undefined ? {} : { url }) };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export function writeInstanceFile(home: string, record: InstanceRecord): void {
  replaceFile(instanceFilePath(home), record);
  rmSync(endedFilePath(home), { force: true });
}

function replaceFile(path: string, record: InstanceRecord): void {
  const temporary = `${path}.${record.pid}.tmp`;
  // Also what processes left that ended in the middle: only the owner of the data folder writes here.
  const folder = dirname(path);
  for (const name of readdirSync(folder)) if (temporaryName.test(name)) rmSync(join(folder, name), { force: true });
  writeFileSync(temporary, JSON.stringify(record) + '\n', { mode: 0o600, flag: 'wx' });
  renameOver({ renameSync }, temporary, path);
}

/** At an orderly end. */
export function endInstanceFile(home: string, record: InstanceRecord): void {
  rmSync(instanceFilePath(home), { force: true });
  replaceFile(endedFilePath(home), record);
}

/** A window that stays open longer than this without its program is no longer let in. */
const RESTART_WITHIN_MS = 600_000;

/** The token and address of an instance that crashed or ended a short while ago: open windows continue with the next one. */
export function earlierInstance(home: string, nowMs: number): Pick<InstanceRecord, 'token' | 'url'> | null {
  const crashed = readInstanceFile(home);
  if (crashed !== null) return crashed;
  try {
    const agoMs = nowMs - lstatSync(endedFilePath(home)).mtimeMs;
    // The clock of the files is finer than the other: a moment ago may lie ahead.
    return agoMs >= -1_000 && agoMs <= RESTART_WITHIN_MS ? readRecord(endedFilePath(home)) : null;
  } catch {
    return null; // There is none.
  }
}
