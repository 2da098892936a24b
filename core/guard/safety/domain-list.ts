// Domain lists written by a person: `example.org` covers that domain and all its subdomains, `*.example.org` covers only the subdomains,
// and `example.org:8443` also opens that port. An address or `localhost` covers only itself and, with a port, only that port. Names are
// compared in the form that DNS uses. Pure.

import { AppError } from '../../contracts/errors.ts';

interface Entry {
  readonly host: string;
  readonly onlyBelow: boolean;
  readonly port: number | null;
  /** True for an address or `localhost`, which are opened only if listed literally. */
  readonly isLiteral: boolean;
}

export class DomainList {
  readonly #entries: readonly Entry[];

  /** Fails with `invalid_config`, naming the first entry that is not a domain. */
  constructor(entries: readonly string[]) {
    this.#entries = entries.map(parseEntry);
  }

  covers(host: string): boolean {
    return this.#entries.some((entry) => entryCovers(entry, host));
  }

  /** Returns whether this address or `localhost` is listed, with this port or without a port. Names that resolve to it do not count. */
  opensLiteral(host: string, port: number): boolean {
    return this.#entries.some((entry) => entry.isLiteral && entry.host === host && (entry.port ?? port) === port);
  }

  opensPort(host: string, port: number): boolean {
    return this.#entries.some((entry) => entry.port === port && entryCovers(entry, host));
  }
}

/**
 * Returns the host in lower case and punycode, with canonical addresses and without trailing dots. Returns null if the text is not a host.
 */
export function normalHost(text: string): string | null {
  try {
    return new URL(`http://${text}/`).hostname.replace(/\.+$/, '');
  } catch (cause) {
    if (cause instanceof TypeError) return null;
    throw cause;
  }
}

/** For callers whose hosts are written by people: ports and the spelling of names make no difference. */
export function domainSets(entries: readonly string[]): { covers(host: string): boolean } {
  const list = new DomainList(entries);
  return {
    covers: (host) => {
      const name = normalHost(host);
      return name !== null && list.covers(name);
    },
  };
}

function entryCovers(entry: Entry, host: string): boolean {
  if (host === entry.host) return !entry.onlyBelow;
  return !entry.isLiteral && host.endsWith(`.${entry.host}`);
}

function parseEntry(text: string): Entry {
  const [, below, name = '', port] = /^(\*\.)?(\[[^\]]+\]|[^:/@?#\s]+)(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  const host = normalHost(name);
  if (host === null || host === '') {
    throw new AppError('invalid_config', `"${text}" in policy.allowDomains or policy.denyDomains is not a domain.`, {
      hint: 'Write example.org, *.example.org or example.org:8443; no scheme, no path.',
    });
  }
  const isLiteral = host === 'localhost' || host.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(host);
  return { host, onlyBelow: below !== undefined, port: port === undefined ? null : Number(port), isLiteral };
}
