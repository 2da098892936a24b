// Vectors of texts: a cache keyed by the hash of the text, and for each table of texts an sqlite-vec index of the sign bits. The model and
// its number of dimensions are pinned; a different model empties both. Knows neither models nor texts.

import { createRequire } from 'node:module';
import type { getLoadablePath as FindLibrary } from 'sqlite-vec';
import { AppError } from '../../../contracts/errors.ts';
import { type Migration, type SqlDatabase, sqlMigrations } from '../../../store/storage/storage.ts';

export const vectorMigrations: readonly Migration[] = sqlMigrations({
  'embedding-001-vectors': `
    CREATE TABLE IF NOT EXISTS embedding_model (
      only_row INTEGER PRIMARY KEY CHECK (only_row = 1), model TEXT NOT NULL, dimensions INTEGER NOT NULL
    ) STRICT;
    -- One vector per text, shared by all that contain it: one byte per dimension.
    CREATE TABLE IF NOT EXISTS embedding_vectors (text_hash TEXT PRIMARY KEY, vector BLOB NOT NULL) STRICT, WITHOUT ROWID;
  `,
  'embedding-002-floor': `
    -- The similarity from which texts are related, by this model, and the name of what it was measured by.
    CREATE TABLE IF NOT EXISTS embedding_floor (model TEXT PRIMARY KEY, floor REAL NOT NULL, floor_by TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
});

export interface PinnedModel {
  readonly model: string;
  readonly dimensions: number;
  /** The similarity from which texts are related, and the name of its measurement. Null until measured. */
  readonly floor: number | null;
  readonly floorBy: string | null;
}

export interface NearRow {
  readonly row: number;
  /** Cosine similarity, about -1 to 1. */
  readonly similarity: number;
}

/** The maximum number of rows that are found by their sign bits and then compared exactly. sqlite-vec gets slow with more. */
const MEASURED = 64;

export class VectorStore {
  readonly #db: SqlDatabase;
  readonly #readPinned;
  #isLoaded = false;

  constructor(db: SqlDatabase) {
    this.#db = db;
    this.#readPinned = db.prepare<[], PinnedModel>(
      'SELECT model, dimensions, floor, floor_by AS floorBy FROM embedding_model LEFT JOIN embedding_floor USING (model)',
    );
  }

  /** Always read from the database, so that the pin of a failed transaction does not count. */
  get pinned(): PinnedModel | null {
    return this.#readPinned.get() ?? null;
  }

  /**
   * Pins the model that makes the vectors from now on. Returns whether existing vectors were dropped. Works inside and outside a
   * transaction. Fails with store_failed.
   */
  pin(model: string, dimensions: number): boolean {
    this.#load();
    const { pinned } = this;
    if (pinned?.model === model && pinned.dimensions === dimensions) return false;
    this.#db.exec('DELETE FROM embedding_vectors');
    for (const table of this.#indexTables()) this.#db.exec(`DROP TABLE "${table}"`);
    this.#db.prepare('INSERT OR REPLACE INTO embedding_model (only_row, model, dimensions) VALUES (1, ?, ?)').run(model, dimensions);
    return true;
  }

  /**
   * Stores the similarity from which the vectors of the model count as related, and the name of the measurement. Valid as long as the model
   * stays the same.
   */
  setFloor(model: string, floor: number, by: string): void {
    this.#db.prepare('INSERT OR REPLACE INTO embedding_floor (model, floor, floor_by) VALUES (?, ?, ?)').run(model, floor, by);
  }

  /** Loads sqlite-vec once. The indexes cannot be used before. */
  #load(): void {
    if (this.#isLoaded) return;
    loadVectorExtension(this.#db);
    this.#isLoaded = true;
  }

  /** Opens the index of one table of texts. Fails with store_failed if the library is missing. */
  open(name: string): VectorIndex {
    this.#load();
    return new VectorIndex(this.#db, name, () => this.pinned);
  }

  cached(textHash: string): Int8Array | null {
    const blob = this.#db.prepare('SELECT vector FROM embedding_vectors WHERE text_hash = ?').pluck().get(textHash) as Buffer | undefined;
    return blob === undefined ? null : fromInt8(blob);
  }

  keep(textHash: string, vector: Float32Array): void {
    this.#db
      .prepare('INSERT OR REPLACE INTO embedding_vectors (text_hash, vector) VALUES (?, ?)')
      .run(textHash, Buffer.from(toInt8(vector).buffer));
  }

  #indexTables(): string[] {
    return this.#db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'vec_*_signs'").pluck().all() as string[];
  }
}

export class VectorIndex {
  readonly #db: SqlDatabase;
  readonly #table: string;
  readonly #pinned: () => PinnedModel | null;

  constructor(db: SqlDatabase, name: string, pinned: () => PinnedModel | null) {
    this.#db = db;
    this.#table = `vec_${name}_signs`;
    this.#pinned = pinned;
  }

  /** Creates the index table if necessary. Returns false if no model is pinned. Each model has its own table. */
  ensure(): boolean {
    const pinned = this.#pinned();
    if (pinned === null) return false;
    const bits = Math.ceil(pinned.dimensions / 8) * 8;
    this.#db.exec(
      `CREATE VIRTUAL TABLE IF NOT EXISTS ${this.#table} USING vec0 (id INTEGER PRIMARY KEY, scope TEXT PARTITION KEY, signs bit[${bits}])`,
    );
    return true;
  }

  put(row: number, scope: string, vector: Int8Array): void {
    this.remove(row);
    this.#db.prepare(`INSERT INTO ${this.#table} (id, scope, signs) VALUES (?, ?, vec_bit(?))`).run(BigInt(row), scope, signBits(vector));
  }

  remove(row: number): void {
    if (this.ensure()) this.#db.prepare(`DELETE FROM ${this.#table} WHERE id = ?`).run(BigInt(row));
  }

  /** Best first. `vectorOf` returns the vector of a row's text. */
  nearest(vector: Float32Array, scopes: readonly string[], limit: number, vectorOf: (row: number) => Int8Array | null): NearRow[] {
    if (!this.ensure()) return [];
    const asked = toInt8(vector);
    const statement = this.#db
      .prepare(`SELECT id FROM ${this.#table} WHERE signs MATCH vec_bit(?) AND k = ${MEASURED} AND scope = ?`)
      .pluck();
    const signs = signBits(asked);
    const rows = scopes.flatMap((scope) => statement.all(signs, scope) as number[]);
    return rows
      .flatMap((row) => {
        const own = vectorOf(row);
        return own === null ? [] : [{ row, similarity: similarity(asked, own) }];
      })
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, limit);
  }
}

// Loads sqlite-vec into a database connection. In the packaged program the library is a separate file outside the archive, so that SQLite
// can open it.

/** Fails with store_failed if the library for this machine is missing. */
function loadVectorExtension(db: SqlDatabase): void {
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

const BYTE_MAX = 127;

/** Keeps only the direction; the length is lost. */
function toInt8(vector: Float32Array): Int8Array {
  // Scales to the largest dimension, because the single dimensions of a long vector are small.
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const factor = largest === 0 ? 0 : BYTE_MAX / largest;
  return Int8Array.from(vector, (value) => Math.round(value * factor));
}

function fromInt8(blob: Buffer): Int8Array {
  return new Int8Array(blob.buffer, blob.byteOffset, blob.byteLength);
}

function similarity(a: Int8Array, b: Int8Array): number {
  let product = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    product += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  return squaresA === 0 || squaresB === 0 ? 0 : product / Math.sqrt(squaresA * squaresB);
}

/** Packs eight dimensions into a byte. Unused bits of the last byte are zero. */
function signBits(vector: Int8Array): Buffer {
  const bits = Buffer.alloc(Math.ceil(vector.length / 8));
  for (const [index, value] of vector.entries()) if (value > 0) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
  return bits;
}
