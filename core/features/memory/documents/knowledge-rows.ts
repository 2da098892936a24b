// The index of the person's documents: the files as last read, their passages with their places, and the full-text index of the passages.
// All of it can be rebuilt from the documents. Does not access the file system.

import { Statements, wordIndexForm, sqlMigrations, type Migration, type Storage } from '../../../store/storage/storage.ts';
import { SearchedTexts } from '../recall/searched-texts.ts';

export const knowledgeMigrations: readonly Migration[] = sqlMigrations({
  'knowledge-001-tables': `
    -- version: what it was read with. problem: why nothing of it could be taken in.
    CREATE TABLE IF NOT EXISTS knowledge_documents (
      document_id INTEGER PRIMARY KEY, source TEXT NOT NULL, path TEXT NOT NULL, title TEXT NOT NULL, media_type TEXT NOT NULL,
      sha256 TEXT NOT NULL, size_bytes INTEGER NOT NULL, modified_at_ms INTEGER NOT NULL, version INTEGER NOT NULL,
      indexed_at_ms INTEGER NOT NULL, problem TEXT, UNIQUE (source, path)
    ) STRICT;
    CREATE TABLE IF NOT EXISTS knowledge_passages (
      passage_id INTEGER PRIMARY KEY, document_id INTEGER NOT NULL, start_line INTEGER, end_line INTEGER, page INTEGER,
      heading TEXT NOT NULL, text TEXT NOT NULL, text_hash TEXT NOT NULL, embedded INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX IF NOT EXISTS knowledge_passages_document ON knowledge_passages (document_id);
    CREATE INDEX IF NOT EXISTS knowledge_passages_waiting ON knowledge_passages (passage_id) WHERE embedded = 0;
    CREATE VIRTUAL TABLE IF NOT EXISTS knowledge_text USING fts5 (title, body, ${wordIndexForm});
  `,
  'knowledge-002-hashes': 'CREATE INDEX IF NOT EXISTS knowledge_passages_hash ON knowledge_passages (text_hash)',
});

export interface PassageDraft {
  /** Numbered from 1. Null if the document has no lines; the same holds for `page`. */
  readonly startLine: number | null;
  readonly endLine: number | null;
  readonly page: number | null;
  /** The headings above the passage. */
  readonly heading: string;
  readonly text: string;
  readonly textHash: string;
}

export interface DocumentFacts {
  readonly source: string;
  /** The path within the source: relative to its folder, with forward slashes. */
  readonly path: string;
  readonly title: string;
  readonly mediaType: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
  readonly version: number;
  readonly problem: string | null;
}

export interface KeptDocument extends DocumentFacts {
  readonly indexedAtMs: number;
  readonly passages: number;
}

export interface KeptPassage extends Omit<PassageDraft, 'textHash'> {
  readonly passageId: number;
  readonly source: string;
  readonly path: string;
  readonly title: string;
}

/** The state of a file when it was last read. */
export type SeenFile = Pick<DocumentFacts, 'path' | 'sha256' | 'sizeBytes' | 'modifiedAtMs' | 'version'>;

export interface SourceCounts {
  readonly documents: number;
  readonly chunks: number;
  readonly failed: number;
  readonly indexedAtMs: number | null;
}

const documentColumns =
  'd.source AS source, d.path AS path, d.title AS title, d.media_type AS mediaType, d.sha256 AS sha256, ' +
  'd.size_bytes AS sizeBytes, d.modified_at_ms AS modifiedAtMs, d.version AS version, d.indexed_at_ms AS indexedAtMs, d.problem AS problem';

const statements = {
  seen: 'SELECT path, sha256, size_bytes AS sizeBytes, modified_at_ms AS modifiedAtMs, version FROM knowledge_documents WHERE source = ?',
  put: `INSERT INTO knowledge_documents (source, path, title, media_type, sha256, size_bytes, modified_at_ms, version, indexed_at_ms, problem)
     VALUES (@source, @path, @title, @mediaType, @sha256, @sizeBytes, @modifiedAtMs, @version, @indexedAtMs, @problem)`,
  touch: 'UPDATE knowledge_documents SET modified_at_ms = @modifiedAtMs, size_bytes = @sizeBytes WHERE source = @source AND path = @path',
  passagesOf: 'SELECT passage_id AS row, text_hash AS textHash FROM knowledge_passages WHERE document_id = ?',
  putPassage: `INSERT INTO knowledge_passages (document_id, start_line, end_line, page, heading, text, text_hash)
     VALUES (@documentId, @startLine, @endLine, @page, @heading, @text, @textHash)`,
  passages: `SELECT p.passage_id AS passageId, d.source AS source, d.path AS path, d.title AS title, p.start_line AS startLine, p.end_line AS endLine,
       p.page AS page, p.heading AS heading, p.text AS text
     FROM knowledge_passages p JOIN knowledge_documents d USING (document_id) WHERE p.passage_id IN (SELECT value FROM json_each(?))`,
  documents: `SELECT ${documentColumns}, (SELECT count(*) FROM knowledge_passages p WHERE p.document_id = d.document_id) AS passages
     FROM knowledge_documents d WHERE d.source = ? ORDER BY d.problem IS NULL, d.path LIMIT ?`,
  counts: `SELECT count(*) AS documents, coalesce(sum((SELECT count(*) FROM knowledge_passages p WHERE p.document_id = d.document_id)), 0) AS chunks,
       coalesce(sum(d.problem IS NOT NULL), 0) AS failed, max(d.indexed_at_ms) AS indexedAtMs FROM knowledge_documents d WHERE d.source = ?`,
  waiting:
    'SELECT passage_id AS row, heading, text, text_hash AS textHash FROM knowledge_passages WHERE embedded = 0 ORDER BY passage_id LIMIT ?',
  dropVector: `DELETE FROM embedding_vectors
     WHERE text_hash = @textHash AND NOT EXISTS (SELECT 1 FROM knowledge_passages WHERE text_hash = @textHash)`,
};

