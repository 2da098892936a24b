// Checks that the content files exist and match their hashes, and moves damaged files aside. Only `setAsideArtifacts` changes anything.

import type Database from 'better-sqlite3';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders } from '../../base/make-folders.ts';
import { renameOver } from '../../base/rename-over.ts';

export interface DamagedArtifact {
  readonly sha256: string;
  readonly state: 'missing' | 'altered';
}

export interface ArtifactAudit {
  readonly looked: number;
  readonly hashed: number;
  readonly damaged: readonly DamagedArtifact[];
}

const ROWS_MAX = 100_000;
const DAMAGED_MAX = 1_000;

/**
 * Newest first. For up to `hashesMax` artifacts the content is read and hashed; for the others only the existence and size of the file are
 * checked.
 */
export async function auditArtifacts(db: Database.Database, folder: string, hashesMax: number): Promise<ArtifactAudit> {
  const rows = db.prepare('SELECT sha256, size_bytes AS sizeBytes FROM artifacts ORDER BY last_used_at_ms DESC LIMIT ?').all(ROWS_MAX) as {
    sha256: string;
    sizeBytes: number;
  }[];
  const damaged: DamagedArtifact[] = [];
  let hashed = 0;
  for (const { sha256, sizeBytes } of rows) {
    if (damaged.length >= DAMAGED_MAX) break;
    const path = pathOf(folder, sha256);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) damaged.push({ sha256, state: 'missing' });
    else if (stat.size !== sizeBytes) damaged.push({ sha256, state: 'altered' });
    else if (hashed < hashesMax) {
      hashed += 1;
      if ((await digestOf(path)) !== sha256) damaged.push({ sha256, state: 'altered' });
    }
  }
  return { looked: rows.length, hashed, damaged };
}

/**
 * Moves damaged artifacts into a separate folder and deletes their rows, so that reading one fails as missing. Returns the number of moved
 * files.
 */
export function setAsideArtifacts(db: Database.Database, folder: string, damaged: readonly DamagedArtifact[], aside: string): number {
  let moved = 0;
  for (const { sha256, state } of damaged) {
    const path = pathOf(folder, sha256);
    if (state === 'missing' || !existsSync(path)) continue;
    makeFolders({ mkdirSync, statSync }, aside);
    renameOver({ renameSync }, path, join(aside, sha256));
    moved += 1;
  }
  db.transaction(() => {
    for (const { sha256 } of damaged) {
      for (const table of ['artifact_aliases', 'artifact_uses', 'artifacts'])
        db.prepare(`DELETE FROM ${table} WHERE sha256 = ?`).run(sha256);
    }
  }).immediate();
  return moved;
}

function pathOf(folder: string, sha256: string): string {
  return join(folder, sha256.slice(0, 2), sha256.slice(2));
}

async function digestOf(path: string): Promise<string | null> {
  const digest = createHash('sha256');
  try {
    for await (const piece of createReadStream(path)) digest.update(piece as Buffer);
    return digest.digest('hex');
  } catch {
    // An unreadable file counts as altered.
    return null;
  }
}
