// The kind of an artifact, and how to show it without running it. Pure.

export const artifactKinds = ['picture', 'code', 'text', 'other'] as const;
export type ArtifactKind = (typeof artifactKinds)[number];

/** Raster images only; a vector drawing is shown as text. */
const pictures: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp']);

const languages: Readonly<Record<string, string>> = {
  bash: 'bash',
  c: 'c',
  cpp: 'cpp',
  cs: 'csharp',
  css: 'css',
  diff: 'diff',
  go: 'go',
  h: 'c',
  html: 'html',
  java: 'java',
  js: 'javascript',
  json: 'json',
  jsx: 'jsx',
  kt: 'kotlin',
  mjs: 'javascript',
  patch: 'diff',
  php: 'php',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  sql: 'sql',
  svelte: 'svelte',
  svg: 'xml',
  swift: 'swift',
  toml: 'toml',
  ts: 'typescript',
  tsx: 'tsx',
  xml: 'xml',
  yaml: 'yaml',
  yml: 'yaml',
};

/** The language for a file name's extension; null for plain text. */
export function languageOf(name: string): string | null {
  const [, ending = ''] = /\.([a-z0-9]+)$/i.exec(name) ?? [];
  const key = ending.toLowerCase();
  return Object.hasOwn(languages, key) ? (languages[key] ?? null) : null;
}

export function kindOf({ name, mediaType }: { readonly name: string; readonly mediaType: string }): ArtifactKind {
  const type = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  if (pictures.has(type)) return 'picture';
  if (languageOf(name) !== null || /(?:json|xml|javascript|typescript|yaml)$/.test(type)) return 'code';
  return type.startsWith('text/') ? 'text' : 'other';
}

export function isPdf({ name, mediaType }: { readonly name: string; readonly mediaType: string }): boolean {
  return /^application\/pdf\b/i.test(mediaType.trim()) || /\.pdf$/i.test(name);
}

export type PreviewKind = 'document' | 'table' | 'drawing' | 'page';
const previews: Readonly<Record<string, PreviewKind>> = {
  md: 'document',
  markdown: 'document',
  csv: 'table',
  tsv: 'table',
  svg: 'drawing',
  html: 'page',
  htm: 'page',
};
const previewTypes: Readonly<Record<string, PreviewKind>> = {
  'text/markdown': 'document',
  'text/csv': 'table',
  'text/tab-separated-values': 'table',
  'image/svg+xml': 'drawing',
  'text/html': 'page',
};

/** How a text can be shown in addition to its source; null for most. */
export function previewOf({ name, mediaType }: { readonly name: string; readonly mediaType: string }): PreviewKind | null {
  const [, ending = ''] = /\.([a-z0-9]+)$/i.exec(name) ?? [];
  const type = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  return find(previews, ending.toLowerCase()) ?? find(previewTypes, type);
}

function find(kinds: Readonly<Record<string, PreviewKind>>, key: string): PreviewKind | null {
  return Object.hasOwn(kinds, key) ? (kinds[key] ?? null) : null;
}

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

/** The address for an image element; null for anything that could run. */
export function pictureUrl(mediaType: string, base64: string): string | null {
  const type = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  return pictures.has(type) && /^[A-Za-z0-9+/=]*$/.test(base64) ? `data:${type};base64,${base64}` : null;
}
