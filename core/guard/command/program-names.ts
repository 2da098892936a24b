// The names of programs without folder and suffix, and the programs whose operand is code.

export function nameOf(program: string): string {
  return program.slice(Math.max(program.lastIndexOf('/'), program.lastIndexOf('\\')) + 1).replace(/\.exe$/i, '');
}

/** The programs whose operand is code, by their names on each system. Extra names are harmless: they only lead to approvals sooner. */
const interpreters = new RegExp(
  `^(?:${[
    'python[\\d.]*|pythonw|pyw?|pypy\\d*',
    'node|nodejs|deno|bun|tsx|ts-node',
    'bash|sh|dash|zsh|ksh|fish|cmd|powershell|pwsh|cscript|wscript|mshta',
    'ruby|perl|php|lua|rscript|osascript|java|javaw|dotnet|awk|gawk|sed|make|nmake|tclsh|expect|groovy|swift',
  ].join('|')})$`,
  'i',
);

export function isInterpreter(program: string): boolean {
  return interpreters.test(nameOf(program));
}

export function isPython(program: string): boolean {
  return /^(?:python[\d.]*|pythonw|pyw?|pypy\d*)$/i.test(nameOf(program));
}

/** Returns whether a command only shows its help or its version. */
export function asksForHelp(args: readonly string[]): boolean {
  return args.length === 1 && /^(?:--help|--version)$/.test(args[0] ?? '');
}

const shells = /^(?:ba|da|z|k|fi|a)?sh$/;

/** `name` has no folder. */
export function isShell(name: string): boolean {
  return shells.test(name);
}
