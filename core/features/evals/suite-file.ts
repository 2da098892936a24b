// Reads eval cases from a file or a folder of files: fills templates, applies defaults, reads workspaces. Every error names its place.

import { hash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parse } from 'yaml';
import { isPlainObject } from '../../base/json.ts';
import { AppError, noPath } from '../../contracts/errors.ts';
import { describeIssues } from '../../contracts/describe-issues.ts';
import { evalFileSchema, type EvalAssert, type EvalFile, type EvalTool } from '../../contracts/features/evals.ts';
import { schemaFault } from './declared-tool.ts';
import { readPublicSet } from './public-sets.ts';

export interface SuiteCase {
  readonly caseId: string;
  readonly name: string;
  readonly input: string;
  readonly asserts: readonly EvalAssert[];
  readonly files: Readonly<Record<string, string>>;
  readonly approve: readonly string[];
  readonly before: readonly string[];
  readonly tools: readonly EvalTool[];
  readonly budget: NonNullable<EvalFile['tests'][number]['budget']>;
  readonly model: string | null;
  readonly judge: string | null;
}

const FILE_BYTES_MAX = 20_000_000;
const WORKSPACE_FILES_MAX = 500;
const WORKSPACE_BYTES_MAX = 5_000_000;
const NAME_CHARS_MAX = 80;

/** Returns the value that a code file exports. Rejects if the file cannot be run. */
export type RunCode = (file: string) => Promise<unknown>;

/** `leftOut` describes the parts of a public set that are not cases, with the reasons. */
export interface Suite {
  readonly cases: readonly SuiteCase[];
  readonly leftOut?: string;
}

/** Reads a file, a folder of files, or the folder of a public set. Fails with `not_found` or `invalid_params`. */
export async function readSuite(path: string, runCode: RunCode): Promise<Suite> {
  const set = readPublicSet(path);
  if (set !== null) return { cases: casesOf(set.file, path), ...(set.leftOut === '' ? {} : { leftOut: set.leftOut }) };
  const cases: SuiteCase[] = [];
  for (const file of filesAt(path)) cases.push(...casesOf(await parseFile(file, runCode), file));
  if (cases.length === 0)
    throw new AppError('not_found', `There is no eval file in ${path}.`, {
      hint: 'Files end in .yaml, .yml or .cases.ts. Of runs of AgentDojo, name the folder of one pipeline or suite.',
    });
  return { cases };
}

function filesAt(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path)
      .filter((name) => /\.(?:ya?ml|cases\.[cm]?[jt]s)$/.test(name))
      .sort()
      .map((name) => join(path, name));
  } catch {
    throw noPath('file or folder', path);
  }
}

/** `path` is named in errors and is the base of relative paths. */
export function casesOf(file: EvalFile, path: string): SuiteCase[] {
  return file.tests.flatMap((test, index) => {
    const both = { ...file.defaultTest, ...test };
    const asserts = [...(file.defaultTest?.assert ?? []), ...test.assert];
    for (const one of asserts) assertValue(path, index, one);
    const tools = both.tools ?? [];
    for (const { name, parameters } of tools) {
      const fault = schemaFault(parameters);
      if (fault !== null) throw wrong(path, `test ${index + 1}, the tool ${name}: ${fault}`);
    }
    const about = { files: filesOf(path, both.workspace), before: both.before ?? [], tools, budget: both.budget ?? {} };
    const vars = { ...file.defaultTest?.vars, ...test.vars };
    const inputs = both.input === undefined ? (file.prompts ?? []).map((prompt) => fill(prompt, vars)) : [fill(both.input, vars)];
    if (inputs.length === 0) throw wrong(path, `test ${index + 1} has no \`input\`, and the file has no \`prompts\``);
    return inputs.map((input): SuiteCase => {
      const caseId = hash('sha256', JSON.stringify([input, asserts, about]), 'hex').slice(0, 16);
      const name = (both.description ?? input).replace(/\s+/g, ' ').slice(0, NAME_CHARS_MAX);
      return {
        caseId,
        name,
        input,
        asserts,
        ...about,
        approve: both.approve ?? [],
        model: file.providers?.[0] ?? null,
        judge: file.judge ?? null,
      };
    });
  });
}

