// Loads sqlite-vec into a database connection. In the packaged program the library is a separate file outside the archive, so that SQLite
// can open it.

import { createRequire } from 'node:module';
import type { getLoadablePath as FindLibrary } from 'sqlite-vec';
import { AppError } from '../../../contracts/errors.ts';
import type { SqlDatabase } from '../../../store/storage/storage.ts';

/** Fails with store_failed if the library for this machine is missing. */
export function loadVectorExtension(db: SqlDatabase): void {
  try {
    // A start without embeddings does not load the package.
    const { getLoadablePath } = createRequire(import.meta.url)('sqlite-vec') as { readonly getLoadablePath: typeof FindLibrary };
    db.loadExtension(getLoadablePath().replace(/([/\\])app\.asar([/\\])/, '$1app.asar.unpacked$2'));
  } catch (cause) {
    throw new AppError('store_failed', 'The library for search by meaning (sqlite-vec) could not be loaded on this machine.', {
      cause,
      hint: 'Full-text search still works. Reinstall TrayClaw, or remove embeddings from config.yaml.',
    });
  }
}
