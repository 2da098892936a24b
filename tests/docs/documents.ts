// Reads the project's documents for the tests of this folder.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
const rootDocuments = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'AGENTS.md', 'SECURITY.md', 'CHANGELOG.md'];

export const guideNames = pagesIn('docs/guide');
export const referenceNames = pagesIn('docs/reference');
/** Documents written by hand. */
export const documentNames = [...rootDocuments, ...pagesIn('docs'), ...guideNames];

function pagesIn(folder: string): string[] {
  const names = readdirSync(join(projectRoot, folder)).filter((name) => name.endsWith('.md'));
  return names.sort().map((name) => `${folder}/${name}`);
}

export function readDocument(name: string): string {
  return readFileSync(join(projectRoot, name), 'utf8');
}

/** The program below `<!-- example:NAME -->` in the library guide. */
export function readExample(name: string): string {
  const guide = 'docs/guide/library.md';
  const program = new RegExp(`<!-- example:${name} -->\\s+\`\`\`ts\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(readDocument(guide))?.[1];
  if (program === undefined) throw new Error(`${guide} has no example ${name}`);
  return program;
}

/** The fenced blocks of a kind, such as `sh`. */
export function codeBlocks(text: string, kind: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1] ?? '');
}

/** The text between backticks in prose and tables, without code blocks. */
export function codeWords(text: string): readonly string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '');
}
