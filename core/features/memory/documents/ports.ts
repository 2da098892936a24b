// What knowledge needs of others. The port by which a program adds sources is in core/contracts. Types only.

import type { TaintSource } from '../../../contracts/tools.ts';
import type { Near } from '../recall/recall-path.ts';
import type { KnowledgeRows } from './knowledge-rows.ts';
import type { DocumentJob, DocumentResults } from './read-document.ts';

type Kept = 'texts' | 'seen' | 'replace' | 'touch' | 'remove' | 'sources' | 'documents' | 'counts' | 'at';

export type KnowledgeStore = Pick<KnowledgeRows, Kept>;

/** Passages near a question, best first; empty where there are no vectors. Never rejects. */
export type FindPassages = (query: string, limit: number, signal: AbortSignal) => Promise<readonly Near[]>;

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
