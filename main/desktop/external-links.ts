// Links out of the window. Only web pages and mail, only when a person clicked, and the system decides what opens them.

/** A link of a model may say anything; these schemes lead to a page or a letter and to no program of its choosing. */
const schemes: ReadonlySet<string> = new Set(['https:', 'http:', 'mailto:']);

/** What a mail program may be told; others attach files of this machine. */
const mailFields: ReadonlySet<string> = new Set(['to', 'cc', 'bcc', 'subject', 'body']);
/** Windows takes no longer ones. */
const LENGTH_MAX = 2_000;

/** The address as the system will get it, or null when it may not be opened. */
export function openableLink(url: string): string | null {
  // Whitespace and control characters mean one thing to a parser and another to a shell's command line.
  if (url.length > LENGTH_MAX || /[\s\p{C}]/u.test(url)) return null;
  const parsed = URL.parse(url);
  if (parsed === null || !schemes.has(parsed.protocol)) return null;
  if (parsed.protocol === 'mailto:') {
    return [...parsed.searchParams.keys()].every((key) => mailFields.has(key.toLowerCase())) ? parsed.href : null;
  }
  if (parsed.hostname === '' || parsed.username !== '' || parsed.password !== '') return null;
  return parsed.href;
}
