// Loads sqlite-vec into a database connection. In the packaged program the library is a separate file outside the archive, so that SQLite
// can open it.

import { getLoadablePath } from 'sqlite-vec';
import { AppError } from '../../../contracts/errors.ts';
import type { SqlDatabase } from '../../../store/storage/storage.ts';

/** Fails with store_failed if the library for this machine is missing. */
export function loadVectorExtension(db: SqlDatabase): void {
  try {
    db.loadExtension(getLoadablePath().replace(/([/\\])app\.asar([/\\])/, '$1app.asar.unpacked$2'));
  } catch (cause) {
    throw new AppError('store_failed', 'The library for search by meaning (sqlite-vec) could not be loaded on this machine.', {
      cause,
      hint: 'Full-text search still works. Reinstall TrayClaw, or remove embeddings from config.yaml.',
    });
  }
}
