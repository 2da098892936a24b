// What a new session is called after: the beginning of its first message.

const TITLE_MAX = 60;

/** Of a text that holds no secrets any more: half a secret would be recognised by nobody. */
export function titleOf(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  return line.length > TITLE_MAX ? `${line.slice(0, TITLE_MAX - 1).trimEnd()}…` : line;
}
