// The titles a test file gives its tests, read from its text: the file itself is not run.

import * as ts from 'typescript';

const runners: ReadonlySet<string> = new Set(['test', 'describe']);

/** In the order of the file. Titles that are worked out only when it runs are left out; those of a table still have their `%s`. */
export function titlesIn(source: string): string[] {
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [first] = node.arguments;
      if (first !== undefined && ts.isStringLiteralLike(first) && runners.has(rootOf(node.expression))) titles.push(first.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('suite.ts', source, ts.ScriptTarget.Latest));
  return titles;
}

/** `test` of `test.each(values)`; nothing where it is a part of something else. */
function rootOf(called: ts.Expression): string {
  if (ts.isIdentifier(called)) return called.text;
  return ts.isPropertyAccessExpression(called) || ts.isCallExpression(called) ? rootOf(called.expression) : '';
}
