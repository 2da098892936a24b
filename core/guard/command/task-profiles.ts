// Commands that run what a project itself defines (npm test, cargo test, make): code somebody approves by name. Known here is which
// flags leave it at that, which files say what runs, and what those files would have to hold to turn it into something else.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isPlainObject, parseJson } from '../../base/json.ts';
import { flagTable, readArguments, type FlagTable } from './argument-reader.ts';

export interface TaskForm {
  /** Null where the arguments or the project's settings may change what runs. */
  readonly family: readonly string[] | null;
  /** Files that decide what runs, relative to the folder, also those that are not there. */
  readonly bindings: readonly string[];
  /** What will run, where a file says so. */
  readonly remark: string | null;
  readonly operands: readonly string[];
}

const FILE_BYTES_MAX = 1_000_000;
const packageFiles = [
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  '.pnpmfile.cjs',
  'yarn.lock',
  '.yarnrc',
  '.yarnrc.yml',
  '.npmrc',
];
const packageFlags = flagTable('-s, --silent, -q, --quiet, --if-present, --no-color, --loglevel=LEVEL');
const npmrcLine =
  /^(?:[#;].*|(?:@[\w.-]+:)?registry\s*=.*|(?:\/\/.*)?:?_(?:authToken|auth)\s*=.*|(?:save-exact|fund|audit|engine-strict|legacy-peer-deps|package-lock|loglevel|progress|save-prefix|strict-peer-dependencies|auto-install-peers|shamefully-hoist|hoist|update-notifier|always-auth|color|access|save|prefer-offline)\s*=\s*[\w.^~-]*)$/;

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

export const taskPrograms: ReadonlySet<string> = new Set(['npm', 'pnpm', 'yarn', 'cargo', 'go', 'pytest', 'make']);

/** What a project's task runs, or null when the command is none of those known here. */
export function readTask(argv: readonly string[], cwd: string): TaskForm | null {
  const [program = '', ...args] = argv;
  if (program === 'npm' || program === 'pnpm' || program === 'yarn') return packageTask(program, args, cwd);
  const name = program === 'pytest' || program === 'make' ? program : `${program} ${args[0] ?? ''}`;
  const form = toolForms.get(name);
  if (form === undefined) return null;
  const family = name.split(' ');
  const rest = args.slice(family.length - 1);
  const operands = program === 'go' ? goOperands(rest) : (readArguments(rest, form.table)?.operands ?? null);
  const isRefused = operands === null || form.refusedBy.some((file) => isInOrAbove(cwd, file));
  const known = { bindings: form.bindings, remark: null, operands: operands ?? [] };
  if (isRefused) return { ...known, family: null };
  if (program !== 'make') return { ...known, family };
  const target = makeTarget(operands);
  return target === null ? { ...known, family: null } : { ...known, operands: [], family: [...family, ...target] };
}

/** Test names that look like paths lead out of the folder only where the paths do, which is judged apart. */
function goOperands(args: readonly string[]): readonly string[] | null {
  const operands = args.filter((argument) => !argument.startsWith('-'));
  const flags = args.filter((argument) => argument.startsWith('-'));
  return flags.every((flag) => goFlags.test(flag)) && operands.every((path) => /^\.\.?(?:\/|$)/.test(path)) ? operands : null;
}

function makeTarget(operands: readonly string[]): readonly string[] | null {
  if (operands.length > 1) return null;
  return operands.every((target) => targetName.test(target)) ? operands : null;
}

function packageTask(program: string, args: readonly string[], cwd: string): TaskForm | null {
  const isTest = args[0] === 'test' || args[0] === 't';
  const isRun = args[0] === 'run' || args[0] === 'run-script';
  if (!isTest && !isRun) return null;
  const read = readArguments(args.slice(1), packageFlags);
  const [script, ...more] = isTest ? ['test', ...(read?.operands ?? [])] : (read?.operands ?? []);
  if (script === undefined) return null;
  const folder = packageFolder(cwd);
  const bindings = packageFiles.map((file) => join(folder, file));
  const remark = describeScript(folder, program, isTest ? 'test' : `run ${script}`, script);
  const isClear =
    read !== null && !args.includes('--') && more.length === 0 && /^[\w:.-]+$/.test(script) && args[0] !== 't' && args[0] !== 'run-script';
  const family = isClear && hasPlainSettings(folder, program) ? [program, ...(isTest ? ['test'] : ['run', script])] : null;
  return { family, bindings, remark, operands: [] };
}

/** npm looks upwards for the project it belongs to. */
function packageFolder(cwd: string): string {
  return foldersAbove(cwd).find((folder) => existsSync(join(folder, 'package.json'))) ?? cwd;
}

/** A project above may count this one as its own part, and then its settings hold here too. */
function hasPlainSettings(folder: string, program: string): boolean {
  const projects = foldersAbove(folder).filter((above) => existsSync(join(above, 'package.json')));
  if (![folder, ...projects].every((project) => isPlainNpmrc(readSmall(join(project, '.npmrc'))))) return false;
  // These name a program, or code, that runs before the script does.
  return program === 'npm' || !['.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'pnpm-workspace.yaml'].some((file) => isInOrAbove(folder, file));
}

function isPlainNpmrc(text: string | null | undefined): boolean {
  return typeof text === 'string' ? text.split(/\r?\n/).every((line) => line.trim() === '' || npmrcLine.test(line.trim())) : text === null;
}

function describeScript(folder: string, program: string, words: string, script: string): string | null {
  const text = readSmall(join(folder, 'package.json'));
  const parsed = typeof text === 'string' ? parseJson(text) : null;
  const scripts = parsed?.ok === true && isPlainObject(parsed.value) ? parsed.value['scripts'] : null;
  if (!isPlainObject(scripts)) return null;
  const steps = [`pre${script}`, script, `post${script}`].flatMap((name) => {
    const step = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
    return typeof step === 'string' ? [step.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')] : [];
  });
  return steps.length === 0 ? null : `${program} ${words} runs: ${steps.join(' && ').slice(0, 300)}`;
}

function isInOrAbove(cwd: string, file: string): boolean {
  return foldersAbove(cwd).some((folder) => existsSync(join(folder, file)));
}

/** The folder itself and every one above it. */
function foldersAbove(folder: string): readonly string[] {
  const folders = [folder];
  for (let above = folder; dirname(above) !== above;) {
    above = dirname(above);
    folders.push(above);
  }
  return folders;
}

/** Null where nothing is, undefined where something is that is not read. */
function readSmall(path: string): string | null | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return null;
    return stat.isFile() && stat.size <= FILE_BYTES_MAX ? readFileSync(path, 'utf8') : undefined;
  } catch {
    // There, and not to be read.
    return undefined;
  }
}
