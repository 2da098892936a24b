// Commands that run what a project itself defines (npm test, cargo test, make): code somebody approves by name. Known here is which
// flags leave it at that, which files say what runs, and what those files would have to hold to turn it into something else.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { flagTable, readArguments, type FlagTable } from './argument-reader.ts';
import { foldersAbove, isInOrAbove } from './folders-above.ts';
import { filesNamedBy } from './named-scripts.ts';
import { readPackageTask } from './package-tasks.ts';
import type { TaskForm } from './task-form.ts';

const toolForms: ReadonlyMap<
  string,
  { readonly table: FlagTable; readonly bindings: readonly string[]; readonly refusedBy: readonly string[] }
> = new Map([
  [
    'cargo test',
    {
      table:
        flagTable(`--release, --lib, --bins, --tests, --examples, --doc, --all-targets, --workspace, --all, -p NAME, --package=NAME, --no-run,
          --no-fail-fast, -q, --quiet, -v, --verbose, --all-features, --no-default-features, --features=LIST, -F LIST, --locked, --offline,
          --frozen, --test=NAME, --bin=NAME, -j N, --jobs=N, --color=WHEN`),
      bindings: ['Cargo.toml', 'Cargo.lock', 'build.rs', '.cargo/config.toml', '.cargo/config', 'rust-toolchain', 'rust-toolchain.toml'],
      refusedBy: ['.cargo/config.toml', '.cargo/config', 'rust-toolchain', 'rust-toolchain.toml'],
    },
  ],
  [
    'go test',
    {
      // One dash or two: Go takes both, and no bundles, so each is listed whole by `goFlags`.
      table: flagTable('-v'),
      bindings: ['go.mod', 'go.sum', 'go.work', 'go.work.sum', 'vendor/modules.txt'],
      refusedBy: [],
    },
  ],
  [
    'pytest',
    {
      table: flagTable(`-q, --quiet, -v, --verbose, -x, --exitfirst, -k EXPRESSION, -m MARKS, -s, --lf, --last-failed, --ff, --failed-first,
          --maxfail=N, --tb=STYLE, --co, --collect-only, --durations=N, --no-header, --no-summary, --color=WHEN, -l, --showlocals`),
      bindings: ['pytest.ini', 'pyproject.toml', 'setup.cfg', 'tox.ini', 'conftest.py', '.pytest.ini'],
      refusedBy: [],
    },
  ],
  [
    'make',
    {
      table: flagTable('-k, --keep-going, -s, --silent, -j N, --jobs=N, -B, --always-make'),
      bindings: ['GNUmakefile', 'makefile', 'Makefile'],
      refusedBy: [],
    },
  ],
]);

const goFlags = /^--?(?:v|short|race|cover|failfast|(?:run|count|timeout|bench|parallel|skip)=[^=]*)$/;
const targetName = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

const packageManagers = new Set(['npm', 'pnpm', 'yarn']);

export const taskPrograms: ReadonlySet<string> = new Set([...packageManagers, 'cargo', 'go', 'pytest', 'make']);

/** What a project's task runs, or null when the command is none of those known here. */
export function readTask(argv: readonly string[], cwd: string): TaskForm | null {
  const [program = '', ...args] = argv;
  if (packageManagers.has(program)) return readPackageTask(program, args, cwd);
  const name = program === 'pytest' || program === 'make' ? program : `${program} ${args[0] ?? ''}`;
  const form = toolForms.get(name);
  if (form === undefined) return null;
  const words = name.split(' ');
  const rest = args.slice(words.length - 1);
  const operands = program === 'go' ? goOperands(rest) : (readArguments(rest, form.table)?.operands ?? null);
  const isRefused = operands === null || form.refusedBy.some((file) => isInOrAbove(cwd, file));
  if (program === 'make') {
    const target = isRefused ? null : makeTarget(operands);
    const bindings = [...form.bindings, ...recipesOf(cwd, form.bindings)];
    return { bindings, remark: null, operands: [], family: target === null ? null : [...words, ...target] };
  }
  const above = filesAbove(cwd, form.bindings);
  const known = { bindings: [...form.bindings, ...above], remark: null };
  return isRefused ? { ...known, operands: above, family: null } : { ...known, operands: [...operands, ...above], family: words };
}

/** These look upwards for the project they belong to, and for settings. */
function filesAbove(cwd: string, names: readonly string[]): readonly string[] {
  return foldersAbove(cwd)
    .slice(1)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .filter((file) => existsSync(file));
}

/** Test names that look like paths lead out of the folder only where the paths do, which is judged apart. */
function goOperands(args: readonly string[]): readonly string[] | null {
  const operands = args.filter((argument) => !argument.startsWith('-'));
  const flags = args.filter((argument) => argument.startsWith('-'));
  return flags.every((flag) => goFlags.test(flag)) && operands.every((path) => /^\.\.?(?:\/|$)/.test(path)) ? operands : null;
}

/** What the recipes of the first Makefile start: make reads no other. */
function recipesOf(cwd: string, names: readonly string[]): readonly string[] {
  const makefile = names.map((name) => join(cwd, name)).find((path) => existsSync(path));
  try {
    return makefile === undefined ? [] : filesNamedBy(readFileSync(makefile, 'utf8'), cwd, 'recipes');
  } catch {
    // Not to be read: make cannot either.
    return [];
  }
}

function makeTarget(operands: readonly string[]): readonly string[] | null {
  if (operands.length > 1) return null;
  return operands.every((target) => targetName.test(target)) ? operands : null;
}
