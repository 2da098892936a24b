// Encodes a command as one line that every login shell reads alike. Shells differ in the meaning of backslashes, exclamation marks and line
// breaks inside quotes, so a command quoted for one shell could be a different command in another.

/**
 * Runs `command` in sh. First prints a line to stderr with the mark, the process number and the process group; the parent, which mostly
 * leads the group, where the machine has no /proc.
 */
export function markedLine(command: string, mark: string): string {
  const group = '{ read -r _ _ _ _ g _ </proc/$$/stat; } 2>/dev/null';
  return `sh -c '${group}; echo "${mark} $$ \${g:-$PPID}" >&2; exec sh -c "$(printf %b "${coded(command)}")"'`;
}

/**
 * Ends the process group of a command; exits with code 0 if it did, or if root finds no such process: others may only lack the right to see
 * it. dash accepts `--` only after `-s`.
 */
export function killGroupLine(number: string, group: string): string {
  const otherwise = `if kill -0 ${number}; then kill -s KILL -- -${group}; else test "$(id -u)" = 0; fi`;
  return `sh -c 'kill -s KILL -- -${number} || ${otherwise}'`;
}

/** Encodes for printf: characters that a shell could interpret become octal escapes. */
function coded(text: string): string {
  return text.replaceAll(/[\\'"$`!\n\r]/g, (one) => `\\0${one.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
