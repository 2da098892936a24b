// Finds the line of package.json that `npm test`, `npm run NAME` and similar commands run, so that a person can see it. Knows which flags
// do not change that line, and which project settings would run something else.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainObject, parseJson } from '../../base/json.ts';
import { flagTable, readArguments } from './argument-reader.ts';
import { filesNamedBy } from './named-scripts.ts';
import { foldersAbove, isInOrAbove, readSmall, type TaskForm } from './project-files.ts';

const FILE_BYTES_MAX = 1_000_000;
const CALLED_MAX = 20;
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

/** Returns null if the command runs neither the test nor a script of the project. */
export function readPackageTask(program: string, args: readonly string[], cwd: string): TaskForm | null {
  const named = namedScript(args);
  if (named === null) return null;
  const { script, words, isAlone } = named;
  const folder = packageFolder(cwd);
  const scripts = scriptsIn(folder);
  return {
    family: isAlone && hasPlainSettings(folder, program) ? [program, ...words] : null,
    bindings: [...packageFiles.map((file) => join(folder, file)), ...filesNamedBy(linesOf(scripts, script), folder)],
    remark: describeScript(scripts, [program, ...words].join(' '), script),
    // If the project is in a parent folder, the script runs there.
    operands: [folder],
  };
}

interface NamedScript {
  readonly script: string;
  readonly words: readonly string[];
  /** True if the command has no further arguments and names the script in its standard form, so its words say what runs. */
  readonly isAlone: boolean;
}

function namedScript([command = '', ...rest]: readonly string[]): NamedScript | null {
  const read = readArguments(rest, packageFlags);
  const [first, ...more] = read?.operands ?? [];
  if (command === 'test' || command === 't') {
    return { script: 'test', words: ['test'], isAlone: command === 'test' && read?.operands.length === 0 && !rest.includes('--') };
  }
  if ((command !== 'run' && command !== 'run-script') || first === undefined) return null;
  const isAlone = command === 'run' && more.length === 0 && !rest.includes('--') && /^[\w:.-]+$/.test(first);
  return { script: first, words: ['run', first], isAlone };
}

/** npm searches upwards for its project. */
function packageFolder(cwd: string): string {
  return foldersAbove(cwd).find((folder) => existsSync(join(folder, 'package.json'))) ?? cwd;
}

/** Returns whether no settings of the project lead npm to write its log elsewhere, which it does even to show its version. */
export function hasPlainNpm(cwd: string): boolean {
  const isTop = (folder: string): boolean => ['package.json', 'node_modules'].some((name) => existsSync(join(folder, name)));
  return hasPlainSettings(foldersAbove(cwd).find(isTop) ?? cwd, 'npm');
}

/** A project in a parent folder may include this one as a workspace, and then its settings apply here too. */
function hasPlainSettings(folder: string, program: string): boolean {
  const projects = foldersAbove(folder).filter((above) => existsSync(join(above, 'package.json')));
  if (![folder, ...projects].every((project) => isPlainNpmrc(readSmall(join(project, '.npmrc'), FILE_BYTES_MAX)))) return false;
  // These files name a program or code that runs before the script.
  return program === 'npm' || !['.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'pnpm-workspace.yaml'].some((file) => isInOrAbove(folder, file));
}

function isPlainNpmrc(text: string | null | undefined): boolean {
  return typeof text === 'string' ? text.split(/\r?\n/).every((line) => line.trim() === '' || npmrcLine.test(line.trim())) : text === null;
}

type Scripts = Readonly<Record<string, unknown>>;

function scriptsIn(folder: string): Scripts | null {
  const text = readSmall(join(folder, 'package.json'), FILE_BYTES_MAX);
  const parsed = typeof text === 'string' ? parseJson(text) : null;
  const scripts = parsed?.ok === true && isPlainObject(parsed.value) ? parsed.value['scripts'] : null;
  return isPlainObject(scripts) ? scripts : null;
}

/** Returns the lines a script runs, including its `pre` and `post` steps. */
function stepsOf(scripts: Scripts, script: string): readonly string[] {
  return [`pre${script}`, script, `post${script}`].flatMap((name) => {
    const step = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
    return typeof step === 'string' ? [step] : [];
  });
}

function describeScript(scripts: Scripts | null, words: string, script: string): string | null {
  const steps = scripts === null ? [] : stepsOf(scripts, script).map((step) => step.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?'));
  return steps.length === 0 ? null : `${words} runs: ${steps.join(' && ').slice(0, 300)}`;
}

/** Returns the lines of a script and of the scripts it runs by name. */
function linesOf(scripts: Scripts | null, script: string): string {
  if (scripts === null) return '';
  const names = new Set([script]);
  const lines: string[] = [];
  for (const name of names) {
    const steps = stepsOf(scripts, name);
    lines.push(...steps);
    for (const [, called = ''] of steps.join('\n').matchAll(/\b(?:npm|pnpm|yarn)\s+(?:run(?:-script)?\s+)?([\w:.-]+)/g)) {
      if (names.size < CALLED_MAX) names.add(called);
    }
  }
  return lines.join('\n');
}
