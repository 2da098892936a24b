// The lint rules that carry a decision of this project, each seen firing: a misspelt rule name is silent otherwise.

import { expect, test } from 'vitest';
import { createTree, projectRoot, runCheck } from './fixture-tree.ts';

const repeat = (text: string, count: number): string =>
  Array.from({ length: count }, (_, index) => text.replaceAll('#', String(index))).join('\n');

/** Rule to a file that breaks it. */
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

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

function fileOf(rule: string): string {
  const name = rule.replace(/.*\((.*)\)/, '$1');
  if (rule.startsWith('unicorn')) return 'FilenameCase.ts';
  return rule.startsWith('vitest') ? `${name}.test.ts` : `${name}.ts`;
}

test('every rule fires on the file made for it', () => {
  const root = createTree({
    'tsconfig.json':
      '{"compilerOptions":{"strict":true,"module":"nodenext","target":"es2023","allowImportingTsExtensions":true,"noEmit":true}}',
    'shape.ts': 'export interface Shape { readonly sides: number }',
    ...Object.fromEntries(Object.entries(offences).map(([rule, text]) => [fileOf(rule), `${text}\n`])),
  });
  const run = runCheck('node_modules/oxlint/bin/oxlint', '-c', `${projectRoot}.oxlintrc.json`, '--type-aware', '--format', 'json', root);
  const { diagnostics } = JSON.parse(run.lines.join('\n')) as { diagnostics: Diagnostic[] };
  const fired = Object.keys(offences).filter((rule) =>
    diagnostics.some(({ code, filename }) => code === rule && filename.endsWith(fileOf(rule))),
  );
  expect(run.code).toBe(1);
  expect(fired).toEqual(Object.keys(offences));
});
