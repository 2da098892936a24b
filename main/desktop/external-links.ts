// Opens links outside the window: web pages and mail addresses only, and only after a person's click; the system chooses the program. The
// preload script verifies the click; this file limits how much a compromised page could open.

import type { Shell } from 'electron';
import type { Clock } from '../../core/base/clock.ts';
import type { Logger } from '../../core/base/logger.ts';

/** A model may write any link; these schemes open a web page or a mail draft, never a program of the link's choice. */
const schemes: ReadonlySet<string> = new Set(['https:', 'http:', 'mailto:']);

/** The allowed fields of a mail link; others could attach local files. */
const mailFields: ReadonlySet<string> = new Set(['to', 'cc', 'bcc', 'subject', 'body']);
/** Windows does not accept longer addresses. */
const LENGTH_MAX = 2_000;

/** The address as it is passed to the system; null if it may not be opened. */
export function openableLink(url: string): string | null {
  // Parsers and shell command lines interpret whitespace and control characters differently.
  if (url.length > LENGTH_MAX || /[\s\p{C}]/u.test(url)) return null;
  const parsed = URL.parse(url);
  if (parsed === null || !schemes.has(parsed.protocol)) return null;
  if (parsed.protocol === 'mailto:') {
    return [...parsed.searchParams.keys()].every((key) => mailFields.has(key.toLowerCase())) ? parsed.href : null;
  }
  if (parsed.hostname === '' || parsed.username !== '' || parsed.password !== '') return null;
  return parsed.href;
}

export interface OutsideLinksOptions {
  readonly shell: Pick<Shell, 'openExternal'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
}

/** Makes a double click open only one page. */
const PAUSE_MS = 500;

export class OutsideLinks {
  readonly #options: OutsideLinksOptions;
  #lastMs = -Infinity;

  constructor(options: OutsideLinksOptions) {
    this.#options = options;
  }

  /** Returns true if the address was passed to the system. A model may have written it. */
  open(url: string): boolean {
    const { shell, clock, logger } = this.#options;
    const link = openableLink(url);
    if (link === null) {
      logger.log('warn', 'a link was not opened', { url: url.slice(0, 200) });
      return false;
    }
    const nowMs = clock.monotonicMs();
    // The second click of a double click: the page is already open.
    if (nowMs - this.#lastMs < PAUSE_MS) return true;
    this.#lastMs = nowMs;
    shell.openExternal(link).catch((cause: unknown) => {
      logger.log('warn', 'the system opened nothing for a link', { cause: String(cause) });
    });
    return true;
  }
}
