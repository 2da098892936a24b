// The project's documents as the tests of this folder read them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
export const documentNames = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'AGENTS.md'] as const;

export function readDocument(name: (typeof documentNames)[number]): string {
  return readFileSync(join(projectRoot, name), 'utf8');
}

/** The program below `<!-- example:NAME -->` of README.md. */
export function readExample(name: string): string {
  const program = new RegExp(`<!-- example:${name} -->\\s+\`\`\`ts\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(readDocument('README.md'))?.[1];
  if (program === undefined) throw new Error(`README.md has no example ${name}`);
  return program;
}

/** What stands between backticks in running text and tables, code blocks aside. */
export function codeWords(text: string): readonly string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '');
}
