// What a typed line is: a command or a message. Apart from the commands, and with no schema, so that the window can tell it as well.

/** `/name` at the beginning. A path such as /etc/hosts is none, and two slashes say that what follows is a message. */
export function isCommandLine(line: string): boolean {
  return /^\/[A-Za-z]+(\s|$)/.test(line.trimStart());
}

/** The words of a message that was written with two slashes in front, so as not to be a command. */
export function messageOf(line: string): string {
  return line.startsWith('//') ? line.slice(1) : line;
}
