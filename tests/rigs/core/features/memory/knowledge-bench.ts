// For tests only: documents in a separate folder, indexed by the real thread into a real file.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ManualClock } from '../../../../doubles/manual-clock.ts';
import { silentLogger } from '../../../../../core/base/logger.ts';
import { KnowledgeRows, knowledgeMigrations } from '../../../../../core/features/memory/documents/knowledge-rows.ts';
import { documentText } from '../../../../../core/hands/tools/tools.ts';
import { Storage } from '../../../../../core/store/storage/storage.ts';
import { vectorMigrations } from '../../../../../core/features/memory/vectors/vector-store.ts';
import type { KnowledgeResolver } from '../../../../../core/contracts/memory-ports.ts';
import { Knowledge } from '../../../../../core/features/memory/documents/knowledge.ts';
import { DocumentThread } from '../../../../../core/features/memory/documents/document-thread.ts';
import type { ConfiguredSource, DirectorySource } from '../../../../../core/features/memory/documents/ports.ts';

type Defer = (end: () => void | Promise<void>) => void;

/** `defer` registers work for the end of a test. */
export function knowledgeBench(defer: Defer) {
  const folderOf = (files: Files): string => makeFolder(defer, files);
  const openBench = (sources: readonly ConfiguredSource[], resolvers: readonly KnowledgeResolver[] = [], home = folderOf({})) =>
    open(defer, sources, resolvers, home);
  return { folderOf, openBench };
}

type Files = Readonly<Record<string, string | Buffer>>;

function makeFolder(defer: Defer, files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-documents-'));
  defer(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

export function directory(folder: string, more: Partial<DirectorySource> = {}): DirectorySource {
  return {
    name: 'docs',
    kind: 'directory',
    folder,
    only: null,
    endings: null,
    watch: false,
    filesMax: 100,
    fileBytesMax: 1_000_000,
    refused: null,
    ...more,
  };
}

/** Records which documents were read. */
class NotedRows extends KnowledgeRows {
  readonly read: string[] = [];

  override replace(...[facts, passages, atMs]: Parameters<KnowledgeRows['replace']>): void {
    this.read.push(facts.path);
    super.replace(facts, passages, atMs);
  }
}

function open(defer: Defer, sources: readonly ConfiguredSource[], resolvers: readonly KnowledgeResolver[], home: string) {
  const storage = Storage.open({ home, migrations: [...vectorMigrations, ...knowledgeMigrations] });
  const rows = new NotedRows(storage);
  const { read } = rows;
  const thread = new DocumentThread(20_000);
  const waiting: { readonly delayMs: number; readonly action: () => void }[] = [];
  const knowledge = new Knowledge({
    store: rows,
    findMeaning: () => Promise.resolve([]),
    reader: thread,
    readPage: (html) =>
      Promise.resolve({
        title: /<title>(.*?)<\/title>/.exec(html)?.[1] ?? '',
        markdown: html.replace(/<h1>(.*?)<\/h1>/, '\n# $1\n\n').replaceAll(/<[^>]+>/g, ''),
      }),
    readOther: documentText,
    sources,
    resolvers,
    untrustedOf: (file) => (file.includes('foreign') ? [{ kind: 'file', where: file }] : []),
    skipped: [],
    clock: new ManualClock(),
    logger: silentLogger,
    later: (delayMs, action) => {
      waiting.push({ delayMs, action });
      return () => undefined;
    },
    onIndexed: () => undefined,
  });
  const close = async (): Promise<void> => {
    await knowledge.dispose();
    await thread.dispose();
    storage.dispose();
  };
  let isClosed = false;
  const closeOnce = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await close();
  };
  defer(closeOnce);
  const look = async (): Promise<string[]> => {
    read.length = 0;
    knowledge.start();
    await knowledge.settled();
    return [...read].sort();
  };
  const find = (query: string, source?: string) => knowledge.search({ query, source, limit: 5, signal: new AbortController().signal });
  /** Runs every action that is waiting for a timer. */
  const tick = (): void => {
    for (const { action } of waiting.splice(0)) action();
  };
  const waits = (): number[] => waiting.map(({ delayMs }) => delayMs);
  return { knowledge, look, find, rows, thread, tick, waits, close: closeOnce };
}