async function parseFile(path: string, runCode: RunCode): Promise<EvalFile> {
  let given: unknown;
  try {
    if (statSync(path).size > FILE_BYTES_MAX) throw wrong(path, `it is larger than ${FILE_BYTES_MAX} bytes`);
    const isCode = /\.[cm]?[jt]s$/.test(path);
    given = isCode ? await runCode(path) : parse(readFileSync(path, 'utf8'), { logLevel: 'silent' });
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw wrong(path, cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause));
  }
  const checked = evalFileSchema.safeParse(given);
  if (checked.success) return checked.data;
  throw wrong(path, describeIssues(checked.error.issues, { given, whole: 'the file' }).join('; '));
}

/** Rejects a value that an assertion cannot use, because it would fail every case, or none. */
function assertValue(path: string, index: number, given: EvalAssert): void {
  const problem = faultOf(given);
  if (problem !== null) throw wrong(path, `test ${index + 1}, ${given.type}: ${problem}`);
}

function faultOf({ type, value, threshold }: EvalAssert): string | null {
  if (type === 'cost' || type === 'latency') return typeof (threshold ?? value) === 'number' ? null : 'needs a number as `threshold`';
  const needed = valueForms[type] ?? oneText;
  if (!needed.fits(value)) return `\`value\` must be ${needed.words}`;
  return type === 'regex' || type === 'not-regex' ? patternFault(String(value)) : null;
}

interface ValueForm {
  readonly words: string;
  fits(value: unknown): boolean;
}

const oneText: ValueForm = { words: 'a text', fits: (value) => typeof value === 'string' };
const severalTexts: ValueForm = {
  words: 'a list of texts',
  fits: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
};
const oneCall: ValueForm = {
  words: 'the name of a tool, or name and args',
  fits: (value) => typeof value === 'string' || (isPlainObject(value) && typeof value['name'] === 'string'),
};

const oneFile: ValueForm = {
  words: 'a path, or path and contains or gone',
  fits: (value) => typeof value === 'string' || (isPlainObject(value) && typeof value['path'] === 'string'),
};

/** The forms of values; a string unless listed. */
const valueForms: Readonly<Partial<Record<EvalAssert['type'], ValueForm>>> = {
  'contains-any': severalTexts,
  'contains-all': severalTexts,
  'is-json': { words: 'a JSON schema', fits: (value) => value === undefined || isPlainObject(value) },
  equals: { words: 'given', fits: (value) => value !== undefined },
  tool: oneCall,
  'not-tool': oneCall,
  calls: {
    words: 'a number, or count and tools',
    fits: (value) => typeof value === 'number' || (isPlainObject(value) && typeof value['count'] === 'number'),
  },
  file: oneFile,
  'not-file': oneFile,
};

function patternFault(pattern: string): string | null {
  try {
    RegExp(pattern, 'u');
    return null;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

function fill(text: string, vars: Readonly<Record<string, unknown>>): string {
  return text.replaceAll(/\{\{\s*([\w.]+)\s*\}\}/g, (whole, name: string) => {
    const value = vars[name];
    return value === undefined ? whole : typeof value === 'string' ? value : JSON.stringify(value);
  });
}

function filesOf(path: string, workspace: string | Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> {
  if (workspace === undefined) return {};
  if (typeof workspace !== 'string') return workspace;
  const root = resolve(dirname(path), workspace);
  const files: Record<string, string> = {};
  let bytes = 0;
  try {
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const text = readFileSync(join(entry.parentPath, entry.name), 'utf8');
      bytes += text.length;
      files[relative(root, join(entry.parentPath, entry.name))] = text;
      if (bytes > WORKSPACE_BYTES_MAX || Object.keys(files).length > WORKSPACE_FILES_MAX)
        throw wrong(path, `the workspace ${root} is too large for a case`);
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw wrong(path, `the workspace ${root} cannot be read`);
  }
  return files;
}

function wrong(path: string, why: string): AppError {
  return new AppError('invalid_params', `${path} cannot be used: ${why}.`, { hint: 'docs/guide/evals.md shows what belongs into it.' });
}
