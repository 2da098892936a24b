// Opens links outside the window. Only web pages and mail, only after a person's click; the system chooses the program. The preload script
// verifies the click; this file limits how much a compromised page could open.

import type { Shell } from 'electron';
import type { Clock } from '../../core/base/clock.ts';
import type { Logger } from '../../core/base/logger.ts';

/** A link of a model may say anything; these schemes lead to a page or a letter and to no program of its choosing. */
const schemes: ReadonlySet<string> = new Set(['https:', 'http:', 'mailto:']);

/** The allowed fields of a mail link; others attach files of this machine. */
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

export interface OutsideLinksOptions {
  readonly shell: Pick<Shell, 'openExternal'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
}

/** A double click opens one page. */
const PAUSE_MS = 500;

export class OutsideLinks {
  readonly #options: OutsideLinksOptions;
  #lastMs = -Infinity;

  constructor(options: OutsideLinksOptions) {
    this.#options = options;
  }

  /** True when the address was passed to the system. A model may have written it. */
  open(url: string): boolean {
    const { shell, clock, logger } = this.#options;
    const link = openableLink(url);
    if (link === null) {
      logger.log('warn', 'a link was not opened', { url: url.slice(0, 200) });
      return false;
    }
    const nowMs = clock.monotonicMs();
    // The same click twice: it was opened.
    if (nowMs - this.#lastMs < PAUSE_MS) return true;
    this.#lastMs = nowMs;
    shell.openExternal(link).catch((cause: unknown) => {
      logger.log('warn', 'the system opened nothing for a link', { cause: String(cause) });
    });
    return true;
  }
}
