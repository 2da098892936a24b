// instance.json in the data folder: how another process finds the one that owns it. Private to the person (0600), replaced atomically.
// An orderly end leaves ended.json in its place, which holds no secret.

import * as nodeFs from 'node:fs';
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
const temporaryName = /^instance\.json\.\d+\.tmp$/;

export function instanceFilePath(home: string): string {
  return join(home, 'instance.json');
}

/** Null when there is no readable file: then no instance is running as far as this file can tell. */
export function readInstanceFile(home: string): InstanceRecord | null {
  let read: PlainFile;
  try {
    read = readPlainFile(nodeFs, instanceFilePath(home), FILE_BYTES_MAX);
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
  const temporary = `${instanceFilePath(home)}.${record.pid}.tmp`;
  // Also what processes left that ended in the middle: only the owner of the data folder writes here.
  for (const name of readdirSync(home)) if (temporaryName.test(name)) rmSync(join(home, name), { force: true });
  writeFileSync(temporary, JSON.stringify(record) + '\n', { mode: 0o600, flag: 'wx' });
  renameOver({ renameSync }, temporary, instanceFilePath(home));
}

export function removeInstanceFile(home: string): void {
  rmSync(instanceFilePath(home), { force: true });
}

/** The port and the token that windows still have after an orderly end. The next start reads it. */
export interface EndedRecord {
  /** SHA-256 in hex. */
  readonly tokenDigest: string;
  readonly port: number;
  readonly endedAtMs: number;
}

export function writeEndedFile(home: string, record: EndedRecord): void {
  const path = endedFilePath(home);
  rmSync(path, { force: true });
  writeFileSync(path, JSON.stringify(record) + '\n', { mode: 0o600, flag: 'wx' });
}

/** Reads it and takes it away, so that it serves one start. Null when there is none that can be read. */
export function takeEndedFile(home: string): EndedRecord | null {
  let read: PlainFile;
  try {
    read = readPlainFile(nodeFs, endedFilePath(home), FILE_BYTES_MAX);
    rmSync(endedFilePath(home), { force: true });
  } catch {
    // Missing is the usual case.
    return null;
  }
  const parsed = parseJson(read.kind === 'text' ? read.text : '');
  if (!parsed.ok || !isPlainObject(parsed.value)) return null;
  const { tokenDigest, port, endedAtMs } = parsed.value;
  const isWhole = typeof tokenDigest === 'string' && /^[0-9a-f]{64}$/.test(tokenDigest) && typeof endedAtMs === 'number';
  return isWhole && isPort(port) ? { tokenDigest, port, endedAtMs } : null;
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536;
}

function endedFilePath(home: string): string {
  return join(home, 'ended.json');
}
