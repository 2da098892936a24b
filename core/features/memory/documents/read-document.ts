// Reads one file and cuts it into passages. Runs in a separate thread, because a document may be large, slow or malicious.

import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { documentTypes } from '../../../base/media-type.ts';
import { decodeText } from '../../../base/text-encoding.ts';
import type { PassageDraft } from './knowledge-rows.ts';
import { cutIntoPassages, cutPages, type TextForm, withoutLines } from './passages.ts';

/** Raise this number when documents are cut differently; all documents are then reread. */
export const readingVersion = 4;

export interface FoundFile {
  /** Relative to the folder, with forward slashes. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
}

export type DocumentJob =
  | {
      readonly kind: 'scan';
      readonly folder: string;
      /** The name of the only file to read, or null to read all. */
      readonly only: string | null;
      readonly endings: readonly string[] | null;
      readonly filesMax: number;
      readonly skipped: readonly string[];
    }
  | { readonly kind: 'read'; readonly file: string; readonly bytesMax: number }
  | { readonly kind: 'cut'; readonly markdown: string }
  | { readonly kind: 'cut'; readonly pages: readonly string[] };

export interface ReadDocument {
  readonly sha256: string;
  readonly title: string;
  readonly mediaType: string;
  readonly passages: readonly PassageDraft[];
  /** The content of an HTML page, which the caller converts to markdown first; null for other documents. */
  readonly html: string | null;
  /** The content of a PDF or an office document, of which the caller gets the text first; null for other documents. */
  readonly other: Uint8Array | null;
  readonly problem: string | null;
}

export interface DocumentResults {
  readonly scan: { readonly files: readonly FoundFile[]; readonly more: boolean; readonly problem: string | null };
  readonly read: ReadDocument;
  readonly cut: { readonly passages: readonly PassageDraft[] };
}

const skippedFolders: ReadonlySet<string> = new Set(['node_modules', '__pycache__', 'target', 'dist', 'build', 'vendor']);
const DEPTH_MAX = 32;

export function runDocumentJob(job: DocumentJob): DocumentResults[keyof DocumentResults] {
  switch (job.kind) {
    case 'scan':
      return scan(job);
    case 'read':
      return readDocument(job.file, job.bytesMax);
    case 'cut':
      return { passages: 'pages' in job ? cutPages(job.pages) : withoutLines(cutIntoPassages(job.markdown, 'markdown')) };
  }
}

