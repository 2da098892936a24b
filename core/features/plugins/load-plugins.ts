// Loads the plugin files named in config.yaml, only with content that a person approved, and only from places where the agent may not
// write. A plugin that cannot be loaded is reported and does not stop the program.

import { readFileSync } from 'node:fs';
import nodeModule from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Lifetimes } from '../../base/disposable.ts';
import { errnoOf, fileMeanings } from '../../base/errno.ts';
import { isInside } from '../../base/inside-folder.ts';
import { isPlainObject } from '../../base/json.ts';
import type { Config } from '../../contracts/config.ts';
import type { PluginView } from '../../contracts/features/plugins.ts';
import type { Plugin } from '../../contracts/plugin.ts';
import { realOf } from '../../guard/workspace/workspace.ts';
import { assertPlugin } from './check-plugin.ts';
import { hashOf, type PluginContent, readPluginContent } from './plugin-content.ts';

export interface PluginFile extends Pick<PluginView, 'path' | 'sha256' | 'state' | 'problem'> {
  readonly plugin: Plugin | null;
}

export interface PluginWish {
  readonly home: string;
  /** Supplied by the host program. */
  readonly given: readonly Plugin[];
  readonly config: Pick<Config, 'plugins' | 'workspace'>;
  readonly lifetimes: Pick<Lifetimes, 'add'>;
  /** The content a person approved at a path. */
  approved(path: string): string | null;
}

/** The plugins of the host program, then those of the files. If two have the same name, the first is used. */
export async function findPlugins(wish: PluginWish): Promise<PluginFile[]> {
  const found = wish.given.map((plugin): PluginFile => {
    assertPlugin(plugin);
    return { path: null, sha256: null, state: 'loaded', problem: null, plugin };
  });
  const { path = 'workspace', extraFolders } = wish.config.workspace;
  // The folders in which the agent may write.
  const written = (): string[] => [path, ...extraFolders].map((folder) => realOf(resolve(wish.home, folder)));
  for (const file of wish.config.plugins.files) {
    const loaded = await loadOne({ ...wish, written: written() }, resolve(wish.home, file));
    const { name } = loaded.plugin ?? {};
    const isTaken = name !== undefined && found.some(({ plugin }) => plugin?.name === name);
    const problem = `There is another plugin with the name ${name}.`;
    found.push(isTaken ? { ...loaded, plugin: null, state: 'failed', problem } : loaded);
  }
  return found;
}

interface LoadWish extends Pick<PluginWish, 'approved' | 'lifetimes'> {
  readonly written: readonly string[];
}

async function loadOne(wish: LoadWish, path: string): Promise<PluginFile> {
  let content: PluginContent;
  try {
    content = readPluginContent(path);
  } catch (cause) {
    return { path, sha256: null, state: 'failed', problem: noPluginWords(cause), plugin: null };
  }
  const about = { path: content.path, sha256: content.sha256, plugin: null };
  const written = wish.written.find((folder) => isInside(content.path, folder) || isInside(folder, content.path));
  if (written !== undefined)
    return { ...about, state: 'refused', problem: `The agent itself can write in ${written}. Move the plugin elsewhere.` };
  const approved = wish.approved(content.path);
  if (approved !== content.sha256) {
    const what = approved === null ? 'It is not approved yet.' : 'It has changed since it was approved.';
    return {
      ...about,
      state: 'waiting',
      problem: `${what} Read it, then run: trayclaw plugins approve ${JSON.stringify(content.path)} ${content.sha256}`,
    };
  }
  wish.lifetimes.add(holdImports(content));
  try {
    // The content hash is part of the address, so that a changed file is loaded as a different module.
    const module: unknown = await import(`${pathToFileURL(content.entry).href}?${content.sha256.slice(0, 16)}`);
    const plugin = isPlainObject(module) || typeof module === 'object' ? featureOf(module) : undefined;
    assertPlugin(plugin);
    return { ...about, state: 'loaded', problem: null, plugin };
  } catch (cause) {
    return { ...about, state: 'failed', problem: wordsOf(cause) };
  }
}

function featureOf(module: object | null): unknown {
  return module !== null && 'feature' in module ? module.feature : undefined;
}

/** Why a path holds no plugin. */
export function noPluginWords(cause: unknown): string {
  const why = fileMeanings[errnoOf(cause) ?? ''];
  return why === undefined ? wordsOf(cause) : `It cannot be read: ${why}.`;
}

export function wordsOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

// Holds a running plugin to the files that were hashed: what it imports later is compared when it is loaded, and its imports by path lead to
// no other file. Packages from elsewhere, worker threads and files read as data are not covered.

const isPath = /^(?:\.|\/|file:)/;

/** Until it is disposed of. A changed or new file fails the import. */
function holdImports({ path, files }: Pick<PluginContent, 'path' | 'files'>): { dispose(): void } {
  const coveredFile = (url = ''): string | null => {
    const file = url.startsWith('file:') ? fileURLToPath(url) : null;
    return file !== null && isInside(file, path) ? file : null;
  };
  const readApproved = (file: string): Buffer => {
    const source = readFileSync(file);
    if (files.get(file) !== hashOf(source)) throw new Error(`${file} is not as it was when the plugin was approved.`);
    return source;
  };
  const hooks = nodeModule.registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      const file = coveredFile(found.url);
      const leaves = file === null && isPath.test(specifier) && coveredFile(context.parentURL) !== null;
      if (leaves) throw new Error(`The plugin at ${path} imports ${specifier}, which is not part of what was approved.`);
      // Node loads native code without the hook below.
      if (file?.endsWith('.node') === true) readApproved(file);
      return found;
    },
    load: (url, context, next) => {
      const file = coveredFile(url);
      return file === null ? next(url, context) : { ...next(url, context), source: readApproved(file), shortCircuit: true };
    },
  });
  return {
    dispose: () => {
      hooks.deregister();
    },
  };
}
