// The lint rules that encode a decision of this project, each shown to fire, because a misspelt rule name is otherwise silent. The same
// program reports the compiler's errors, one for each setting of tsconfig.json that is stricter than `strict`.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createTree, projectRoot, runCheck } from './fixture-tree.ts';

const repeat = (text: string, count: number): string =>
  Array.from({ length: count }, (_, index) => text.replaceAll('#', String(index))).join('\n');

/** Maps each rule to a file that violates it. */
const offences: Readonly<Record<string, string>> = {
  'typescript(no-explicit-any)': 'export const value: any = 1;',
  'typescript(no-floating-promises)': 'export function start(): void { Promise.resolve(1); }',
  'typescript(no-misused-promises)':
    'export const twice = (list: number[]): void => list.forEach(async (item) => { await Promise.resolve(item); });',
  'typescript(switch-exhaustiveness-check)': "export function name(kind: 'a' | 'b'): void { switch (kind) { case 'a': break; } }",
  'typescript(consistent-type-imports)': "import { Shape } from './shape.ts';\nexport const draw = (shape: Shape): Shape => shape;",
  'typescript(no-non-null-assertion)': 'export const first = (list: number[]): number => list[0]!;',
  'typescript(only-throw-error)': "export function stop(): never { throw 'text'; }",
  'typescript(await-thenable)': 'export async function wait(): Promise<number> { return await 1; }',
  'import(no-default-export)': 'export default 1;',
  'eslint(no-console)': "export function tell(): void { console.log('x'); }",
  'eslint(eqeqeq)': 'export const same = (a: unknown, b: unknown): boolean => a == b;',
  'eslint(no-empty)': 'export function calm(act: () => void): void { try { act(); } catch {} }',
  'eslint(max-params)': 'export const sum = (a: number, b: number, c: number, d: number, e: number): number => a + b + c + d + e;',
  'eslint(max-depth)': `export function deep(a: boolean): void { ${'if (a) { '.repeat(5)} deep(false); ${'} '.repeat(5)} }`,
  'eslint(max-lines-per-function)': `export function long(act: () => void): void {\n${repeat('act();', 71)}\n}`,
  'eslint(max-lines)': repeat('export const value# = #;', 401),
  'eslint(complexity)': `export function maze(n: number): number {\n${repeat('if (n === #) return #;', 16)}\nreturn n;\n}`,
  'unicorn(filename-case)': 'export {};',
  'vitest(no-focused-tests)': "import { test } from 'vitest';\ntest.only('x', () => undefined);",
};

/** Maps each compiler error to a file that has it under this project's settings. */
const mistakes: Readonly<Record<string, string>> = {
  TS2322: "export const count: number = 'none';",
  TS2305: "import { missing } from './shape.ts';\nexport const copy: unknown = missing;",
  // The error of noUncheckedIndexedAccess has the code of any type mismatch.
  'TS2322 of an index': 'export const head = (list: readonly string[]): string => list[0];',
  TS2379: 'export const go = (v: { a?: string }): void => void v;\ngo({ a: undefined });',
  TS4114: 'class Base { go(): number { return 1; } }\nexport class Sub extends Base { go(): number { return 2; } }',
  TS2366: 'export function sign(v: number): number { if (v > 1) return 1; }',
  TS7029: 'export function fall(v: number): number { switch (v) { case 1: v += 1; case 2: return v; default: return 0; } }',
  TS4111: 'export const name = (v: Readonly<Record<string, string>>): string | undefined => v.name;',
  TS6133: 'const unused = 1;\nexport function drop(parameter: number): void {}',
  TS18046: 'export function tell(act: () => void): unknown { try { return act(); } catch (cause) { return cause.message; } }',
  TS2882: "import './nowhere.ts';",
  TS1484: "import { Shape } from './shape.ts';\nexport const square: Shape = { sides: 4 };",
  TS1294: 'export enum Colour { Red }',
  TS2578: '// @ts-expect-error nothing is wrong\nexport const fine = 1;',
};

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

function fileOf(rule: string): string {
  const name = rule.replace(/.*\((.*)\)/, '$1');
  if (rule.startsWith('unicorn')) return 'FilenameCase.ts';
  return rule.startsWith('vitest') ? `${name}.test.ts` : `${name}.ts`;
}

test('every rule fires on its file', () => {
  const root = createTree({
    'tsconfig.json':
      '{"compilerOptions":{"strict":true,"module":"nodenext","target":"es2023","allowImportingTsExtensions":true,"noEmit":true}}',
    'shape.ts': 'export interface Shape { readonly sides: number }',
    ...Object.fromEntries(Object.entries(offences).map(([rule, text]) => [fileOf(rule), `${text}\n`])),
  });
  const run = runCheck('node_modules/oxlint/bin/oxlint', '-c', `${projectRoot}.oxlintrc.json`, '--format', 'json', root);
  const { diagnostics } = JSON.parse(run.lines.join('\n')) as { diagnostics: Diagnostic[] };
  const fired = Object.keys(offences).filter((rule) =>
    diagnostics.some(({ code, filename }) => code === rule && filename.endsWith(fileOf(rule))),
  );
  expect(run.code).toBe(1);
  expect(fired).toEqual(Object.keys(offences));
});

test('every compiler error is reported for its file', () => {
  const settings = JSON.parse(readFileSync(`${projectRoot}tsconfig.json`, 'utf8')) as { compilerOptions: object };
  const fileOfMistake = (mistake: string): string => `${mistake.toLowerCase().replaceAll(' ', '-')}.ts`;
  const root = createTree({
    'package.json': '{"type":"module"}',
    'tsconfig.json': JSON.stringify({ compilerOptions: { ...settings.compilerOptions, types: [] } }),
    'shape.ts': 'export interface Shape { readonly sides: number }',
    ...Object.fromEntries(Object.entries(mistakes).map(([mistake, text]) => [fileOfMistake(mistake), `${text}\n`])),
  });
  const run = runCheck('node_modules/oxlint/bin/oxlint', '-c', `${projectRoot}.oxlintrc.json`, '--format', 'json', root);
  const { diagnostics } = JSON.parse(run.lines.join('\n')) as { diagnostics: Diagnostic[] };
  const told = Object.keys(mistakes).filter((mistake) =>
    diagnostics.some(
      ({ code, filename }) => code === `typescript(${mistake.split(' ', 1)[0] ?? ''})` && filename.endsWith(fileOfMistake(mistake)),
    ),
  );
  expect(told).toEqual(Object.keys(mistakes));
});
