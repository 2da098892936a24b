// A folder of documents that keeps changing, and a program that indexes it and is killed several times; between runs the index is read from
// its file.

import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Storage, type SqlDatabase } from '../../core/store/storage/storage.ts';
import { VectorStore } from '../../core/features/memory/memory.ts';
import type { EmbeddingServer } from '../doubles/hashed-embedder.ts';
import type { Random } from '../fuzz/random.ts';
import type { TestHome } from './test-home.ts';
import { compileCache } from '../compile-cache.ts';
import { onBuiltCore } from '../program-file.ts';

const childFile = fileURLToPath(new URL('index-crash-child.ts', import.meta.url));

export interface Life {
  /** Counted from when the program is open; if below 0, from its start. Null lets it run until it is done. */
  readonly killAfterMs: number | null;
  readonly embeds: boolean;
  /** Called from time to time while it runs; the program then runs until it is killed. */
  readonly meanwhile?: () => void;
}

export interface LifeEnd {
  readonly killed: boolean;
  /** Counted from its start, and from when it was open; `openMs` is 0 if it never was. */
  readonly livedMs: number;
  readonly openMs: number;
}

const MEANWHILE_MS = 40;

/** Rejects with its output if it ended neither normally nor by the kill. */
export async function live(home: TestHome, folder: string, server: EmbeddingServer, life: Life): Promise<LifeEnd> {
  const { killAfterMs, embeds, meanwhile } = life;
  home.configure({
    models: { default: 'demo/offline' },
    knowledge: { sources: { docs: { kind: 'directory', path: folder } } },
    ...(embeds ? { embeddings: { kind: 'openai-compatible', baseUrl: `${server.origin}/v1`, model: 'hashed' } } : {}),
  });
  const startedMs = performance.now();
  let openedMs: number | null = null;
  const child = spawn(process.execPath, [...onBuiltCore, childFile, home.path, ...(meanwhile === undefined ? [] : ['stays'])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...compileCache },
  });
  const timers: NodeJS.Timeout[] = [];
  const kill = (): void => void child.kill('SIGKILL');
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  child.stdout.once('data', () => {
    openedMs = performance.now();
    if (meanwhile !== undefined) timers.push(setInterval(meanwhile, MEANWHILE_MS));
    if (killAfterMs !== null) timers.push(setTimeout(kill, killAfterMs));
  });
  if (killAfterMs !== null && killAfterMs < 0) timers.push(setTimeout(kill, -killAfterMs));
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.once('close', (exit, by) => resolve([exit, by])),
  );
  for (const timer of timers) clearTimeout(timer);
  const killed = signal === 'SIGKILL';
  if (!killed && (code !== 0 || errors !== '')) throw new Error(`it ended with ${code}: ${errors}`);
  const endedMs = performance.now();
  return { killed, livedMs: endedMs - startedMs, openMs: openedMs === null ? 0 : endedMs - openedMs };
}

const words =
  'harbour ledger lantern meadow orchard pilot quarry ribbon saddle timber valley willow anchor basket candle dahlia ember falcon'.split(
    ' ',
  );

/** No text is written twice, except the one that every document ends with and the one that one document always contains. */
const terms = '# Terms\n\nThe same in every document.\n';

export class ChangingFolder {
  readonly path: string;
  readonly #random: Random;
  readonly #files = new Map<string, string[]>();
  #made = 0;

  constructor(path: string, random: Random, files: number) {
    this.path = path;
    this.#random = random;
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'terms.txt'), terms);
    for (let index = 0; index < files; index++) this.#add();
  }

  get size(): number {
    return this.#files.size + 1;
  }

  /** Adds, removes or rewrites a document at random. */
  change(): void {
    const kind = this.#random.below(8);
    if (kind === 0) this.#add();
    else if (kind === 1) this.#drop();
    else this.#edit();
  }

  /** Must be called between scans: a scan at that moment would see neither name. */
  rename(): void {
    const from = this.#random.pick([...this.#files.keys()]);
    const to = this.#nextName(dirname(from));
    renameSync(join(this.path, from), join(this.path, to));
    this.#files.set(to, this.#files.get(from) ?? []);
    this.#files.delete(from);
  }

  #add(): void {
    const name = this.#nextName(`part-${this.#random.below(9)}`);
    this.#write(
      name,
      Array.from({ length: 1 + this.#random.below(6) }, () => this.#paragraph()),
    );
  }

  #drop(): void {
    const name = this.#random.pick([...this.#files.keys()]);
    this.#files.delete(name);
    rmSync(join(this.path, name));
  }

  #edit(): void {
    const name = this.#random.pick([...this.#files.keys()]);
    const paragraphs = [...(this.#files.get(name) ?? [])];
    paragraphs[this.#random.below(paragraphs.length + 1)] = this.#paragraph();
    this.#write(name, paragraphs);
  }

  /** Replaces the file atomically, so that a reader sees the old or the new content. */
  #write(name: string, paragraphs: string[]): void {
    this.#files.set(name, paragraphs);
    const file = join(this.path, name);
    const part = join(dirname(file), '.part');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(part, `# About ${name}\n\n${paragraphs.join('\n\n')}\n\n${terms}`);
    renameSync(part, file);
  }

  #nextName(folder: string): string {
    this.#made += 1;
    return `${folder}/document-${this.#made}.${this.#made % 3 === 0 ? 'txt' : 'md'}`;
  }

  #paragraph(): string {
    this.#made += 1;
    const said = Array.from({ length: 60 }, () => this.#random.pick(words)).join(' ');
    return `Paragraph ${this.#made}: ${said}.`;
  }
}

