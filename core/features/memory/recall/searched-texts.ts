// Texts of one table as they are found: their words, the rows of the index of vectors that go with them, and which still want a vector.

import { WordIndex, type RankedRow, type SqlDatabase } from '../../../store/storage/storage.ts';

/** Where vectors of the texts are kept, once there are any. */
export interface TextVectors {
  remove(row: number): void;
}

interface TextTable {
  readonly table: 'memories' | 'knowledge_passages';
  /** Its column that the index of words goes by. */
  readonly row: 'row' | 'passage_id';
  readonly words: 'memory_text' | 'knowledge_text';
}

function prepareAll(db: SqlDatabase, { table, row }: TextTable) {
  return {
    countWaiting: db.prepare(`SELECT count(*) FROM ${table} WHERE embedded = 0`).pluck(),
    setEmbedded: db.prepare(`UPDATE ${table} SET embedded = 1 WHERE ${row} = ?`),
    resetVectors: db.prepare(`UPDATE ${table} SET embedded = 0 WHERE embedded <> 0`),
  };
}

export class SearchedTexts {
  readonly #sql: ReturnType<typeof prepareAll>;
  readonly #words: WordIndex;
  #vectors: TextVectors | null = null;

  constructor(db: SqlDatabase, table: TextTable) {
    this.#sql = prepareAll(db, table);
    this.#words = new WordIndex(db, table.words);
  }

  /** From here on what is taken out leaves the index of vectors as well. */
  useVectors(vectors: TextVectors): void {
    this.#vectors = vectors;
  }

  put(row: number, title: string, body: string): void {
    this.#words.put(row, title, body);
  }

  remove(row: number): void {
    this.#words.remove(row);
    this.#vectors?.remove(row);
  }

  /** Best first, whosever they are. */
  findWords(query: string, limit: number): RankedRow[] {
    return this.#words.find(query, limit);
  }

  /** The share, 0 to 1, of the query's information that the row's words cover. */
  coverage(query: string, row: number): number {
    return this.#words.coverage(query, row);
  }

  countWaiting(): number {
    return this.#sql.countWaiting.get() as number;
  }

  setEmbedded(row: number): void {
    this.#sql.setEmbedded.run(row);
  }

  /** All vectors are gone. */
  resetVectors(): void {
    this.#sql.resetVectors.run();
  }
}
