// Decides whether a typed line is a command or a message. Separate from the commands and free of schemas, so that the window can use it
// too.

/** A command is `/name` at the beginning. A path such as /etc/hosts is not a command, and two slashes mark the rest as a message. */
export function isCommandLine(line: string): boolean {
  return /^\/[A-Za-z]+(\s|$)/.test(line.trimStart());
}

/** Removes the extra slash from a message that was typed with two slashes so that it is not a command. */
export function messageOf(line: string): string {
  return line.startsWith('//') ? line.slice(1) : line;
}
