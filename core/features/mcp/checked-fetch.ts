// Requests of a sign-in to servers that an MCP server names. Their addresses are checked by the URL rules, and only a checked address is
// connected to. Redirects are not followed.

import { GuardedFetch, type FetchLimits, type UrlJudge } from '../../guard/egress/egress.ts';
import type { SendElsewhere } from './http-link.ts';

/** Metadata, registrations and tokens are small documents. */
const limits: FetchLimits = { connectMs: 15_000, headersMs: 30_000, idleMs: 30_000, totalMs: 60_000, bytesMax: 4_000_000 };
const withoutBody = new Set([204, 205, 304]);

/** The requests fail as those of `GuardedFetch`. */
export function createCheckedFetch(judge: UrlJudge): SendElsewhere {
  const http = new GuardedFetch({ judge, limits });
  return async (url, init) => {
    const given = new Request(url, init);
    const { method, headers, signal } = given;
    const body = given.body === null ? {} : { body: new Uint8Array(await given.arrayBuffer()) };
    const request = { url: url.href, method, headers: Object.fromEntries(headers), ...body, mayFollow: () => false };
    const answer = await http.fetch(request, signal);
    // Several cookies in one value are no valid header, and none is kept.
    const fields = Object.entries(answer.headers).filter(([name]) => name !== 'set-cookie');
    return new Response(withoutBody.has(answer.status) ? null : new Uint8Array(answer.body), { status: answer.status, headers: fields });
  };
}
