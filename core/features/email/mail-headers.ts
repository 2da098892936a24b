// Parses the headers of a mail and what they prove: the sender, by the verdict of the receiving server, and whether a program sent the
// mail. Pure. The sender can forge every header; only the topmost verdict under the receiving server's name counts.

export interface Header {
  /** In lower case. */
  readonly name: string;
  readonly value: string;
}

const HEADERS_MAX = 500;

/** Returns the headers in the order of the mail, with folded lines joined. */
export function readHeaders(raw: string): Header[] {
  const lines = raw.split(/\r?\n/);
  const headers: Header[] = [];
  let open = '';
  const close = (): void => {
    const colon = open.indexOf(':');
    if (colon > 0 && headers.length < HEADERS_MAX) {
      headers.push({ name: open.slice(0, colon).trim().toLowerCase(), value: open.slice(colon + 1).trim() });
    }
  };
  for (const line of lines) {
    if (/^[ \t]/.test(line)) open += ` ${line.trim()}`;
    else {
      close();
      open = line;
    }
  }
  close();
  return headers;
}

export function valuesOf(headers: readonly Header[], name: string): string[] {
  return headers.filter((header) => header.name === name).map(({ value }) => value);
}

/** The ids in `References`, `In-Reply-To` or `Message-ID`, with their angle brackets. */
export function messageIds(values: readonly string[]): string[] {
  return values.flatMap((value) => value.match(/<[^<>\s]{1,990}>/g) ?? []);
}

const robots = /^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?)(?:[+.-][^@]*)?@/i;

/**
 * True for mail of programs and mailing lists, which is never answered: answering a program leads to loops (RFC 3834), and a list reaches
 * many people.
 */
export function isAutomatic(headers: readonly Header[], from: string): boolean {
  const has = (name: string): boolean => headers.some((header) => header.name === name);
  const says = (name: string, pattern: RegExp): boolean => valuesOf(headers, name).some((value) => pattern.test(value));
  return (
    valuesOf(headers, 'auto-submitted').some((value) => !/^\s*no\b/i.test(value)) ||
    headers.some(({ name }) => name.startsWith('list-')) ||
    says('precedence', /^\s*(?:bulk|list|junk|auto_reply)\b/i) ||
    says('return-path', /^\s*<\s*>/) ||
    says('content-type', /^\s*multipart\/report\b/i) ||
    has('x-autoreply') ||
    has('x-autorespond') ||
    has('x-failed-recipients') ||
    robots.test(from)
  );
}

/**
 * True if the receiving server vouches for the domain of `From`: DMARC passed, or a DKIM signature of the domain or a parent domain. By RFC
 * 8601 a server removes headers that claim its name, so the first one with its name is its verdict.
 */
export function isProven(headers: readonly Header[], from: string, authserv: string): boolean {
  const domain = from.slice(from.lastIndexOf('@') + 1).toLowerCase();
  const verdict = valuesOf(headers, 'authentication-results')
    .map(withoutFreeText)
    .find((value) => authservOf(value) === authserv.toLowerCase());
  if (verdict === undefined) return false;
  return verdict
    .split(';')
    .slice(1)
    .some((part) => vouchesFor(part.trim().toLowerCase(), domain));
}

function vouchesFor(result: string, domain: string): boolean {
  const property = (name: string): string | undefined => new RegExp(`\\b${name}=@?"?([^\\s";]+)`).exec(result)?.[1];
  if (/^dmarc\s*=\s*pass\b/.test(result)) return property('header\\.from') === domain;
  if (!/^dkim\s*=\s*pass\b/.test(result)) return false;
  const signer = property('header\\.d') ?? property('header\\.i')?.replace(/^.*@/, '');
  // At least two labels, since a signature of `com` vouches for no one.
  return signer !== undefined && signer.includes('.') && (domain === signer || domain.endsWith(`.${signer}`));
}

function authservOf(value: string): string {
  return (/^\s*"?([^\s";]+)/.exec(value)?.[1] ?? '').toLowerCase();
}

/**
 * Removes comments and quoted strings, which may contain anything, even a whole verdict. A quoted string that is one plain word is kept
 * without its quotes.
 */
function withoutFreeText(value: string): string {
  let depth = 0;
  let quoted: string | null = null;
  let kept = '';
  for (let at = 0; at < value.length; at += 1) {
    const character = value.charAt(at);
    const isEscape = character === '\\' && (depth > 0 || quoted !== null);
    if (isEscape) at += 1;
    if (quoted !== null) {
      if (character === '"') {
        kept += /^[\w.@-]*$/.test(quoted) ? quoted : '';
        quoted = null;
      } else quoted += character;
    } else if (isEscape) continue;
    else if (character === '"' && depth === 0) quoted = '';
    else if (character === '(') depth += 1;
    else if (character === ')' && depth > 0) depth -= 1;
    else if (depth === 0) kept += character;
  }
  return kept;
}
