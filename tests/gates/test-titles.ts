// Reads the titles of a file's tests from its text, without running it.

import * as ts from 'typescript';

const runners: ReadonlySet<string> = new Set(['test', 'describe']);

/** In the order of the file. Leaves out titles that are computed at run time; titles of tables still contain their `%s`. */
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

/** `test` for `test.each(values)`; empty if the expression is a member of something else. */
function rootOf(called: ts.Expression): string {
  if (ts.isIdentifier(called)) return called.text;
  return ts.isPropertyAccessExpression(called) || ts.isCallExpression(called) ? rootOf(called.expression) : '';
}
