// The code that the programs of config.yaml run: hooks, verifiers and MCP servers, started without a shell. Reads only the disk.

import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import type { Config } from '../../contracts/config.ts';
import { realOrGiven } from './content-hash.ts';
import { filesNamedIn } from './named-scripts.ts';
import { moduleRun, withImported } from './imported-files.ts';
import { isInterpreter } from './program-names.ts';

const WORD_CHARS_MAX = 4096;
const codeSuffix = /\.(?:[cm]?[jt]sx?|py[wz]?|rb|pl|php|lua|sh|bash|zsh|fish|ps1|bat|cmd|exe|jar|wasm)$/i;

/**
 * Returns the real paths of the code that an argument list names, with the files that it imports and its shell scripts start. A data file is
 * left out: a server may change it with every call. `runsIn` is the folder of the process.
 */
export function codeFiles(argv: readonly string[], folder: string, runsIn = folder): readonly string[] {
  const found = new Set<string>();
  let runsOperand = false;
  for (const [index, word] of argv.entries()) {
    const path = namedPath(word, folder);
    const isOperand: boolean = runsOperand && index > 0 && !word.startsWith('-');
    const isRun = index === 0 ? isOwnProgram(word, path ?? '', folder) : isOperand || (path !== null && isCode(path));
    if (path !== null && isRun) found.add(realOrGiven(path));
    runsOperand = isInterpreter(word) || (runsOperand && !isOperand);
  }
  const started = [...found].flatMap((path) => filesNamedIn(path, folder)).map(realOrGiven);
  const modules = moduleRun(argv, runsIn).filter((path) => existsSync(path));
  return [...new Set(withImported([...found, ...started, ...modules], runsIn).map(realOrGiven))].filter(
    (path) => kindOf(path) !== 'folder',
  );
}

/** An interpreter elsewhere is updated with the system, and is not bound when it is found by its name either. */
function isOwnProgram(word: string, path: string, folder: string): boolean {
  return /[\\/]/.test(word) && (!isInterpreter(word) || isInside(path, folder));
}

/** Null for a word that is not a path, such as a line of code or an address. */
function namedPath(word: string, folder: string): string | null {
  const named = word.startsWith('-') ? word.slice(word.indexOf('=') + 1) : word;
  return named === '' || named.length > WORD_CHARS_MAX || /[\0\n]|:\/\//.test(named) ? null : resolve(folder, named);
}

export function programFiles({ hooks, verify, mcp }: Pick<Config, 'hooks' | 'verify' | 'mcp'>, workspace: string): readonly string[] {
  const asked = [...hooks.map(({ command }) => command), ...Object.values(verify?.commands ?? {})];
  const servers = Object.values(mcp.servers).map(({ command = '', args = [], cwd = '' }) => ({ argv: [command, ...args], cwd }));
  return [...asked.map((argv) => ({ argv, cwd: '' })), ...servers].flatMap(({ argv, cwd }) => {
    const folder = resolve(workspace, cwd);
    return [...codeFiles(argv, folder), ...moduleRun(argv, folder)];
  });
}

/** A path with the suffix of code counts even if nothing exists there: the program runs what is put there. */
function isCode(path: string): boolean {
  return codeSuffix.test(path) || kindOf(path) === 'executable';
}

function kindOf(path: string): 'folder' | 'executable' | 'other' {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) return 'folder';
    return stat?.isFile() === true && process.platform !== 'win32' && (stat.mode & 0o111) !== 0 ? 'executable' : 'other';
  } catch {
    // A part of the path cannot be looked at.
    return 'other';
  }
}
