// Safety checks: keep secrets out of text, and requests away from places that are not public. Own the redactor and the URL rules. They do
// not fetch, resolve names only through the given port, and keep no text.

import type { Redacted } from '../../base/redacted.ts';
import type { Logger } from '../../base/logger.ts';
import type { Config } from '../../contracts/config.ts';
import type { ArtifactSink } from '../../contracts/tools.ts';
import { redactDeep, redactJson } from './redact-json.ts';
import { Redactor, type Redaction } from './redactor.ts';
import { createSafeArtifacts, createSafeLogger } from './safe-sinks.ts';
import { StreamRedactor } from './stream-redactor.ts';
import type { NameResolver, ResolvedDecision, UrlDecision } from '../../contracts/url-decision.ts';
import { UrlCheck } from './url-check.ts';

export { refuseAddress } from './address.ts';
export { OneOriginCheck } from './one-origin.ts';
export { domainSets } from './domain-list.ts';
export { escapeRegExp } from './pattern-rule.ts';
export { Redactor, type Redaction } from './redactor.ts';
export type { StreamRedactor } from './stream-redactor.ts';

export interface SafetyOptions {
  readonly policy: Pick<Config['policy'], 'allowDomains' | 'denyDomains'>;
  /** Kinds of personal data to redact like secrets. Defaults to cards and bank accounts. */
  readonly personalData?: Config['safety']['personalData'];
  /** Ports open to every host. Defaults to 80 and 443. */
  readonly ports?: readonly number[];
  /** Whether a proxy may find the addresses of public names. Defaults to no. */
  readonly usesProxy?: boolean;
}

/** At the end of a text, at least this many characters of a value count as an unfinished value. */
const UNFINISHED_MIN = 4;

export class SafetyChecks {
  readonly #personal: NonNullable<SafetyOptions['personalData']>;
  readonly #urls: UrlCheck;
  readonly #usesProxy: boolean;
  #made: Redactor | null = null;

  /** Fails with `invalid_config`, naming a list entry that is not a domain. */
  constructor({ policy, personalData, ports, usesProxy = false }: SafetyOptions) {
    this.#usesProxy = usesProxy;
    this.#personal = personalData ?? ['card', 'iban'];
    this.#urls = new UrlCheck({ ...policy, ...(ports === undefined ? {} : { ports }) });
  }

  /** Created on first use: instances that only check URLs need none. */
  get #redactor(): Redactor {
    return (this.#made ??= new Redactor({ personal: this.#personal }));
  }

  /**
   * Every later redaction replaces this value with `[redacted:NAME]`, in plain, escaped and encoded forms. Returns false, and does not
   * register the value, if it is shorter than 8 characters.
   */
  register(value: string, name: string): boolean {
    return this.#redactor.register(value, name);
  }

  /** Changes whenever a value is added. Text redacted before must be checked again before it leaves. */
  get version(): number {
    return this.#redactor.version;
  }

  /** Replaces secrets; `found` names them. Takes about a millisecond for 100 KB of clean text. */
  redact(text: string): Redaction {
    return this.#redactor.redact(text);
  }

  /** The same for JSON text, which stays valid JSON. Other text is redacted as plain text. */
  redactJson(text: string): Redaction {
    return redactJson(this.#redactor, text);
  }

  /** Redacts registered values only, in text that represents arbitrary bytes (latin1). */
  redactValues(text: string): string {
    return this.#redactor.redactValues(text);
  }

  /** Returns the program's log behind this redactor. */
  logger(logger: Logger): Logger {
    return createSafeLogger(logger, this);
  }

  /** Returns the sink of stored content behind this redactor. */
  artifacts(sink: ArtifactSink): ArtifactSink {
    return createSafeArtifacts(sink, this);
  }

  /** Redacts every string inside a value of plain objects and lists. Returns the identical value if nothing was found. */
  redactDeep<T>(value: T): Redacted<T> {
    return redactDeep(this.#redactor, value);
  }

  /**
   * Returns the start of an unfinished registered value at the end of the text, or the text's length if there is none. The text from there
   * must wait for more text or be left out. Fewer than four characters of a value reveal nothing and do not count.
   */
  unfinishedAt(text: string): number {
    const { openValue } = this.#redactor.analyse(text, true);
    return text.length - openValue < UNFINISHED_MIN ? text.length : openValue;
  }

  /** Returns a redactor for one text that arrives in pieces: `push` each piece, then call `end`. */
  stream(): StreamRedactor {
    return new StreamRedactor(this.#redactor);
  }

  /** For the operation `safety.url`: decides about a URL without a DNS lookup. */
  url(url: string): UrlDecision {
    return this.#urls.check(url);
  }

  /** Called before connecting. Also checks every address of the name, and returns the addresses that may be connected to. */
  resolvedUrl(url: string, resolver: NameResolver, signal: AbortSignal): Promise<ResolvedDecision> {
    return this.#urls.checkResolved(url, resolver, signal);
  }

  /** Names that only private networks have are refused before. */
  throughProxy(): boolean {
    return this.#usesProxy;
  }

  /** Called before following a redirect. The target must pass `resolvedUrl` as well. */
  redirect(redirect: { from: string; to: string; method: string }): UrlDecision & { readonly keepsHeaders: boolean } {
    return this.#urls.checkRedirect(redirect);
  }
}