export interface IndexPicture {
  /** Violated invariants, which hold whenever the program was killed. */
  readonly faults: string[];
  readonly documents: unknown[];
  /** Each passage with its position, its words as indexed, and its signature in the vector index. */
  readonly passages: unknown[];
  /** The hashes of texts whose vector is on the disk, with the vector. */
  readonly vectors: Map<string, string>;
}

const emptyPicture: IndexPicture = { faults: [], documents: [], passages: [], vectors: new Map() };

interface PassageRow {
  readonly id: number;
  readonly path: string;
  readonly embedded: number;
  readonly textHash: string;
}

/** Reads the index file while the program is not running. */
export function pictureOf(home: TestHome): IndexPicture {
  const storage = Storage.open({ home: home.path, migrations: [], lock: false });
  try {
    const { db } = storage;
    // The program was killed before its tables were created.
    if (db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'embedding_model'").get() === undefined) return emptyPicture;
    return read(db);
  } finally {
    storage.dispose();
  }
}

function read(db: SqlDatabase): IndexPicture {
  const all = <T>(sql: string): T[] => db.prepare(sql).all() as T[];
  const passages = all<PassageRow>(
    `SELECT p.passage_id AS id, d.path AS path, p.start_line AS startLine, p.end_line AS endLine, p.heading AS heading, p.text AS text,
       p.text_hash AS textHash, p.embedded AS embedded
     FROM knowledge_passages p LEFT JOIN knowledge_documents d USING (document_id) ORDER BY d.path, p.passage_id`,
  );
  const indexed = wordsOf(db);
  const signs = signsOf(db);
  const vectors = new Map(all<{ textHash: string; vector: string }>(vectorsSql).map(({ textHash, vector }) => [textHash, vector]));
  const ids = new Set(passages.map(({ id }) => id));
  const held = new Set(passages.map(({ textHash }) => textHash));
  const places = passages.map(({ id: _id, embedded: _embedded, ...place }) => JSON.stringify(place));
  const wrong: [what: string, count: number][] = [
    [
      'the file is damaged',
      all<{ integrity_check: string }>('PRAGMA integrity_check').filter((row) => row.integrity_check !== 'ok').length,
    ],
    ['passages of no document', passages.filter(({ path }) => path === null).length],
    ['passages that are there twice', places.length - new Set(places).size],
    ['passages without words', passages.filter(({ id }) => !indexed.has(id)).length],
    ['words of no passage', [...indexed.keys()].filter((id) => !ids.has(id)).length],
    ['signs of no passage', [...signs.keys()].filter((id) => !ids.has(id)).length],
    ['passages that have signs and do not say so', passages.filter(({ id, embedded }) => signs.has(id) !== (embedded === 1)).length],
    ['passages with signs of no vector', passages.filter(({ id, textHash }) => signs.has(id) && !vectors.has(textHash)).length],
    ['vectors of no text', [...vectors.keys()].filter((textHash) => !held.has(textHash)).length],
  ];
  return {
    faults: wrong.flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what}`])),
    documents: all(
      `SELECT path, title, media_type, sha256, size_bytes, modified_at_ms, version, problem FROM knowledge_documents ORDER BY path`,
    ),
    passages: passages.map(({ id, ...place }) => ({ ...place, words: indexed.get(id), signs: signs.get(id) })),
    vectors,
  };
}

const vectorsSql = 'SELECT text_hash AS textHash, hex(vector) AS vector FROM embedding_vectors';

/** For each passage, a hash of every word with its position. */
function wordsOf(db: SqlDatabase): Map<number, string> {
  db.exec("CREATE VIRTUAL TABLE IF NOT EXISTS temp.indexed_words USING fts5vocab('main', 'knowledge_text', 'instance')");
  const found = new Map<number, string[]>();
  const rows = db.prepare('SELECT doc, col, offset, term FROM temp.indexed_words').iterate() as Iterable<Record<string, unknown>>;
  for (const { doc, col, offset, term } of rows) {
    const known = found.get(Number(doc));
    const word = `${String(col)} ${String(offset)} ${String(term)}`;
    if (known === undefined) found.set(Number(doc), [word]);
    else known.push(word);
  }
  return new Map([...found].map(([id, own]) => [id, hash('sha256', own.sort().join('\n'), 'hex')]));
}

function signsOf(db: SqlDatabase): Map<number, string> {
  const vectors = new VectorStore(db);
  vectors.open('knowledge');
  if (db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'vec_knowledge_signs'").get() === undefined) return new Map();
  const rows = db.prepare('SELECT id, hex(signs) AS signs FROM vec_knowledge_signs').all() as { id: number; signs: string }[];
  return new Map(rows.map(({ id, signs }) => [id, signs]));
}

/** Damages the index in each way, to test that the picture detects it. */
export function damage(home: TestHome): void {
  const storage = Storage.open({ home: home.path, migrations: [], lock: false });
  try {
    const { db } = storage;
    new VectorStore(db).open('knowledge');
    db.exec(`
      INSERT INTO knowledge_passages (document_id, start_line, end_line, heading, text, text_hash, embedded)
        SELECT document_id, start_line, end_line, heading, text, text_hash, 1 FROM knowledge_passages LIMIT 1;
      INSERT INTO knowledge_text (rowid, title, body) VALUES (9001, '', 'left behind');
      INSERT INTO embedding_vectors (text_hash, vector) VALUES ('of nothing', x'00');
      INSERT INTO vec_knowledge_signs (id, scope, signs) VALUES (9002, 'all', vec_bit(zeroblob(48)));
    `);
  } finally {
    storage.dispose();
  }
}

/** The hashes under which the vector of a sent text may be stored: with a heading before it, or without one. */
export function hashesOf(sent: string): string[] {
  return ['', '\n'].map((gap) => hash('sha256', `passage\n${gap}${sent}`, 'hex'));
}
