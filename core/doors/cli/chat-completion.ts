// Completions for Tab in `chat`: slash commands with their arguments, and files below the current folder after an @.

import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { revealed } from '../../base/visible-text.ts';
import type { Claw } from '../../contracts/claw.ts';
import type { Completions } from './line-reader.ts';

const FILES_MAX = 100;
/** The commands that only `chat` has. */
const ownCommands = ['/open ', '/quit'];

export interface CompletionPlace {
  /** Null while nothing is connected. */
  readonly claw: Pick<Claw, 'op'> | null;
  readonly sessionId: string | undefined;
  readonly cwd: string;
}

/** Offers nothing if the program cannot be asked: a key must not fail. */
export async function completeMessage(line: string, { claw, sessionId, cwd }: CompletionPlace): Promise<Completions> {
  const mention = /(?<=^|\s)@([^\s@]*)$/.exec(line)?.[1];
  if (mention !== undefined) return { texts: filesLike(mention, cwd).map((path) => `@${path}`), replaced: `@${mention}` };
  if (!line.startsWith('/')) return { texts: [], replaced: line };
  const own = ownCommands.filter((command) => command.startsWith(line));
  if (claw === null) return { texts: own, replaced: line };
  try {
    const params = { line, ...(sessionId === undefined ? {} : { sessionId }) };
    const { completions } = await claw.op('command.complete', params);
    return { texts: [...completions.map((completion) => completion.line), ...own], replaced: line };
  } catch {
    return { texts: own, replaced: line };
  }
}

/** Entries of one folder, as a shell completes them; a folder ends with a slash. Names that cannot be mentioned are left out. */
function filesLike(begun: string, cwd: string): string[] {
  const folder = begun.slice(0, begun.lastIndexOf('/') + 1);
  const at = resolve(cwd, folder);
  const start = begun.slice(folder.length);
  if (!isInside(at, cwd)) return [];
  try {
    return readdirSync(at, { withFileTypes: true })
      .filter(
        ({ name }) =>
          name.startsWith(start) && (start !== '' || !name.startsWith('.')) && /^[^\s@]+$/.test(name) && revealed(name) === name,
      )
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .toSorted()
      .slice(0, FILES_MAX);
  } catch {
    return [];
  }
}
