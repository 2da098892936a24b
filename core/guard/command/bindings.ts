// The files and settings a plain command runs: its program, the scripts and settings that act as its code, and its environment. A grant
// covers only the versions that existed when it was given.

import { hash } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import { canonicalJson } from '../../base/json.ts';
import type { CommandBinding } from '../../contracts/tools.ts';
import { realOrGiven, type ContentHashes } from './content-hash.ts';
import { moduleRun } from './imported-files.ts';
import { isInterpreter } from './program-names.ts';
import { filesNamedIn } from './named-scripts.ts';
import { startFilesOf } from './start-files.ts';

export interface BoundParts {
  /** Real path. */
  readonly program: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Settings files, relative to `cwd` or absolute. */
  readonly configs: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Flags of interpreters that name code in addition to the first operand. */
const codeFlags = new Set([
  '-r',
  '--require',
  '--import',
  '--loader',
  '--experimental-loader',
  '-f',
  '-file',
  '--file',
  '-jar',
  '--config',
  '-c',
]);
const SCRIPTS_MAX = 8;

export function bindingsOf(parts: BoundParts, hashes: ContentHashes): CommandBinding[] {
  const file = (kind: CommandBinding['kind'], path: string): CommandBinding => {
    const name = realOrGiven(isAbsolute(path) ? path : join(parts.cwd, path));
    return { kind, name, sha256: hashes.of(name) };
  };
  return [
    file('program', parts.program),
    ...withCalled(scriptsOf(parts, hashes), parts.cwd).map((path) => file('script', path)),
    ...moduleRun(parts.argv, parts.cwd)
      .filter((path) => hashes.of(path) !== null)
      .map((path) => file('script', path)),
    ...unique([...parts.configs, ...startFilesOf(parts.argv, parts.cwd)]).map((path) => file('config', path)),
    { kind: 'environment', name: 'environment', sha256: hash('sha256', canonicalJson(parts.environment), 'hex') },
  ];
}

/**
 * Returns the first operand that is a file, and the code that flags name. Extra files are harmless: a change to them only leads to another
 * approval.
 */
function scriptsOf({ argv, cwd }: BoundParts, hashes: ContentHashes): readonly string[] {
  const [program = '', ...args] = argv;
  if (!isInterpreter(program)) return [];
  const scripts: string[] = [];
  let hasMain = false;
  for (const [index, argument] of args.entries()) {
    const named = argument.startsWith('--') ? argument.slice(argument.indexOf('=') + 1) : argument;
    const isNamed = isNamedCode(argument, args[index - 1] ?? '');
    if ((argument.startsWith('-') && !isNamed) || (hasMain && !isNamed)) continue;
    const path = isAbsolute(named) ? named : join(cwd, named);
    if (hashes.of(path) === null) continue;
    scripts.push(path);
    hasMain ||= !isNamed;
  }
  return unique(scripts).slice(0, SCRIPTS_MAX);
}

function isNamedCode(argument: string, before: string): boolean {
  return codeFlags.has(before.toLowerCase()) || /^--[^=]*=/.test(argument);
}

/** Adds the files that a shell script starts, because they are part of its code. */
function withCalled(scripts: readonly string[], cwd: string): readonly string[] {
  return unique([...scripts, ...scripts.flatMap((script) => filesNamedIn(script, cwd))]);
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}
