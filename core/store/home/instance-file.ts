// instance.json in the data folder: how another process finds the running instance. Private to the person (0600), replaced atomically. An
// orderly end replaces it with ended.json, which contains no secret.

import * as nodeFs from 'node:fs';
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainObject, jsonIn, objectIn } from '../../base/json.ts';
import { readPlainFile, type PlainFile } from '../../base/read-plain-file.ts';
import { renameOver } from '../../base/rename-over.ts';

export interface InstanceRecord {
  readonly pid: number;
  readonly socketPath: string;
  readonly url?: string | undefined;
  readonly token: string;
  readonly version: string;
  /** The tray app, which serves when a command asks it to. */
  readonly isApp?: true;
}

const FILE_BYTES_MAX = 100_000;
const temporaryName = /^instance\.json\.\d+\.tmp$/;

export function instanceFilePath(home: string): string {
  return join(home, 'instance.json');
}

/** Returns null if there is no readable file: as far as this file shows, no instance is running. */
export function readInstanceFile(home: string): InstanceRecord | null {
  let read: PlainFile;
  try {
    read = readPlainFile(nodeFs, instanceFilePath(home), FILE_BYTES_MAX);
  } catch {
    // The file is usually missing. If it is unreadable, opening the store reports the reason.
    return null;
  }
  return recordIn(jsonIn(read.kind === 'text' ? read.text : ''));
}

function recordIn(value: unknown): InstanceRecord | null {
  if (!isPlainObject(value)) return null;
  const { pid, socketPath, url, token, version, isApp } = value;
  const isWhole = typeof pid === 'number' && Number.isInteger(pid) && pid > 0 && isText(socketPath) && isText(token);
  if (!isWhole || typeof version !== 'string' || (url !== undefined && typeof url !== 'string')) return null;
  return { pid, socketPath, token, version, ...(url === undefined ? {} : { url }), ...(isApp === true ? { isApp } : {}) };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export function writeInstanceFile(home: string, record: InstanceRecord): void {
  const temporary = `${instanceFilePath(home)}.${record.pid}.tmp`;
  // Also removes leftovers of processes that ended midway. Only the owner of the data folder writes here.
  for (const name of readdirSync(home)) if (temporaryName.test(name)) rmSync(join(home, name), { force: true });
  writeFileSync(temporary, JSON.stringify(record) + '\n', { mode: 0o600, flag: 'wx' });
  renameOver({ renameSync }, temporary, instanceFilePath(home));
}

export function removeInstanceFile(home: string): void {
  rmSync(instanceFilePath(home), { force: true });
}

/** The port and the token's digest, for windows that stay open after an orderly end. The next start reads this record. */
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

/** Reads and deletes the file, so that it serves only one start. Returns null if there is no readable file. */
export function takeEndedFile(home: string): EndedRecord | null {
  let read: PlainFile;
  try {
    read = readPlainFile(nodeFs, endedFilePath(home), FILE_BYTES_MAX);
    rmSync(endedFilePath(home), { force: true });
  } catch {
    // The file is usually missing.
    return null;
  }
  const record = objectIn(read.kind === 'text' ? read.text : '');
  if (record === null) return null;
  const { tokenDigest, port, endedAtMs } = record;
  const isWhole = typeof tokenDigest === 'string' && /^[0-9a-f]{64}$/.test(tokenDigest) && typeof endedAtMs === 'number';
  return isWhole && isPort(port) ? { tokenDigest, port, endedAtMs } : null;
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536;
}

function endedFilePath(home: string): string {
  return join(home, 'ended.json');
}
