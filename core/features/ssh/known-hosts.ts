// The host keys that a person trusted, in a file of the data folder: one line per address. Never replaces a key.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SshHost } from '../../contracts/features/ssh.ts';

export class KnownHosts {
  readonly #path: string;

  constructor(home: string) {
    this.#path = join(home, 'ssh_known_hosts');
  }

  /** The trusted fingerprint; null until a person trusts one. */
  of(host: Pick<SshHost, 'host' | 'port'>): string | null {
    return this.#lines().find(([address]) => address === addressOf(host))?.[1] ?? null;
  }

  trust(host: Pick<SshHost, 'host' | 'port'>, fingerprint: string): void {
    writeFileSync(this.#path, `${addressOf(host)} ${fingerprint}\n`, { flag: 'a', mode: 0o600 });
  }

  #lines(): string[][] {
    if (!existsSync(this.#path)) return [];
    return readFileSync(this.#path, 'utf8')
      .split('\n')
      .map((line) => line.split(' '));
  }
}

export function addressOf({ host, port }: Pick<SshHost, 'host' | 'port'>): string {
  return `${host.toLowerCase()}:${port}`;
}
