// Decides by the file name which files are documents and how each is read. Pure.

import { documentTypes } from '../../../base/media-type.ts';
import type { TextForm } from './passages.ts';

export type DocumentForm = TextForm | 'html' | 'other';

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
export function formOf(name: string): { form: DocumentForm; mediaType: string } | null {
  const ending = endingOf(name);
  const known = byEnding[ending];
  if (known !== undefined) return { form: known[0], mediaType: known[1] };
  const mediaType = documentTypes.get(ending);
  if (mediaType !== undefined) return { form: 'other', mediaType };
  return code.has(ending) ? { form: 'code', mediaType: 'text/plain' } : null;
}

export function endingOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? '' : name.slice(dot + 1).toLowerCase();
}
