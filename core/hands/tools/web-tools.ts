// Creates the web tools, wired with their dependencies. Search is included only if the person chose a service.

import type { Config } from '../../contracts/config.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { GuardedFetch } from '../../guard/egress/egress.ts';
import { OneOriginCheck, type SafetyChecks } from '../../guard/safety/safety.ts';
import type { Secrets } from '../../guard/secret/secret.ts';
import { createHttpRequest } from './http-request.ts';
import type { SecretValues } from './http-request-headers.ts';
import { createWebFetch } from './web-fetch.ts';
import { pageTimeMaxMs } from './web-page.ts';
import { createWebSearch } from './web-search.ts';
import type { WebHttp } from './web-tool-ports.ts';

export interface WebDeps {
  readonly http: WebHttp;
  /** For searches: the same client, or one that reaches only the configured service. */
  readonly searchHttp: WebHttp;
  readonly secrets: SecretValues;
  readonly config: Config['web'];
  /** Redacts known secrets, in any encoding. */
  readonly redact: (text: string) => string;
}

export function createWebTools(deps: WebDeps, outputBytesMax: number): readonly ToolDefinition[] {
  const { http, secrets, redact } = deps;
  const { search, timeoutMs: requestMs } = deps.config;
  const shared = { http, outputBytesMax, timeoutMs: requestMs + 2 * pageTimeMaxMs };
  return [
    createWebFetch(shared),
    createHttpRequest({ ...shared, secrets, redact }),
    ...(search === undefined ? [] : [createWebSearch({ ...shared, http: deps.searchHttp, search, secrets })]),
  ];
}

/** Every request of a tool uses this client. Model servers and channels are the person's own choice and keep their own clients. */
export function createWebDeps(config: Config['web'], safety: SafetyChecks, secrets: Secrets): WebDeps {
  const { timeoutMs, bytesMax, search } = config;
  const quick = Math.min(timeoutMs, 10_000);
  const limits = { connectMs: quick, headersMs: timeoutMs, idleMs: Math.min(timeoutMs, 15_000), totalMs: timeoutMs, bytesMax };
  const http = new GuardedFetch({ judge: safety, limits });
  const searchHttp = search?.baseUrl === undefined ? http : new GuardedFetch({ judge: new OneOriginCheck(search.baseUrl), limits });
  return { http, searchHttp, secrets, config, redact: (text) => safety.redact(text).text };
}
