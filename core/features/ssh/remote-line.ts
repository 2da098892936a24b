// Encodes a command as one line that every login shell reads alike. Shells differ in the meaning of backslashes, exclamation marks and line
// breaks inside quotes, so a command quoted for one shell could be a different command in another.

/** Runs `command` in sh. First prints a line to stderr with the mark, the process number and the parent's process number. */
export function markedLine(command: string, mark: string): string {
  return `sh -c 'echo "${mark} $$ $PPID" >&2; exec sh -c "$(printf %b "${coded(command)}")"'`;
}

/** Ends the process group of a command; exits with code 0 if it did. dash accepts `--` only after `-s`. */
export function killGroupLine(number: string, parent: string): string {
  return `sh -c 'kill -s KILL -- -${number} || { kill -0 ${number} && kill -s KILL -- -${parent}; }'`;
}

/** Encodes for printf: characters that a shell could interpret become octal escapes. */
function coded(text: string): string {
  return text.replaceAll(/[\\'"$`!\n\r]/g, (one) => `\\0${one.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
