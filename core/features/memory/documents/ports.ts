// The ports that the document index needs. The port by which a program adds sources is in core/contracts. Types only.

import type { TaintSource } from '../../../contracts/tools.ts';
import type { Near } from '../recall/recall-path.ts';
import type { DocumentThread } from './document-thread.ts';
import type { KnowledgeRows } from './knowledge-rows.ts';

type Kept = 'texts' | 'seen' | 'replace' | 'touch' | 'remove' | 'sources' | 'documents' | 'counts' | 'at';

export type KnowledgeStore = Pick<KnowledgeRows, Kept>;

/** Finds passages with a similar meaning, best first. Returns none if there are no vectors. Never rejects. */
export type FindPassages = (query: string, limit: number, signal: AbortSignal) => Promise<readonly Near[]>;

/** Reads documents in a separate thread. */
export type DocumentReader = Pick<DocumentThread, 'run' | 'rest'>;

/** Reads a document that is not a text file. `unit` is null if its only page is the whole text, in Markdown; `problem` says why there is none. */
export type ReadOther = (
  bytes: Uint8Array,
  signal: AbortSignal,
) => Promise<{
  readonly title: string | null;
  readonly pages: readonly string[];
  readonly unit: string | null;
  readonly problem: string | null;
}>;

/** Converts the readable part of a page to markdown. */
export type ReadPage = (html: string, file: string, signal: AbortSignal) => Promise<{ readonly title: string; readonly markdown: string }>;

export interface DirectorySource {
  readonly name: string;
  readonly kind: 'directory';
  /** Absolute; symbolic links are resolved if the folder exists. */
  readonly folder: string;
  /** The name of the only file in the folder to read, or null to read all. */
  readonly only: string | null;
  readonly endings: readonly string[] | null;
  readonly watch: boolean;
  readonly filesMax: number;
  readonly fileBytesMax: number;
  /** Why the source is not read, as a sentence; null if it is read. */
  readonly refused: string | null;
}

export interface InlineSource {
  readonly name: string;
  readonly kind: 'inline';
  readonly title: string;
  readonly text: string;
}

export type ConfiguredSource = DirectorySource | InlineSource;

/** The untrusted origins of a file's text; empty for files the person wrote. */
export type UntrustedOf = (file: string) => readonly TaintSource[];