export class KnowledgeRows {
  readonly #storage: Storage;
  readonly #sql: Statements;
  /** Full-text index of the passages of all sources. */
  readonly texts: SearchedTexts;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#sql = new Statements(storage.db);
    this.texts = new SearchedTexts(storage.db, { table: 'knowledge_passages', row: 'passage_id', words: 'knowledge_text' });
  }

  seen(source: string): SeenFile[] {
    return this.#sql.rows<SeenFile>(statements.seen, source);
  }

  /** Replaces the document and its passages in one transaction. */
  replace(facts: DocumentFacts, passages: readonly PassageDraft[], indexedAtMs: number): void {
    this.#storage.transact(() => {
      const before = this.#takeOut(facts.source, facts.path);
      const documentId = Number(this.#sql.run(statements.put, { ...facts, indexedAtMs }).lastInsertRowid);
      for (const passage of passages) {
        const row = Number(this.#sql.run(statements.putPassage, { ...passage, documentId }).lastInsertRowid);
        this.texts.put(row, `${facts.title} ${passage.heading} ${facts.path}`, passage.text);
      }
      this.#dropVectors(before ?? []);
    });
  }

  /** Updates size and time of a document whose content has not changed. */
  touch(file: Pick<DocumentFacts, 'source' | 'path' | 'sizeBytes' | 'modifiedAtMs'>): void {
    this.#sql.run(statements.touch, file);
  }

  /** Returns whether the document was in the index. */
  remove(source: string, path: string): boolean {
    return this.#storage.transact(() => {
      const hashes = this.#takeOut(source, path);
      this.#dropVectors(hashes ?? []);
      return hashes !== null;
    });
  }

  /** Removes a document. Returns the hashes of its passages, or null if the document is unknown. */
  #takeOut(source: string, path: string): string[] | null {
    const documentId = this.#sql.value<number>('SELECT document_id FROM knowledge_documents WHERE source = ? AND path = ?', source, path);
    if (documentId === undefined) return null;
    const passages = this.#sql.rows<{ row: number; textHash: string }>(statements.passagesOf, documentId);
    for (const { row } of passages) this.texts.remove(row);
    this.#sql.run('DELETE FROM knowledge_passages WHERE document_id = ?', documentId);
    this.#sql.run('DELETE FROM knowledge_documents WHERE document_id = ?', documentId);
    return passages.map(({ textHash }) => textHash);
  }

  /** Removes the vectors of passages that no document contains any more. */
  #dropVectors(hashes: readonly string[]): void {
    for (const textHash of hashes) this.#sql.run(statements.dropVector, { textHash });
  }

  /** The names of all indexed sources, whether or not they are still configured. */
  sources(): string[] {
    return this.#sql.values<string>('SELECT DISTINCT source FROM knowledge_documents');
  }

  documents(source: string, limit: number): KeptDocument[] {
    return this.#sql.rows<KeptDocument>(statements.documents, source, limit);
  }

  counts(source: string): SourceCounts {
    return this.#sql.row(statements.counts, source) as SourceCounts;
  }

  /** Returns the passages in the given order; missing ones are left out. */
  at(rows: readonly number[]): KeptPassage[] {
    const found = new Map(
      this.#sql.rows<KeptPassage>(statements.passages, JSON.stringify(rows)).map((passage) => [passage.passageId, passage]),
    );
    return rows.flatMap((row) => found.get(row) ?? []);
  }

  hashOf(row: number): string | null {
    return this.#sql.value<string>('SELECT text_hash FROM knowledge_passages WHERE passage_id = ?', row) ?? null;
  }

  /** Whether any passage has the text with this hash. */
  holds(textHash: string): boolean {
    return this.#sql.value('SELECT EXISTS (SELECT 1 FROM knowledge_passages WHERE text_hash = ?)', textHash) === 1;
  }

  /** Passages without a vector, with the text that is embedded: the passage below its headings. */
  waiting(limit: number): { row: number; text: string; textHash: string }[] {
    const rows = this.#sql.rows<{ row: number; heading: string; text: string; textHash: string }>(statements.waiting, limit);
    return rows.map(({ row, heading, text, textHash }) => ({ row, textHash, text: heading === '' ? text : `${heading}\n${text}` }));
  }
}
