// Resolves names by the system's own resolver, so that the checked addresses are the ones the system would dial. Keeps nothing.

import { lookup } from 'node:dns/promises';

/** Names to addresses. An empty answer and a failure both mean that the name does not resolve. */
export interface NameResolver {
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
}

export const systemResolver: NameResolver = {
  // The lookup itself cannot be cancelled: the caller stops waiting for it.
  resolve: (host, signal) =>
    new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      void lookup(host, { all: true, order: 'verbatim' })
        .then((found) => resolve(found.map(({ address }) => address)), reject)
        .finally(() => signal.removeEventListener('abort', onAbort));
    }),
};
