// The searchable texts of one table: their full-text index, their rows in the vector index, and the rows that still need a vector.

import { Statements, WordIndex, type RankedRow, type SqlDatabase } from '../../../store/storage/storage.ts';

/** The index that stores the vectors of the texts, if there is one. */
export interface TextVectors {
  remove(row: number): void;
}

interface TextTable {
  readonly table: 'memories' | 'knowledge_passages';
  /** The primary key of the table, which also keys the full-text index. */
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

  /** From now on, removed texts are also removed from the vector index. */
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

  /** Best first, across all scopes. */
  findWords(query: string, limit: number): RankedRow[] {
    return this.#words.find(query, limit);
  }

  /** The share of the query's information that the words of the row cover, from 0 to 1. */
  coverage(query: string, row: number): number {
    return this.#words.coverage(query, row);
  }

  countWaiting(): number {
    return this.#sql.value<number>(`SELECT count(*) FROM ${this.#table.table} WHERE embedded = 0`) ?? 0;
  }

  setEmbedded(row: number): void {
    this.#sql.run(`UPDATE ${this.#table.table} SET embedded = 1 WHERE ${this.#table.row} = ?`, row);
  }

  /** Marks every row as waiting, after all vectors were deleted. */
  resetVectors(): void {
    this.#sql.run(`UPDATE ${this.#table.table} SET embedded = 0 WHERE embedded <> 0`);
  }
}
