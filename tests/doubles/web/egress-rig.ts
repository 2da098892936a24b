// The small web for tests of the guarded fetch, and egress to it under the real rules.

import { Web } from './web.ts';
import { toAppError } from '../../../core/contracts/errors.ts';
import { SafetyChecks } from '../../../core/guard/safety/safety.ts';
import { GuardedFetch, type FetchLimits, type GuardedFetchOptions, type UrlJudge } from '../../../core/guard/egress/egress.ts';

export const shop = '93.184.216.34';
export const other = '93.184.216.35';
export const limits: FetchLimits = { connectMs: 2_000, headersMs: 2_000, idleMs: 2_000, totalMs: 4_000, bytesMax: 100_000 };

export function startWeb(): Promise<Web> {
  const answers = {
    'shop.test.invalid': [shop],
    'www.shop.test.invalid': [shop],
    'other.test.invalid': [other],
    'listed.test.invalid': [other],
    'slow-first.test.invalid': ['93.184.216.99', shop],
  };
  return Web.start({ answers, publicAddresses: [shop, other] });
}

export function judge(allowDomains: string[] = []): UrlJudge {
  return new SafetyChecks({ policy: { allowDomains, denyDomains: [] } });
}

export function openFetch(web: Web, changes: Partial<GuardedFetchOptions> = {}): GuardedFetch {
  return new GuardedFetch({ judge: judge(), limits, resolver: web.resolver, dialer: web.dialer, authorities: web.authorities, ...changes });
}

/** `ok`, or the error code and its reason. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => null,
    (cause: unknown) => toAppError(cause),
  );
  return error === null ? 'ok' : `${error.code} ${String(error.data['reason'] ?? '')}`.trim();
}
