// The part of the composition about the way out for tools. Read compose.ts first.

import type { Config } from './contracts/config.ts';
import { GuardedFetch } from './guard/egress/egress.ts';
import { OneOriginCheck, type SafetyChecks } from './guard/safety/safety.ts';
import type { Secrets } from './guard/secret/secret.ts';
import type { WebDeps } from './hands/tools/tools.ts';

/** Every request of a tool leaves through here; model servers and channels are the person's own choice and keep their own clients. */
export function composeWeb(config: Config['web'], safety: SafetyChecks, secrets: Secrets): WebDeps {
  const { timeoutMs, bytesMax, search } = config;
  const quick = Math.min(timeoutMs, 10_000);
  const limits = { connectMs: quick, headersMs: timeoutMs, idleMs: Math.min(timeoutMs, 15_000), totalMs: timeoutMs, bytesMax };
  const http = new GuardedFetch({ judge: safety, limits });
  const searchHttp = search?.baseUrl === undefined ? http : new GuardedFetch({ judge: new OneOriginCheck(search.baseUrl), limits });
  return { http, searchHttp, secrets, config, redact: (text) => safety.redact(text).text };
}
