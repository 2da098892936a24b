// The list of gates holds to the sources: what is to be taken out is there, once, and without it the file is still TypeScript.

import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { gates } from './gates.ts';
import { withoutGate } from './tree-copy.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = new Map<string, string>();

function sourceOf(file: string): string {
  const source = sources.get(file) ?? readFileSync(join(root, file), 'utf8');
  sources.set(file, source);
  return source;
}

test('every gate has a name of its own and takes out something else', () => {
  expect(gates.length).toBeGreaterThanOrEqual(30);
  const repeated = (keys: readonly string[]): string[] => keys.filter((key, at) => keys.indexOf(key) !== at);
  expect(repeated(gates.map(({ name }) => name))).toEqual([]);
  expect(repeated(gates.map(({ file, text, instead }) => [file, text, instead].join('\n')))).toEqual([]);
  expect(gates.filter(({ name }) => !/^[a-z]+\/[a-z][a-z0-9-]+$/.test(name)).map(({ name }) => name)).toEqual([]);
});

test('every gate names suites that are there', () => {
  const missing = gates.flatMap(({ name, suites }) => (suites.length > 0 ? suites : ['no suite at all']).map((suite) => ({ name, suite })));
  expect(missing.filter(({ suite }) => !suite.endsWith('.test.ts') || !existsSync(join(root, suite)))).toEqual([]);
});

test('every gate stands once in its file, and without it that is still TypeScript', () => {
  const problems = gates.flatMap((gate) => {
    try {
      const changed = withoutGate(gate, sourceOf(gate.file));
      // Refuses what cannot be parsed.
      stripTypeScriptTypes(changed);
      return changed === sourceOf(gate.file) ? [`${gate.name}: nothing is taken out`] : [];
    } catch (cause) {
      return [`${gate.name}: ${String(cause)}`];
    }
  });
  expect(problems).toEqual([]);
  expect(() => stripTypeScriptTypes('if (')).toThrow(SyntaxError);
});

test('a text that is there twice, or not at all, is refused', () => {
  const gate = { name: 'a/b', prevents: '', file: 'a.ts', text: 'x', instead: 'y', suites: [] };
  expect(() => withoutGate(gate, 'x + x')).toThrow('occurs 2 times');
  expect(() => withoutGate(gate, 'z')).toThrow('occurs 0 times');
  expect(withoutGate({ ...gate, instead: '$&' }, 'a x b')).toBe('a $& b');
});
