// Whether a URL may be fetched, and the addresses of its name. Types only.

export interface UrlDecision {
  readonly decision: 'allow' | 'deny';
  readonly reason: string;
  /** The normalized URL without credentials, as it would be fetched, or the given text if it cannot be parsed. */
  readonly url: string;
  /** True if a person listed this host as allowed. */
  readonly isListed: boolean;
}

export interface ResolvedDecision extends UrlDecision {
  /** The checked addresses. Only these may be connected to. Empty if denied. */
  readonly addresses: readonly string[];
  /** Denied because the name has no address, not because of a rule. */
  readonly isUnresolved?: boolean;
}

/** Resolves names to addresses. Both an empty answer and a failure mean that the name does not resolve. */
export interface NameResolver {
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
}
