// Network access of the store: guarded requests to the origins of the configured markets and to public addresses. Sends no credentials and
// stores nothing.

import { AppError, toAppError } from '../../contracts/errors.ts';
import { GuardedFetch, type FetchLimits, type FetchRequest, type UrlJudge } from '../../guard/egress/egress.ts';
import { OneOriginCheck } from '../../guard/safety/safety.ts';

export interface WebAnswer {
  readonly status: number;
  readonly body: Buffer;
  readonly type: string;
  /** The final address after redirects. */
  readonly url: string;
}

export type StoreRequest = Pick<FetchRequest, 'method' | 'headers' | 'body'>;

export interface StoreWeb {
  /** Returns an answer for every status. Fails with address_refused, fetch_failed, panic_engaged or the reason of the signal. */
  ask(url: string, signal: AbortSignal, request?: StoreRequest): Promise<WebAnswer>;
}

const limits: FetchLimits = { connectMs: 15_000, headersMs: 30_000, idleMs: 30_000, totalMs: 3 * 60_000, bytesMax: 52_000_000 };

/** `trusted` are the origins of the markets in config.yaml, which may be at any address. */
export function createStoreWeb(safety: UrlJudge, trusted: readonly string[], isStopped: () => boolean): StoreWeb {
  const open = new GuardedFetch({ judge: safety, limits });
  return {
    ask: async (url, signal, request = {}) => {
      if (isStopped()) throw new AppError('panic_engaged', 'Everything is stopped.');
      const origin = URL.canParse(url) ? new URL(url).origin : '';
      const http = trusted.includes(origin) ? new GuardedFetch({ judge: new OneOriginCheck(origin), limits }) : open;
      const answer = await http.fetch({ ...request, url, mayFollow: () => true }, signal).catch((cause: unknown) => {
        const error = toAppError(cause);
        if (signal.aborted || error.code !== 'fetch_failed') throw error;
        throw new AppError('fetch_failed', `${hostOf(url)} could not be reached (${error.message}).`, {
          hint: 'Nothing was changed. Try again later.',
        });
      });
      if (answer.isCut) throw new AppError('fetch_failed', `${hostOf(url)} sent more than 52 MB.`);
      return { status: answer.status, body: answer.body, type: answer.headers['content-type'] ?? '', url: answer.url };
    },
  };
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url.slice(0, 100);
}

/** The body of an answer with status 200. Fails with fetch_failed for any other status. */
export async function fetched(web: StoreWeb, url: string, signal: AbortSignal): Promise<Buffer> {
  const { status, body } = await web.ask(url, signal);
  if (status === 200) return body;
  throw new AppError('fetch_failed', `${hostOf(url)} answered ${status} for ${url.slice(0, 200)}.`, {
    hint: 'Nothing was changed. Look whether the address is right.',
  });
}
