// Requests to one peer: only to its configured origin, with its token, without redirects, limited in size and in silence. Failures become
// errors of this program, whatever the SDK makes of them.

import { networkCode, networkSentence } from '../../base/network-failure.ts';
import { AppError } from '../../contracts/errors.ts';

export interface PeerAddress {
  readonly peer: string;
  /** The address in config.yaml. */
  readonly url: string;
  readonly token: string | null;
}

const BYTES_MAX = 16 * 1024 * 1024;
/** A working peer sends something at least every 15 seconds. After this much silence the request is aborted. */
const SILENCE_MS = 60_000;

/** Fails with model_unavailable, model_auth or model_rejected. */
export function peerFetch({ peer, url, token }: PeerAddress, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const { origin } = new URL(url);
  return async (input, init) => {
    const wanted = new URL(input instanceof Request ? input.url : input);
    if (wanted.origin !== origin)
      throw new AppError('model_rejected', `The card of ${peer} leads to ${wanted.origin}, and only ${origin} is in config.yaml.`);
    const headers = new Headers(init?.headers);
    if (token !== null) headers.set('authorization', `Bearer ${token}`);
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), SILENCE_MS);
    init?.signal?.addEventListener('abort', () => clearTimeout(timer), { once: true });
    const given = init?.signal ?? null;
    const signal = given === null ? silence.signal : AbortSignal.any([given, silence.signal]);
    try {
      const response = await fetch(wanted, { ...init, headers, signal, redirect: 'error' });
      refuseStatus(peer, response);
      return bounded(response, timer);
    } catch (cause) {
      clearTimeout(timer);
      if (cause instanceof AppError) throw cause;
      if (init?.signal?.aborted === true) throw new AppError('cancelled', 'The request was stopped.', { cause });
      throw unavailable(peer, cause);
    }
  };
}

export function unavailable(peer: string, cause: unknown, why = whyOf(peer, cause)): AppError {
  const hint = 'Check that it runs, and its address in config.yaml: trayclaw a2a peers';
  return new AppError('model_unavailable', why, { hint, isRetryable: true, cause });
}

function whyOf(peer: string, cause: unknown): string {
  if (cause instanceof Error && (cause.name === 'TimeoutError' || cause.name === 'AbortError'))
    return `The agent ${peer} did not answer in time.`;
  const code = networkCode(cause);
  return code === null ? `The agent ${peer} cannot be reached.` : networkSentence(code, `the agent ${peer}`);
}

function refuseStatus(peer: string, { status }: Response): void {
  if (status === 401 || status === 403) {
    const hint = `Ask its owner for a token (trayclaw doors token create --door a2a) and set a2a.peers.${peer}.token.`;
    throw new AppError('model_auth', `The agent ${peer} does not accept the token.`, { hint });
  }
  if (status === 429 || status >= 500) throw unavailable(peer, undefined, `The agent ${peer} answered with HTTP ${status}.`);
  if (status >= 400) throw new AppError('model_rejected', `The agent ${peer} refused the request (HTTP ${status}).`);
}

function bounded(response: Response, timer: NodeJS.Timeout): Response {
  if (response.body === null) {
    clearTimeout(timer);
    return response;
  }
  let bytes = 0;
  const over = (): void => clearTimeout(timer);
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      timer.refresh();
      bytes += chunk.byteLength;
      if (bytes > BYTES_MAX) controller.error(new AppError('model_rejected', 'The agent sent more than 16 MB.'));
      else controller.enqueue(chunk);
    },
    flush: over,
    cancel: over,
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}
