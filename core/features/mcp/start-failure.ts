// Why no connection to a server was made, and why a call got no answer, for people. The only module that reads the codes of the official
// client for it.

import { isNeverSent, networkCode, networkFailure, networkSentence } from '../../base/network-failure.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ToolResult } from '../../contracts/tools.ts';
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
    const hint = `Run its command in a terminal to see what it says or waits for. It may start longer with mcp.servers.${name}.startMs.`;
    return why === null ? failureOf(name, cause) : new AppError('tool_failed', `The MCP server ${name} ${why}.`, { cause, hint });
  }
  const isLate = code === SdkErrorCode.RequestTimeout;
  const message = await answerOf(name, url, cause, isLate ? 'ETIMEDOUT' : networkCode(cause));
  return message === null ? failureOf(name, cause) : new AppError('tool_failed', message, { cause, hint: hintOf(name) });
}

const hintOf = (name: string): string => `Start the server, or correct its address: trayclaw mcp add ${name} --url ADDRESS --replace`;

/** Why a call of a connected server failed. A server that was lost after the call was sent may have carried it out. */
export async function callFailure({ name, url }: Server, cause: unknown): Promise<Pick<ToolResult, 'forModel' | 'isError' | 'endedBy'>> {
  const { SdkError, SdkErrorCode } = await import('@modelcontextprotocol/client');
  const network = networkCode(cause);
  const isNetwork = networkFailure(network) !== null;
  if (url !== undefined && isNetwork && isNeverSent(network))
    return { forModel: `${networkSentence(network, `${url} (the MCP server ${name})`)}\n${hintOf(name)}`, isError: true };
  if (!isNetwork && !(SdkError.isInstance(cause) && cause.code === SdkErrorCode.ConnectionClosed))
    return { forModel: failureOf(name, cause).message, isError: true };
  const lost = `The MCP server ${name} ended the connection before it answered, and may have done what this call asks.`;
  return { forModel: `${lost} Look before you call it again.`, isError: true, endedBy: 'unknown' };
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
