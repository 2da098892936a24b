// Recognizes files that something runs, loads or follows as instructions, so that their content matters as much as their place. Pure except
// for the port.

import { extname, basename } from 'node:path';

/** Text and pictures that people read and programs only show. All other extensions count as live. */
const inertExtensions: ReadonlySet<string> = new Set([
  '.md',
  '.markdown',
  '.txt',
  '.text',
  '.rst',
  '.adoc',
  '.org',
  '.csv',
  '.tsv',
  '.log',
  '.srt',
  '.vtt',
  '.bib',
  '.png',
  '.jpg',
  '.jpeg',
  '.gif',
  '.webp',
  '.pdf',
  '.wav',
  '.mp3',
]);

/** Files with such an extension that instruct build tools, agents or crawlers. */
const liveNames: ReadonlySet<string> = new Set([
  'agents.md',
  'claude.md',
  'gemini.md',
  'skill.md',
  'memory.md',
  'soul.md',
  'copilot-instructions.md',
  'requirements.txt',
  'constraints.txt',
  'cmakelists.txt',
  'robots.txt',
  'llms.txt',
]);

/** `relativePath` is relative to the workspace, or as given if outside. `isExecutable` checks the disk. */
export function isLiveFile(relativePath: string, isExecutable: () => boolean): boolean {
  const name = basename(relativePath).toLowerCase();
  if (relativePath.split(/[/\\]/).some((part) => part.startsWith('.') && part !== '.')) return true;
  if (liveNames.has(name) || name.startsWith('requirements')) return true;
  return !inertExtensions.has(extname(name)) || isExecutable();
}
