// Resolves names with the system's resolver, so that the checked addresses are those the system would connect to. Caches nothing.

import { lookup } from 'node:dns/promises';
import type { NameResolver } from '../../contracts/url-decision.ts';

export const systemResolver: NameResolver = {
  // The lookup cannot be cancelled, so on abort the caller only stops waiting for it.
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
