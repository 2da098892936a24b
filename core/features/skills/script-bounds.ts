// Computes the bounds of a skill's script: the declarations in the front matter, and the hosts that the script's text names. Reads files;
// decides nothing.

import { closeSync, openSync, readSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { coversHost, hostsInText } from '../../base/hosts-in-text.ts';
import { isInside } from '../../base/inside-folder.ts';
import type { ScriptBounds } from '../../contracts/tools.ts';
import { realOf } from '../../guard/workspace/workspace.ts';
import type { SkillBook } from './skill-book.ts';

const SCRIPT_BYTES_MAX = 1_000_000;

/** The bounds of the first skill that owns one of the paths, or null if none does. */
export function scriptBounds(book: Pick<SkillBook, 'owning'>, paths: readonly string[], workspace: string): ScriptBounds | null {
  for (const path of paths) {
    const skill = book.owning(path);
    if (skill === null) continue;
    const { head, folder } = skill;
    const { name, hosts, folders, tools } = head;
    const commands = [...head.needs.bins, ...head.needs.anyBins];
    const named = paths.filter((one) => isInside(one, folder)).flatMap((one) => [...hostsInText(textOf(one))]);
    return {
      skill: name,
      hosts,
      folders: folders.map((one) => realOf(placeOf(one, workspace))),
      commands,
      runsCommands: tools.length === 0 || tools.includes('exec'),
      ownFolder: folder,
      undeclaredHosts: [...new Set(named)].filter((host) => !coversHost(hosts, host)).sort(),
      isDeclared: [hosts, folders, commands, tools].some((declared) => declared.length > 0),
    };
  }
  return null;
}

function placeOf(folder: string, workspace: string): string {
  if (folder === '~' || /^(?:~|\$HOME)\//.test(folder)) return join(homedir(), folder.replace(/^(?:~|\$HOME)\/?/, ''));
  return resolve(workspace, folder);
}

/** The beginning of the file. Empty if the file cannot be read; it cannot be run then either. */
function textOf(path: string): string {
  try {
    const handle = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(SCRIPT_BYTES_MAX);
      return bytes.toString('utf8', 0, readSync(handle, bytes, 0, SCRIPT_BYTES_MAX, 0));
    } finally {
      closeSync(handle);
    }
  } catch {
    return '';
  }
}
