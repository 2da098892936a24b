// What knowledge needs of others. The port by which a program adds sources is in core/contracts. Types only.

import type { TaintSource } from '../../../contracts/tools.ts';
import type { DocumentFacts, KeptDocument, KeptPassage, PassageDraft, SeenFile, SourceCounts } from './knowledge-rows.ts';
import type { DocumentJob, DocumentResults } from './read-document.ts';

export interface KnowledgeStore {
  seen(source: string): SeenFile[];
  replace(facts: DocumentFacts, passages: readonly PassageDraft[], indexedAtMs: number): void;
  /** The same content, written anew. */
  touch(file: Pick<DocumentFacts, 'source' | 'path' | 'sizeBytes' | 'modifiedAtMs'>): void;
  remove(source: string, path: string): boolean;
  sources(): string[];
  documents(source: string, limit: number): KeptDocument[];
  counts(source: string): SourceCounts;
  at(rows: readonly number[]): KeptPassage[];
  /** Best first. */
  findWords(query: string, limit: number): readonly { readonly row: number; readonly score: number }[];
  /** The share, 0 to 1, of what the query's words tell that stands in the row. */
  coverage(query: string, row: number): number;
  /** Best first; empty where there are no vectors. Never rejects. */
  findMeaning(query: string, limit: number, signal: AbortSignal): Promise<readonly { readonly row: number; readonly similarity: number }[]>;
}

/** Reads documents away from everything else. */
export interface DocumentReader {
  run<K extends DocumentJob['kind']>(job: Extract<DocumentJob, { kind: K }>): Promise<DocumentResults[K]>;
  rest(): Promise<void>;
}

/** Makes the readable part of a page into markdown. */
export type ReadPage = (html: string, file: string, signal: AbortSignal) => Promise<{ readonly title: string; readonly markdown: string }>;

export interface DirectorySource {
  readonly name: string;
  readonly kind: 'directory';
  /** Absolute and real where it is there. */
  readonly folder: string;
  /** The name of the one file in it that is read; null for all. */
  readonly only: string | null;
  readonly endings: readonly string[] | null;
  readonly watch: boolean;
  readonly filesMax: number;
  readonly fileBytesMax: number;
  /** Why nothing of it is read, in a sentence. */
  readonly refused: string | null;
}

export interface InlineSource {
  readonly name: string;
  readonly kind: 'inline';
  readonly title: string;
  readonly text: string;
}

export type ConfiguredSource = DirectorySource | InlineSource;

/** Whose words a file holds beside the person's; empty for the person's own. */
export type UntrustedOf = (file: string) => readonly TaintSource[];
