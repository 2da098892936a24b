// The ports of the web tools, restricted to what they use, and small shared helpers.

import type { FetchAnswer, GuardedFetch } from '../../guard/egress/egress.ts';
import { AppError } from '../../contracts/errors.ts';
import type { CallFacts, TaintSource, ToolClass } from '../../contracts/tools.ts';
import { printable } from './list-dir.ts';

/** The only way to send a request. */
export type WebHttp = Pick<GuardedFetch, 'check' | 'fetch'>;

export interface WebToolDeps {
  readonly http: WebHttp;
  /** The time limit of the tool itself: that of the request, plus some time for processing the answer. */
  readonly timeoutMs: number;
  readonly outputBytesMax: number;
}

export const URL_CHARS_MAX = 8_000;
const QUERY_CHARS_USUAL = 300;

export function parseUrl(given: string): URL | null {
  return URL.canParse(given) ? new URL(given) : null;
}

/** The facts of a request; `reads` is false if it may change something or identifies the person. */
export function requestFacts(
  http: WebHttp,
  request: { readonly method: string; readonly url: string; readonly reads: boolean; readonly class?: ToolClass },
  risks: readonly string[] = [],
): CallFacts {
  const verdict = http.check(request.url);
  const url = parseUrl(verdict.url);
  if (url === null)
    throw new AppError('invalid_arguments', verdict.reason, { hint: 'Give a whole URL, such as https://example.org/page.' });
  const all = [...risks, ...urlRisks(url)];
  return {
    class: request.class ?? 'network',
    paths: [],
    command: null,
    hosts: [url.hostname],
    ...(all.length === 0 ? {} : { risks: all }),
    request: { method: request.method, url: verdict.url, reads: request.reads },
    ...(verdict.decision === 'deny' ? { refused: verdict.reason } : {}),
  };
}

function urlRisks(url: URL): string[] {
  const carried = url.pathname.length + url.search.length;
  return [
    ...(carried > QUERY_CHARS_USUAL ? [`The address itself carries ${carried} characters to ${url.hostname}.`] : []),
    ...(url.protocol === 'http:' ? [`The connection to ${url.hostname} is not encrypted.`] : []),
  ];
}

/** Formats a URL so that it is safe inside our own sentences. */
export function shownUrl(url: string): string {
  const text = printable(url);
  return text.length <= 300 ? text : `${text.slice(0, 299)}…`;
}

export function webSources(hosts: readonly string[]): TaintSource[] {
  return hosts.map((where) => ({ kind: 'web', where }));
}

/** Describes a redirect that the person did not approve. */
export function describeStop(tool: string, answer: FetchAnswer, to: string): string {
  const { hostname } = new URL(answer.url);
  const host = parseUrl(to)?.hostname ?? 'another place';
  return `${hostname} redirects to ${shownUrl(to)}. That is another host (${host}) than the one this call was for, so nothing was read. To go there, call ${tool} with that URL.`;
}
