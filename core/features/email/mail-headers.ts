// The headers of a mail, and what they prove: who sent it by the verdict of the receiving server, and whether a program sent it. Pure. A
// header of the sender proves nothing; only the topmost verdict under the name of the own server does.

export interface Header {
  /** In lower case. */
  readonly name: string;
  readonly value: string;
}

const HEADERS_MAX = 500;

/** In the order of the mail, folded lines joined. */
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

/** Answering a program leads to loops, and a list is many people. RFC 3834. */
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
 * True if the receiving server vouches for the domain of `From`: DMARC passed for it, or a DKIM signature of the domain or of one above it.
 * RFC 8601: a server removes headers that claim its own name, so the first one with the name is its verdict.
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
  // At least two labels: a signature of `com` vouches for no one.
  return signer !== undefined && signer.includes('.') && (domain === signer || domain.endsWith(`.${signer}`));
}

function authservOf(value: string): string {
  return (/^\s*"?([^\s";]+)/.exec(value)?.[1] ?? '').toLowerCase();
}

/** A comment or a quoted string may hold anything, a whole verdict too; a quoted string that is one plain word is that word. */
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
