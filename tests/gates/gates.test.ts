// Checks the list of gates against the sources: each text to remove occurs once, and without it the file is still valid TypeScript.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { gates } from './gates.ts';
import { readReport } from './suite-run.ts';
import { titlesIn } from './test-titles.ts';
import { withoutGate } from './tree-copy.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = new Map<string, string>();

function sourceOf(file: string): string {
  const source = sources.get(file) ?? readFileSync(join(root, file), 'utf8');
  sources.set(file, source);
  return source;
}

test('every gate has a unique name and removes something different', () => {
  expect(gates.length).toBeGreaterThanOrEqual(30);
  const repeated = (keys: readonly string[]): string[] => keys.filter((key, at) => keys.indexOf(key) !== at);
  expect(repeated(gates.map(({ name }) => name))).toEqual([]);
  expect(repeated(gates.map(({ file, text, instead }) => [file, text, instead].join('\n')))).toEqual([]);
  expect(gates.filter(({ name }) => !/^[a-z]+\/[a-z][a-z0-9-]+$/.test(name)).map(({ name }) => name)).toEqual([]);
});

test('every gate names existing suites', () => {
  const missing = gates.flatMap(({ name, suites }) => (suites.length > 0 ? suites : ['no suite at all']).map((suite) => ({ name, suite })));
  expect(missing.filter(({ suite }) => !suite.endsWith('.test.ts') || !existsSync(join(root, suite)))).toEqual([]);
});

test("every alternative of a gate's filter matches a test in its suites", () => {
  const missing = gates.flatMap(({ name, suites, only }) => {
    if (only === undefined) return [];
    const titles = suites.flatMap((suite) => titlesIn(sourceOf(suite)));
    return only.split('|').flatMap((part) => (titles.some((title) => new RegExp(part).test(title)) ? [] : [`${name}: ${part}`]));
  });
  expect(missing).toEqual([]);
});

test('titles are those of tests and groups, in every form', () => {
  const source = `
    import { test, describe } from 'vitest';
    // test('in a comment', () => {});
    test('plain', () => { expect('no title'); check.test('of something else'); });
    test("it's skipped", needs('Linux'), () => {});
    test.each(['a value'])(
      'each %s',
      (value) => {},
    );
    describe('a group', () => { test(\`inside\`, () => {}); });
    for (const name of names) test(name, () => {});`;
  expect(titlesIn(source)).toEqual(['plain', "it's skipped", 'each %s', 'a group', 'inside']);
});

test('a run without tests has no result, and one with a failed test has one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-report-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const read = (only: string | undefined, ...statuses: readonly string[]) => {
    const assertionResults = statuses.map((status, at) => ({ title: `t${at}`, fullName: `t${at}`, status, failureMessages: ['Error: x'] }));
    writeFileSync(join(folder, 'report.json'), JSON.stringify({ testResults: [{ name: 'a.test.ts', assertionResults }] }));
    return readReport(join(folder, 'report.json'), only);
  };
  const none = { passed: 0, failed: [], broken: [] };
  const filtered = 'no test ran: none is called hard link, or those that are were skipped';
  expect(read('hard link', 'skipped', 'pending')).toEqual({ ...none, problem: filtered });
  expect(read(undefined, 'skipped')).toEqual({ ...none, problem: 'no test ran' });
  expect(read('t1', 'skipped', 'failed')).toEqual({ ...none, failed: ['t1'], problem: null });
  expect(read('t0', 'passed', 'skipped')).toEqual({ ...none, passed: 1, problem: null });
});

test('every gate occurs once in its file, which is valid TypeScript without it', () => {
  const problems = gates.flatMap((gate) => {
    try {
      const changed = withoutGate(gate, sourceOf(gate.file));
      // Throws for source text that cannot be parsed.
      stripTypeScriptTypes(changed);
      return changed === sourceOf(gate.file) ? [`${gate.name}: nothing is taken out`] : [];
    } catch (cause) {
      return [`${gate.name}: ${String(cause)}`];
    }
  });
  expect(problems).toEqual([]);
  expect(() => stripTypeScriptTypes('if (')).toThrow(SyntaxError);
});

test('a text that occurs twice, or not at all, is rejected', () => {
  const gate = { name: 'a/b', prevents: '', file: 'a.ts', text: 'x', instead: 'y', suites: [] };
  expect(() => withoutGate(gate, 'x + x')).toThrow('occurs 2 times');
  expect(() => withoutGate(gate, 'z')).toThrow('occurs 0 times');
  expect(withoutGate({ ...gate, instead: '$&' }, 'a x b')).toBe('a $& b');
});
