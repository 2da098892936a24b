// Words of the command line that were replaced. They still work for one version; help and completion know the new ones only.

const formerFamilies: ReadonlyMap<string, string> = new Map([['helpers', 'subagents']]);
const formerOptions: ReadonlyMap<string, string> = new Map([['--helpers', '--subagents']]);
/** The options before a command that take a value. */
export const valued: ReadonlySet<string> = new Set(['--home', '--fields']);

/** The command line with the words that are in use now. */
export function withCurrentWords(argv: readonly string[]): string[] {
  const at = argv.findIndex((word, index) => !word.startsWith('-') && !valued.has(argv[index - 1] ?? ''));
  if (at < 0) return [...argv];
  const family = argv[at] ?? '';
  const options = family === 'sessions' ? formerOptions : new Map<string, string>();
  return argv.map((word, index) => (index === at ? formerFamilies.get(word) : index > at ? options.get(word) : undefined) ?? word);
}
