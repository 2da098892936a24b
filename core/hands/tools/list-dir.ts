// The list_dir tool: lists one folder's entries with kind and size, sorted by name and bounded.

import { lstatSync, opendirSync, readlinkSync, type Dir } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import { defineTool } from './define-tool.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { formatBytes } from './bound-text.ts';
import type { CheckedPaths } from './checked-paths.ts';
import { fileError } from './errno.ts';
import { errnoOf } from '../../base/errno.ts';
import { folderArgument, shownPath } from './path-argument.ts';

const NAMES_READ_MAX = 20_000;
const ENTRIES_SHOWN_MAX = 1000;
/** Reading one entry takes microseconds, and the thread pool ten times that, so only long lists yield in between. */
const ENTRIES_AT_ONCE = 100;

const input = z.strictObject({ path: folderArgument });

export function createListDir(deps: { readonly paths: CheckedPaths }): ToolDefinition {
  return defineTool({
    name: 'list_dir',
    description: 'List the entries of one folder with their sizes; folders end with /. Use glob to find files in subfolders.',
    input,
    class: 'read',
    shows: { verb: 'list', target: ['path'] },
    idempotency: () => 'pure',
    timeoutMs: 30_000,
    facts: (args, context) => deps.paths.callFacts(args, args.path, 'read', context),
    summarize: (args) => `list ${shownPath(args.path)}`,
    async run(args, context) {
      const { real } = deps.paths.confirm(args, args.path, 'read', context);
      const { names, complete } = await readNames(real, context.signal);
      if (names.length === 0) return { forModel: '(the folder is empty)' };
      const shown = names.slice(0, ENTRIES_SHOWN_MAX);
      const lines: string[] = [];
      for (const [index, name] of shown.entries()) {
        if (index > 0 && index % ENTRIES_AT_ONCE === 0) await setImmediate();
        context.signal.throwIfAborted();
        lines.push(describeEntry(join(real, name), name));
      }
      if (!complete) lines.push(`… and more than ${NAMES_READ_MAX - shown.length} further entries`);
      else if (names.length > shown.length) lines.push(`… and ${names.length - shown.length} further entries`);
      return { forModel: lines.join('\n') };
    },
  });
}

async function readNames(real: string, signal: AbortSignal): Promise<{ names: string[]; complete: boolean }> {
  const names: string[] = [];
  let folder: Dir | undefined;
  try {
    folder = opendirSync(real, { bufferSize: ENTRIES_AT_ONCE });
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (names.length === NAMES_READ_MAX) return { names: names.sort(), complete: false };
      names.push(entry.name);
      if (names.length % ENTRIES_AT_ONCE === 0) await setImmediate();
      signal.throwIfAborted();
    }
  } catch (cause) {
    throw fileError('list', real, cause);
  } finally {
    folder?.closeSync();
  }
  return { names: names.sort(), complete: true };
}

function describeEntry(path: string, name: string): string {
  const shown = printable(name);
  try {
    const stat = lstatSync(path);
    if (stat.isDirectory()) return `${shown}/`;
    if (stat.isSymbolicLink()) return `${shown} -> ${printable(readlinkSync(path))}`;
    return stat.isFile() ? `${shown}  ${formatBytes(stat.size)}` : `${shown}  (not a plain file)`;
  } catch (cause) {
    if (name.includes('\uFFFD')) return `${shown}  (its name is not UTF-8: only a command can use it)`;
    return `${shown}  (${errnoOf(cause) === 'ENOENT' ? 'removed meanwhile' : 'cannot be read'})`;
  }
}

/** A name with line breaks or other control characters is shown quoted, so that it cannot pose as several names. */
export function printable(name: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(name) ? JSON.stringify(name) : name;
}