/** Lists the documents of a folder. Skips hidden files and folders, links and build output. */
function scan({ folder, only, endings, filesMax, skipped }: Extract<DocumentJob, { kind: 'scan' }>): DocumentResults['scan'] {
  if (only !== null) return scanFile(folder, only);
  const files: FoundFile[] = [];
  const wanted = endings === null ? null : new Set(endings.map((ending) => ending.toLowerCase()));
  let more = false;
  const walk = (root: string, at: string, depth: number): void => {
    for (const entry of readdirSync(at, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(at, entry.name);
      if (more || entry.name.startsWith('.') || skipped.includes(path)) continue;
      if (entry.isDirectory()) {
        if (depth < DEPTH_MAX && !skippedFolders.has(entry.name)) tryWalk(root, path, depth + 1);
      } else if (entry.isFile() && (wanted === null ? formOf(entry.name) !== null : wanted.has(endingOf(entry.name)))) {
        const file = foundFile(root, path);
        if (file === null) continue;
        if (files.length >= filesMax) more = true;
        else files.push(file);
      }
    }
  };
  const tryWalk = (root: string, at: string, depth: number): void => {
    try {
      walk(root, at, depth);
    } catch {
      // A subfolder that is unreadable, or has disappeared in the meantime, counts as empty.
    }
  };
  try {
    const root = realpathSync(folder);
    walk(root, root, 0);
  } catch {
    return { files: [], more: false, problem: 'The folder is not there or may not be read.' };
  }
  return { files, more, problem: null };
}

/** A person named this file, so it is read even if it is hidden or has an unknown extension. */
function scanFile(folder: string, name: string): DocumentResults['scan'] {
  const nothing = { files: [], more: false, problem: 'The file is not there or may not be read.' };
  try {
    const root = realpathSync(folder);
    const file = foundFile(root, join(root, name));
    return file === null ? nothing : { files: [file], more: false, problem: null };
  } catch {
    return nothing;
  }
}

/** Returns null for a file that has disappeared since its folder was listed. `root` must be a real path. */
function foundFile(root: string, path: string): FoundFile | null {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return null;
  const { size, mtimeMs } = facts;
  return { path: relative(root, path).replaceAll(sep, '/'), sizeBytes: size, modifiedAtMs: Math.trunc(mtimeMs) };
}

function readDocument(file: string, bytesMax: number): ReadDocument {
  const name = basename(file);
  const { form, mediaType } = formOf(name) ?? { form: 'text' as const, mediaType: 'text/plain' };
  const read = readBytes(file, bytesMax);
  const about = { title: name, mediaType, passages: [], html: null, other: null };
  if (typeof read === 'string') return { ...about, sha256: '', problem: read };
  const sha256 = hash('sha256', read, 'hex');
  if (form === 'other') return { ...about, sha256, other: read, problem: null };
  const decoded = decodeText(read);
  if (decoded === null) return { ...about, sha256, problem: 'It is not text.' };
  const text = decoded.text.replace(/^\uFEFF/, '');
  if (form === 'html') return { ...about, sha256, html: text, problem: null };
  const title = form === 'markdown' ? (/^#\s+(.+?)\s*#*$/m.exec(text)?.[1] ?? name) : name;
  return { ...about, sha256, title, passages: cutIntoPassages(text, form), problem: null };
}

/** Returns the content, or a sentence that says why the file cannot be read. Never follows a link that was created after the check. */
function readBytes(file: string, bytesMax: number): Buffer | string {
  let handle: number | undefined;
  try {
    handle = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const facts = fstatSync(handle);
    if (!facts.isFile()) return 'It is not a file.';
    if (facts.size > bytesMax) return `It is larger than ${bytesMax} bytes.`;
    return readFileSync(handle);
  } catch {
    return 'It could not be read.';
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

type DocumentForm = TextForm | 'html' | 'other';

const byEnding: Readonly<Record<string, readonly [form: DocumentForm, mediaType: string]>> = {
  md: ['markdown', 'text/markdown'],
  markdown: ['markdown', 'text/markdown'],
  mdx: ['markdown', 'text/markdown'],
  txt: ['text', 'text/plain'],
  text: ['text', 'text/plain'],
  rst: ['text', 'text/x-rst'],
  adoc: ['text', 'text/asciidoc'],
  org: ['text', 'text/org'],
  tex: ['text', 'text/x-tex'],
  csv: ['text', 'text/csv'],
  tsv: ['text', 'text/tab-separated-values'],
  html: ['html', 'text/html'],
  htm: ['html', 'text/html'],
  xhtml: ['html', 'application/xhtml+xml'],
};

const codeEndings =
  'c cc cpp cs css cts dart ex exs go gradle graphql h hpp hs ini java jl js json jsonc jsx kt kts less lua mjs mts nix php pl proto ps1 py r rb rs sass scala scss sh sql svelte swift tf toml ts tsx vue xml yaml yml zig';
const code = new Set(codeEndings.split(' '));

/** Null for a file that is not a document. */
function formOf(name: string): { form: DocumentForm; mediaType: string } | null {
  const ending = endingOf(name);
  const known = byEnding[ending];
  if (known !== undefined) return { form: known[0], mediaType: known[1] };
  const mediaType = documentTypes.get(ending);
  if (mediaType !== undefined) return { form: 'other', mediaType };
  return code.has(ending) ? { form: 'code', mediaType: 'text/plain' } : null;
}

function endingOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? '' : name.slice(dot + 1).toLowerCase();
}
