// Recognizes sed command lines that only print: lines by number or pattern, or the input with replacements. Rejects scripts that write, read
// another file or run a command, and text that versions of sed read differently.

/**
 * A pattern of sed and the mark that ends it. Brackets must be closed before that mark, because some versions of sed ignore it in brackets:
 * in `/[/s|]/w x|y|p` they find the command `w`.
 */
const sedPattern = (mark: string): string =>
  String.raw`(?:[^${mark}\\\n[]|\\[^\n]|\[\^?\]?(?:[^\]\\${mark}\n[]|\\[^\]\\${mark}\n[]|\[:[a-z]+:\])*\])*[${mark}]`;
const sedText = (mark: string): string => String.raw`(?:[^${mark}\\\n]|\\[^\n])*[${mark}]`;
const sedAddress = String.raw`(?:\d+(?:~\d+)?|\$|/${sedPattern('/')})`;
const sedReplacement = ['/', '|', '#', ',', '@'].map((mark) => `[${mark}]${sedPattern(mark)}${sedText(mark)}`).join('|');
/** Flags of `s` other than these write or run something. */
const sedOne = String.raw`(?:${sedAddress}(?:,${sedAddress})? ?!?)?(?:[pdq=]|y/${sedText('/')}${sedText('/')}|s(?:${sedReplacement})(?:g|p|i|I|\d){0,4})`;
/** sed commands that only print: lines by number or pattern, or the input with replacements. */
const sedCommands = new RegExp(String.raw`^${sedOne}(?:; ?${sedOne})*;?$`);

/** Returns the files that `sed` reads with these arguments, or null if it may do more than print. */
export function sedFiles(words: readonly string[]): readonly string[] | null {
  const scripts: string[] = [];
  const pending = [...words].reverse();
  for (let flag = pending.at(-1); flag !== undefined && /^-(?:n|E|r|nE|nr|En|rn|e|ne)$/.test(flag); flag = pending.at(-1)) {
    pending.pop();
    if (flag.endsWith('e')) scripts.push(pending.pop() ?? '');
  }
  if (scripts.length === 0) scripts.push(pending.pop() ?? '');
  const names = pending.reverse();
  return scripts.every((script) => sedCommands.test(script)) && !names.some((file) => file.startsWith('-')) ? names : null;
}
