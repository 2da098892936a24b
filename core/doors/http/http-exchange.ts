// One HTTP request over loopback TCP or a local socket, with failures as AppErrors. Uses only node:http: no pool, no proxy, no redirects.

import { request as sendHttp, type IncomingMessage } from 'node:http';
import { AppError } from '../../contracts/errors.ts';

/** The address of an instance. */
export type ServerAddress = { readonly socketPath: string } | { readonly port: number };

export interface Exchange {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

const replyCharsMax = 64 * 1024 * 1024;

/**
 * Resolves with the response once its headers have arrived. Fails with `cancelled` on abort, and with `shutting_down` if there is no
 * response.
 */
export function sendExchange(address: ServerAddress, exchange: Exchange): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const target = 'socketPath' in address ? { socketPath: address.socketPath } : { host: '127.0.0.1', port: address.port };
    const body = exchange.body === undefined ? null : Buffer.from(exchange.body);
    const request = sendHttp({
      ...target,
      agent: false,
      method: exchange.method,
      path: exchange.path,
      headers: { ...exchange.headers, ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': body.length }) },
      ...(exchange.signal === undefined ? {} : { signal: exchange.signal }),
    });
    request.once('response', resolve);
    // Stays attached for the life of the request, because an abort after the headers also surfaces here.
    request.on('error', (cause) => reject(exchangeError(cause, exchange.signal)));
    request.end(body ?? undefined);
  });
}

export async function readText(response: IncomingMessage, signal?: AbortSignal): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  try {
    for await (const chunk of response) {
      text += String(chunk);
      if (text.length > replyCharsMax) {
        response.destroy();
        throw new AppError('payload_too_large', 'The instance answered with more than can be held.');
      }
    }
  } catch (cause) {
    throw cause instanceof AppError ? cause : exchangeError(cause, signal);
  }
  return text;
}

export function exchangeError(cause: unknown, signal?: AbortSignal): AppError {
  if (signal?.aborted) return new AppError('cancelled', 'Cancelled.', { cause });
  return new AppError('shutting_down', 'The running TrayClaw instance does not answer any more.', {
    isRetryable: true,
    hint: 'Run the command again; it starts its own instance when none is running.',
    cause,
  });
}
