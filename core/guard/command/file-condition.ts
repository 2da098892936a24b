// Tells whether a shell's test of a file or a text holds now. Knows only tests that every shell reads in the same way. Starts nothing.

import { lstatSync, statSync, type Stats } from 'node:fs';
import { resolve } from 'node:path';
import type { TestExpression, Word } from 'unbash';
import { lexLiteral } from './literal-lexer.ts';

const fileTests: Readonly<Record<string, (stat: Stats) => boolean>> = {
  '-e': () => true,
  '-f': (stat) => stat.isFile(),
  '-d': (stat) => stat.isDirectory(),
  '-s': (stat) => stat.size > 0,
};

/** Returns null if `command`, one of literal words, is not a known test. */
export function conditionOf(command: string, cwd: string): boolean | null {
  const lexed = lexLiteral(command);
  const [name, ...words] = lexed.ok ? lexed.value.map(({ text }) => text) : [];
  if (name !== 'test' && (name !== '[' || words.pop() !== ']')) return null;
  const isNegated = words[0] === '!' && words.length > 1;
  const holds = simpleCondition(isNegated ? words.slice(1) : words, cwd);
  return holds === null ? null : holds !== isNegated;
}

function simpleCondition([first = '', second = '', third, ...more]: readonly string[], cwd: string): boolean | null {
  if (more.length > 0) return null;
  if (third === undefined) return unaryCondition(first, second, cwd);
  if (second === '=' || second === '==') return first === third;
  return second === '!=' ? first !== third : null;
}

function unaryCondition(test: string, operand: string, cwd: string): boolean | null {
  if (test === '-n') return operand !== '';
  if (test === '-z') return operand === '';
  if (operand === '') return null;
  const path = resolve(cwd, operand);
  if (test === '-L' || test === '-h') return statOf(() => lstatSync(path))?.isSymbolicLink() === true;
  const holds = Object.hasOwn(fileTests, test) ? fileTests[test] : undefined;
  if (holds === undefined) return null;
  const stat = statOf(() => statSync(path));
  return stat !== null && holds(stat);
}

/** Null for a file that cannot be inspected: no test holds for it. */
export function statOf(read: () => Stats): Stats | null {
  try {
    return read();
  } catch {
    // Missing, or in a folder that may not be entered.
    return null;
  }
}

/** Returns the words of `[` that mean the same as `[[ … ]]`, or null for a test that `[` reads in another way. */
export function wordsOfTest(expression: TestExpression): readonly (string | Word)[] | null {
  if (expression.type === 'TestNot') {
    const words = expression.negations.length === 1 ? wordsOfTest(expression.operand) : null;
    return words === null || words[0] === '!' ? null : ['!', ...words];
  }
  if (expression.type === 'TestUnary') return /^-[efdsLhnz]$/.test(expression.operator) ? [expression.operator, expression.operand] : null;
  if (expression.type !== 'TestBinary' || !/^(?:==?|!=)$/.test(expression.operator)) return null;
  const { left, operator, right } = expression;
  // An unquoted text on the right is a pattern.
  return isPattern(right) ? null : [left, operator === '==' ? '=' : operator, right];
}

function isPattern({ parts, value }: Word): boolean {
  return parts === undefined ? /[*?[\\(]/.test(value) : parts.some(({ type }) => type !== 'SingleQuoted' && type !== 'DoubleQuoted');
}
