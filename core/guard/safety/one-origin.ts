// The URL rules for one origin from config.yaml, such as a person's own search server: allows only that origin, wherever it is. Metadata
// services stay closed. Decides only.

import { isMetadataAddress } from './address.ts';
import type { NameResolver, ResolvedDecision, UrlDecision } from '../../contracts/url-decision.ts';

export class OneOriginCheck {
  readonly #origin: string;

  constructor(url: string) {
    this.#origin = new URL(url).origin;
  }

  url(given: string): UrlDecision {
    const url = URL.canParse(given) ? new URL(given) : null;
    if (url === null || url.origin !== this.#origin || url.username !== '' || url.password !== '') {
      return {
        decision: 'deny',
        reason: `Only ${this.#origin} may be asked here.`,
        url: url?.href ?? given.slice(0, 500),
        isListed: false,
      };
    }
    return { decision: 'allow', reason: `${this.#origin} is named in config.yaml.`, url: url.href, isListed: true };
  }

  async resolvedUrl(given: string, resolver: NameResolver, signal: AbortSignal): Promise<ResolvedDecision> {
    const decision = this.url(given);
    if (decision.decision === 'deny') return { ...decision, addresses: [] };
    const host = new URL(decision.url).hostname.replace(/^\[|\]$/g, '');
    const addresses = await resolver.resolve(host, signal).catch(() => []);
    const deny = (reason: string): ResolvedDecision => ({ ...decision, decision: 'deny', reason, addresses: [] });
    if (addresses.length === 0) return { ...deny(`${host} does not resolve to an address.`), isUnresolved: true };
    return addresses.some(isMetadataAddress) ? deny(`${host} leads to a metadata service.`) : { ...decision, addresses };
  }

  /** The person named this server, so it is theirs wherever it is found. */
  throughProxy(): boolean {
    return true;
  }

  redirect(redirect: { from: string; to: string; method: string }): UrlDecision & { readonly keepsHeaders: boolean } {
    const decision = this.url(redirect.to);
    return { ...decision, keepsHeaders: decision.decision === 'allow' };
  }
}
