// Finds the protected places that the arguments of a call name, for tools whose own program interprets the arguments. Treats everything
// that could be a path as one. Changes nothing.

import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FactContext, PathFact } from '../../contracts/tools.ts';
import { realPathFileSystem } from './file-system-port.ts';
import { PathFacts } from './path-facts.ts';

const STRINGS_MAX = 500;
const PATH_CHARS_MAX = 4096;

/**
 * Returns the paths in any text of the arguments that lead to a protected place; `base` is the folder against which the program resolves
 * relative ones.
 */
export type NamedPlaces = (args: unknown, base: string, context: FactContext) => PathFact[];

export function createNamedPlaces(userHome: string): NamedPlaces {
  const facts = new PathFacts({ files: realPathFileSystem, userHome });
  return (args, base, context) => {
    const look = facts.forOneLook();
    const texts = new Set<string>();
    collect(args, texts);
    return [...texts].flatMap((text) =>
      pathsIn(text)
        .map((path) => look.of(path, 'write', isAbsolute(path) || path.startsWith('~') ? context : { ...context, workspace: base }))
        .filter(({ protectedBy }) => protectedBy !== null)
        .slice(0, 1),
    );
  };
}

function collect(value: unknown, into: Set<string>): void {
  if (into.size >= STRINGS_MAX) return;
  if (typeof value === 'string') {
    if (value !== '' && value.length <= PATH_CHARS_MAX) into.add(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, below] of Object.entries(value)) {
      if (!Array.isArray(value)) into.add(key);
      collect(below, into);
    }
  }
}

/** Returns the text itself if it looks like a path, the path of a file URL, and every absolute path between spaces or quotes. */
function pathsIn(text: string): string[] {
  const found = /^(~|\.{1,2}[\\/]|[A-Za-z]:[\\/])|[\\/]/.test(text) && !/[\n\0]/.test(text) && !text.includes('://') ? [text] : [];
  for (const [word] of text.matchAll(/(?:file:\/\/|~?[\\/])[^\s"'`<>|;]+/g)) {
    const path = word.startsWith('file:') ? fromAddress(word) : word;
    if (path !== null && path !== text) found.push(path);
  }
  return found.slice(0, 20);
}

function fromAddress(address: string): string | null {
  try {
    return fileURLToPath(address);
  } catch {
    // The URL does not name a file on this machine.
    return null;
  }
}
