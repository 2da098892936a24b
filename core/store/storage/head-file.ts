// The head file next to the database: the last position of the log and whether the panic stop is engaged, so that a lost end of the log is
// noticed. Written without a sync after each commit, which survives a killed process; synced only on request. Contains no SQL.

import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { mapStorageError, refuseFolder } from './storage-errors.ts';

/** A position of the log: an event and its hash in hex. An empty log has position 0. */
export interface LogPlace {
  readonly seq: number;
  readonly hash: string;
}

export interface HeadRecord {
  /** 16 bytes in hex. Backups of a database share the id. */
  readonly databaseId: string;
  readonly newest: LogPlace;
  /** The last position known to be on disk. */
  readonly durable: LogPlace;
  readonly stopped: boolean;
  readonly atMs: number;
  /** When the machine was booted. A loss within one run of the machine is not a power cut. */
  readonly bootedAtMs: number;
}

export const headFileName = 'trayclaw.head';
/** Two slots, written in turn: if a power cut tears a write, the other slot remains. */
const SLOT_BYTES = 256;
const MAGIC = 0x54434844;
const FORM = 1;
/** The checksum covers all bytes before it. */
const CRC_AT = 128;
export const emptyPlace: LogPlace = { seq: 0, hash: '0'.repeat(64) };

/** Returns null if there is no file, and 'damaged' if neither slot can be read. */
export function readHead(home: string): HeadRecord | 'damaged' | null {
  const path = join(home, headFileName);
  if (!existsSync(path)) return null;
  try {
    refuseFolder(path);
    return newestOf(readFileSync(path))?.record ?? 'damaged';
  } catch (cause) {
    throw mapStorageError(cause);
  }
}

export class HeadFile {
  readonly #handle: number;
  readonly #slot = Buffer.alloc(SLOT_BYTES);
  #generation: number;
  #record: HeadRecord;
  #isOnDisk = false;
  #isOpen = true;

  /** Creates or opens the file. The record is on disk when this returns. Fails with the errors of the store. */
  constructor(home: string, record: HeadRecord) {
    const path = join(home, headFileName);
    this.#record = record;
    try {
      const before = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
      this.#generation = newestOf(before)?.generation ?? 0;
      this.#handle = openSync(path, before.length === 0 ? 'w+' : 'r+', 0o600);
      // Allocates both slots at the start, so that no later write fails because the disk is full.
      if (before.length < 2 * SLOT_BYTES) writeSync(this.#handle, Buffer.alloc(2 * SLOT_BYTES), 0, 2 * SLOT_BYTES, 0);
      this.#write();
      this.flush();
    } catch (cause) {
      throw mapStorageError(cause);
    }
  }

  get record(): HeadRecord {
    return this.#record;
  }

  /** One small write without a sync. */
  put(change: Partial<HeadRecord>): void {
    if (!this.#isOpen) return;
    this.#record = { ...this.#record, ...change };
    this.#write();
  }

  flush(): void {
    if (!this.#isOpen || this.#isOnDisk) return;
    fsyncSync(this.#handle);
    this.#isOnDisk = true;
  }

  close(): void {
    if (!this.#isOpen) return;
    try {
      this.flush();
    } finally {
      this.#isOpen = false;
      closeSync(this.#handle);
    }
  }

  #write(): void {
    this.#generation += 1;
    this.#isOnDisk = false;
    encode(this.#slot, this.#generation, this.#record);
    writeSync(this.#handle, this.#slot, 0, SLOT_BYTES, (this.#generation % 2) * SLOT_BYTES);
  }
}

function encode(into: Buffer, generation: number, { databaseId, newest, durable, stopped, atMs, bootedAtMs }: HeadRecord): void {
  into.writeUInt32BE(MAGIC, 0);
  into.writeUInt16BE(FORM, 4);
  into.writeUInt16BE(stopped ? 1 : 0, 6);
  into.writeDoubleBE(generation, 8);
  into.writeDoubleBE(newest.seq, 16);
  into.writeDoubleBE(durable.seq, 24);
  into.writeDoubleBE(atMs, 32);
  into.writeDoubleBE(bootedAtMs, 40);
  into.write(databaseId, 48, 16, 'hex');
  into.write(newest.hash, 64, 32, 'hex');
  into.write(durable.hash, 96, 32, 'hex');
  into.writeUInt32BE(crc32(into.subarray(0, CRC_AT)), CRC_AT);
}

function newestOf(bytes: Buffer): { generation: number; record: HeadRecord } | null {
  const [a, b] = [decode(bytes.subarray(0, SLOT_BYTES)), decode(bytes.subarray(SLOT_BYTES, 2 * SLOT_BYTES))];
  if (a === null || b === null) return a ?? b;
  return a.generation > b.generation ? a : b;
}

function decode(slot: Buffer): { generation: number; record: HeadRecord } | null {
  if (slot.length < SLOT_BYTES || slot.readUInt32BE(0) !== MAGIC || slot.readUInt16BE(4) !== FORM) return null;
  if (slot.readUInt32BE(CRC_AT) !== crc32(slot.subarray(0, CRC_AT))) return null;
  return {
    generation: slot.readDoubleBE(8),
    record: {
      databaseId: slot.toString('hex', 48, 64),
      newest: { seq: slot.readDoubleBE(16), hash: slot.toString('hex', 64, 96) },
      durable: { seq: slot.readDoubleBE(24), hash: slot.toString('hex', 96, 128) },
      stopped: slot.readUInt16BE(6) === 1,
      atMs: slot.readDoubleBE(32),
      bootedAtMs: slot.readDoubleBE(40),
    },
  };
}
