// Commands that run code defined by the project (npm test, cargo test, make), which a person approves by name. Knows which flags do not
// change what runs, which files determine it, and which file contents would change it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { flagTables, readArguments } from './argument-reader.ts';
import { projectTools, type ProjectTool } from './command-table.ts';
import { readPackageTask } from './package-tasks.ts';
import { foldersAbove, isInOrAbove, readSmall, type TaskForm } from './project-files.ts';

const MAKEFILE_BYTES_MAX = 1_000_000;
const targetName = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;
const toolFlags = flagTables(projectTools);
const packageManagers = new Set(['npm', 'pnpm', 'yarn']);

export const taskPrograms: ReadonlySet<string> = new Set([
  ...packageManagers,
  ...Object.keys(projectTools).map((words) => words.split(' ')[0] ?? ''),
]);

/** Returns the code that a project's task runs, or null if the command is not a known task. */
export function readTask(argv: readonly string[], cwd: string): TaskForm | null {
  const [program = '', ...args] = argv;
  if (packageManagers.has(program)) return readPackageTask(program, args, cwd);
  const words = [[program], [program, args[0] ?? '']].find((some) => Object.hasOwn(projectTools, some.join(' ')));
  const tool = projectTools[words?.join(' ') ?? ''];
  if (words === undefined || tool === undefined) return null;
  const isRefused = tool.refusedBy?.some((file) => isInOrAbove(cwd, file)) === true;
  const operands = isRefused ? null : operandsOf(args.slice(words.length - 1), words.join(' '), tool);
  return program === 'make' ? makeTask(operands, tool, cwd) : toolTask(words, operands, tool, cwd);
}

/** Returns null if a flag is unknown. */
function operandsOf(args: readonly string[], name: string, { flags }: ProjectTool): readonly string[] | null {
  const table = toolFlags.get(name);
  if (table !== undefined) return readArguments(args, table)?.operands ?? null;
  const operands = args.filter((argument) => !argument.startsWith('-'));
  const isKnown = args.every((argument) => !argument.startsWith('-') || new RegExp(flags).test(argument));
  // Test names that look like paths leave the folder only if the paths do, which is checked separately.
  return isKnown && operands.every((path) => /^\.\.?(?:\/|$)/.test(path)) ? operands : null;
}

/** These tools search the parent folders for their project and settings. */
function toolTask(words: readonly string[], operands: readonly string[] | null, { bindings }: ProjectTool, cwd: string): TaskForm {
  const above = foldersAbove(cwd)
    .slice(1)
    .flatMap((folder) => bindings.map((name) => join(folder, name)))
    .filter((file) => existsSync(file));
  const family = operands === null ? null : words;
  return { family, bindings: [...bindings, ...above], remark: null, operands: [...(operands ?? []), ...above] };
}

/** Make reads only the first Makefile of the folder. An unreadable one needs approval. */
function makeTask(operands: readonly string[] | null, { bindings }: ProjectTool, cwd: string): TaskForm {
  const makefile = bindings.map((name) => join(cwd, name)).find((path) => existsSync(path));
  const recipes = makefile === undefined ? null : readSmall(makefile, MAKEFILE_BYTES_MAX);
  const isTarget = operands !== null && operands.length <= 1 && operands.every((target) => targetName.test(target));
  return {
    family: isTarget && recipes !== undefined ? ['make', ...operands] : null,
    bindings,
    remark: null,
    operands: [],
  };
}
