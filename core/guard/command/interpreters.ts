// The programs whose operand is code, by the names they have on each system. Too many are no harm: a permission only asks again sooner.

import { nameOf } from './wrappers.ts';

const names = new RegExp(
  `^(?:${[
    'python[\\d.]*|pythonw|pyw?|pypy\\d*',
    'node|nodejs|deno|bun|tsx|ts-node',
    'bash|sh|dash|zsh|ksh|fish|cmd|powershell|pwsh|cscript|wscript|mshta',
    'ruby|perl|php|lua|rscript|osascript|java|javaw|dotnet|awk|gawk|sed|make|nmake|tclsh|expect|groovy|swift',
  ].join('|')})$`,
  'i',
);

export function isInterpreter(program: string): boolean {
  return names.test(nameOf(program));
}
