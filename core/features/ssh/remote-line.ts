// A command as one line that every login shell reads alike. The shells differ in what a backslash, an exclamation mark and a line break mean
// between quotation marks, so that a command quoted for one of them would be another command below the next.

/** Runs `command` in sh, after a line of errors with the mark, the number of the process and that of its parent. */
export function tellingLine(command: string, mark: string): string {
  return `sh -c 'echo "${mark} $$ $PPID" >&2; exec sh -c "$(printf %b "${coded(command)}")"'`;
}

/** Ends the group of a command; code 0 where it did. dash takes `--` only after `-s`. */
export function endingLine(number: string, parent: string): string {
  return `sh -c 'kill -s KILL -- -${number} || { kill -0 ${number} && kill -s KILL -- -${parent}; }'`;
}

/** For printf: what a shell could take for its own is named by its number. */
function coded(text: string): string {
  return text.replaceAll(/[\\'"$`!\n\r]/g, (one) => `\\0${one.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
