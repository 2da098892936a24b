// Commands that run what a project itself defines (npm test, cargo test, make): code somebody approves by name. Known here is which
// flags leave it at that, which files say what runs, and what those files would have to hold to turn it into something else.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { flagTable, readArguments } from './argument-reader.ts';
import { projectTools, type ProjectTool } from './command-table.ts';
import { filesNamedBy } from './named-scripts.ts';
import { readPackageTask } from './package-tasks.ts';
import { foldersAbove, isInOrAbove, readSmall, type TaskForm } from './project-files.ts';

const MAKEFILE_BYTES_MAX = 1_000_000;
const targetName = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;
const packageManagers = new Set(['npm', 'pnpm', 'yarn']);

export const taskPrograms: ReadonlySet<string> = new Set([
  ...packageManagers,
  ...Object.keys(projectTools).map((words) => words.split(' ')[0] ?? ''),
]);

/** What a project's task runs, or null when the command is none of those known here. */
export function readTask(argv: readonly string[], cwd: string): TaskForm | null {
  const [program = '', ...args] = argv;
  if (packageManagers.has(program)) return readPackageTask(program, args, cwd);
  const words = [[program], [program, args[0] ?? '']].find((some) => Object.hasOwn(projectTools, some.join(' ')));
  const tool = projectTools[words?.join(' ') ?? ''];
  if (words === undefined || tool === undefined) return null;
  const isRefused = tool.refusedBy?.some((file) => isInOrAbove(cwd, file)) === true;
  const operands = isRefused ? null : operandsOf(args.slice(words.length - 1), tool);
  return program === 'make' ? makeTask(operands, tool, cwd) : toolTask(words, operands, tool, cwd);
}

/** Null where a flag is not known. */
function operandsOf(args: readonly string[], { flags }: ProjectTool): readonly string[] | null {
  if (typeof flags === 'string') return readArguments(args, flagTable(flags))?.operands ?? null;
  const operands = args.filter((argument) => !argument.startsWith('-'));
  const isKnown = args.every((argument) => !argument.startsWith('-') || flags.test(argument));
  // Test names that look like paths lead out of the folder only where the paths do, which is judged apart.
  return isKnown && operands.every((path) => /^\.\.?(?:\/|$)/.test(path)) ? operands : null;
}

/** These look upwards for the project they belong to, and for settings. */
function toolTask(words: readonly string[], operands: readonly string[] | null, { bindings }: ProjectTool, cwd: string): TaskForm {
  const above = foldersAbove(cwd)
    .slice(1)
    .flatMap((folder) => bindings.map((name) => join(folder, name)))
    .filter((file) => existsSync(file));
  const family = operands === null ? null : words;
  return { family, bindings: [...bindings, ...above], remark: null, operands: [...(operands ?? []), ...above] };
}

/** What the recipes of the first Makefile start is bound as well: make reads no other. One that is not read is asked about. */
function makeTask(operands: readonly string[] | null, { bindings }: ProjectTool, cwd: string): TaskForm {
  const makefile = bindings.map((name) => join(cwd, name)).find((path) => existsSync(path));
  const recipes = makefile === undefined ? null : readSmall(makefile, MAKEFILE_BYTES_MAX);
  const isTarget = operands !== null && operands.length <= 1 && operands.every((target) => targetName.test(target));
  const started = typeof recipes === 'string' ? filesNamedBy(recipes, cwd, 'recipes') : [];
  return {
    family: isTarget && recipes !== undefined ? ['make', ...operands] : null,
    bindings: [...bindings, ...started],
    remark: null,
    operands: [],
  };
}
