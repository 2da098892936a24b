// The database of a new data folder, after all migrations and before the first event. Applying them is most of the work of a first start, and
// hundreds of tests begin with one.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtInFeatures } from '../../core/compose-features.ts';
import { migrationsOf } from '../../core/compose-spine.ts';
import { Storage } from '../../core/store/storage/storage.ts';

let made: Buffer | undefined;

/** The bytes of trayclaw.db; made once in each worker. */
export function blankDatabase(): Buffer {
  return (made ??= make());
}

function make(): Buffer {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-blank-'));
  try {
    Storage.open({ home, migrations: migrationsOf(builtInFeatures.all) }).dispose();
    return readFileSync(join(home, 'trayclaw.db'));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
