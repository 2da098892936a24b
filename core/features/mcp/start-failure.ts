// Why no connection to a server was made, for the person who set it up. The only module that reads the codes of the official client for it.

import { networkCode, networkFailure, networkSentence } from '../../base/network-failure.ts';
import { AppError } from '../../contracts/errors.ts';
import { failureOf } from './connection.ts';

interface Server {
  readonly name: string;
  /** Absent for a program of this computer. */
  readonly url?: string | undefined;
}

export async function startFailure({ name, url }: Server, cause: unknown): Promise<AppError> {
  const { SdkError, SdkErrorCode } = await import('@modelcontextprotocol/client');
  const code = SdkError.isInstance(cause) ? cause.code : null;
  if (url === undefined) {
    const ended = code === SdkErrorCode.ConnectionClosed ? 'ended before it answered' : null;
    const why = code === SdkErrorCode.RequestTimeout ? 'did not answer in time' : ended;
    return why === null ? failureOf(name, cause) : new AppError('tool_failed', `The MCP server ${name} ${why}.`, { cause });
  }
  const isLate = code === SdkErrorCode.RequestTimeout;
  const message = await answerOf(name, url, cause, isLate ? 'ETIMEDOUT' : networkCode(cause));
  if (message === null) return failureOf(name, cause);
  const hint = `Start the server, or correct its address: trayclaw mcp add ${name} --url ADDRESS --replace`;
  return new AppError('tool_failed', message, { cause, hint });
}

/** Null if nothing is known about it. */
async function answerOf(name: string, url: string, cause: unknown, network: string | null): Promise<string | null> {
  const { SdkError, SdkErrorCode, SdkHttpError } = await import('@modelcontextprotocol/client');
  const place = `${url} (the MCP server ${name})`;
  if (networkFailure(network) !== null) return networkSentence(network, place);
  if (SdkHttpError.isInstance(cause) && cause.status !== undefined) {
    if (cause.status >= 300 && cause.status < 400)
      return `${place} leads to another address, which is not followed (HTTP ${cause.status}).`;
    return cause.status === 404 ? `There is no MCP server at ${place}: HTTP 404.` : `${place} answered with HTTP ${cause.status}.`;
  }
  if (!SdkError.isInstance(cause) || cause.code !== SdkErrorCode.EraNegotiationFailed) return null;
  // fetch throws a TypeError where no answer came. Every other error is about an answer that could not be read.
  const isAnswer = cause.cause instanceof Error && !(cause.cause instanceof TypeError);
  return isAnswer ? `What answers at ${place} is not an MCP server.` : null;
}
