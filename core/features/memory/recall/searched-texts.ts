// The searchable texts of one table: their words, the rows in the vector index that belong to them, and those that still need a vector.

import { Statements, WordIndex, type RankedRow, type SqlDatabase } from '../../../store/storage/storage.ts';

/** Where vectors of the texts are kept, once there are any. */
export interface TextVectors {
  remove(row: number): void;
}

interface TextTable {
  readonly table: 'memories' | 'knowledge_passages';
  /** The column that keys the word index. */
  readonly row: 'row' | 'passage_id';
  readonly words: 'memory_text' | 'knowledge_text';
}

export class SearchedTexts {
  readonly #sql: Statements;
  readonly #table: TextTable;
  readonly #words: WordIndex;
  #vectors: TextVectors | null = null;

  constructor(db: SqlDatabase, table: TextTable) {
    this.#sql = new Statements(db);
    this.#table = table;
    this.#words = new WordIndex(db, table.words);
  }

  /** From here on, removed texts leave the vector index as well. */
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

  /** Best first, in every scope. */
  findWords(query: string, limit: number): RankedRow[] {
    return this.#words.find(query, limit);
  }

  /** The share, 0 to 1, of the query's information that the row's words cover. */
  coverage(query: string, row: number): number {
    return this.#words.coverage(query, row);
  }

  countWaiting(): number {
    return this.#sql.value<number>(`SELECT count(*) FROM ${this.#table.table} WHERE embedded = 0`) ?? 0;
  }

  setEmbedded(row: number): void {
    this.#sql.run(`UPDATE ${this.#table.table} SET embedded = 1 WHERE ${this.#table.row} = ?`, row);
  }

  /** All vectors are gone. */
  resetVectors(): void {
    this.#sql.run(`UPDATE ${this.#table.table} SET embedded = 0 WHERE embedded <> 0`);
  }
}
