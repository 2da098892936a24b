// Groups the modules that a start of the program loads: modules that the same parts of the program need share a chunk. Otherwise each lazily
// loaded file splits them further, and a start would load a hundred small chunks, of which each costs a third of a millisecond.

import { join } from 'node:path';
import type { Rolldown } from 'vite';

/**
 * The files of each part of a start, and those that other processes, threads and single commands load without the rest. The single commands
 * are a further part, which is read from the module graph.
 */
const parts = {
  // Loaded before code is cached, so it must not bring anything else along: that would be compiled at every start.
  cache: ['main/compile-cache.ts'],
  early: ['main/cli.ts', 'main/daemon.ts', 'main/complete.ts'],
  threads: [
    'core/hands/tools/web-page-worker.ts',
    'core/features/memory/documents/document-worker.ts',
    'core/mind/llm/embedded/engine-child.ts',
  ],
  store: ['core/store/storage/storage.ts'],
  yaml: ['node_modules/yaml/dist/index.js'],
  shell: ['main/cli-process.ts'],
  server: ['core/doors/http/http.ts'],
  host: ['core/compose.ts'],
};

type Look = (id: string) => { readonly importedIds: readonly string[]; readonly dynamicallyImportedIds: readonly string[] } | null;

/** Returns the name of the chunk of a module; null for modules that a start does not load. */
export function startChunks(root: string): Rolldown.CodeSplittingNameFunction {
  let reached: Record<string, ReadonlySet<string>> | null = null;
  return (id, context) => {
    reached ??= reachedBy((other) => context.getModuleInfo(other), root);
    const by = Object.entries(reached).flatMap(([part, ids]) => (ids.has(id) ? [part] : []));
    return by.some((part) => part === 'shell' || part === 'server' || part === 'host') ? by.join('-') : null;
  };
}

function reachedBy(look: Look, root: string) {
  const paths = Object.entries(parts).map(([part, files]) => [part, files.map((file) => join(root, file).replaceAll('\\', '/'))] as const);
  const known = Object.fromEntries(paths.map(([part, files]) => [part, staticallyReached(look, files)]));
  const starts = new Set(paths.flatMap(([, files]) => files));
  const commands: Set<string> = new Set();
  for (const id of known['shell'] ?? []) addCommands(id);
  return { ...known, commands: staticallyReached(look, [...commands]) };

  /** Adds what a module loads lazily, directly or through something lazily loaded, without the parts above. */
  function addCommands(id: string) {
    for (const lazy of look(id)?.dynamicallyImportedIds ?? []) {
      if (commands.has(lazy) || starts.has(lazy)) continue;
      commands.add(lazy);
      for (const next of staticallyReached(look, [lazy])) addCommands(next);
    }
  }
}

function staticallyReached(look: Look, from: readonly string[]) {
  const seen: Set<string> = new Set();
  const left = [...from];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    left.push(...(look(id)?.importedIds ?? []));
  }
  return seen;
}
