// The A2A door: its addresses, the token of each request, and the SDK's reading of the protocol, 1.0 and 0.3. Loaded with the first request.

import { createHash } from 'node:crypto';
import { A2A_ERROR_CODE, VersionNotSupportedError } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server';
import * as z from 'zod';
import { refusalHeaders, type DoorCaller, type DoorReply, type DoorRequest } from '../../contracts/door-route.ts';
import { statusOf } from '../../contracts/error-status.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { Spine } from '../feature.ts';
import { a2aPath, type CardAgent, cardOf, cardPath, earlierCardOf, firstCardPath } from './card.ts';
import { a2aChannel, type TaskDesk } from './tasks.ts';
import { errorOf, handlerOf } from './wire-tasks.ts';

export interface ServeDeps extends Pick<Spine, 'logger' | 'version'> {
  readonly desk: TaskDesk;
  readonly admit: (request: Pick<DoorRequest, 'header' | 'trust'>) => DoorCaller;
  /** The agents of this machine, without peers on other machines. */
  readonly agents: () => readonly CardAgent[];
  readonly route: () => string;
}

interface RpcReply {
  readonly jsonrpc: string;
  readonly id: string | number | null;
  readonly result?: unknown;
  readonly error?: unknown;
}

const ALIVE_MS = 15_000;
/** The SDK says that the parameters are wrong where the request itself is. */
const requestSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  method: z.string().min(1),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
});
/** The methods of revision 1.0; those of 0.3 are names such as `tasks/get`. */
const NEWER_METHOD = /^(?:Send|Get|List|Cancel|Subscribe|Create|Delete)[A-Z]/;

export class A2aDoor {
  readonly #deps: ServeDeps;

  constructor(deps: ServeDeps) {
    this.#deps = deps;
  }

  async answer(request: DoorRequest, reply: DoorReply): Promise<void> {
    let caller: DoorCaller;
    try {
      caller = this.#deps.admit(request);
    } catch (cause) {
      refuse(reply, toAppError(cause));
      return;
    }
    const card = this.#cardFor(request, caller);
    // Some clients append a slash to the address from the card.
    const isCall = request.path === a2aPath || request.path === `${a2aPath}/`;
    if (request.path === cardPath || request.path === firstCardPath)
      answerCard(request, reply, isEarlier(request) ? earlierCardOf(card) : card);
    else if (!isCall) refuse(reply, new AppError('not_found', `There is nothing at ${request.path.slice(0, 100)}.`));
    else if (request.method !== 'POST') wrongMethod(reply, 'POST');
    else await this.#call(request, reply, { caller, card });
  }

  /** Names only the agents that the token may use. */
  #cardFor(request: DoorRequest, caller: DoorCaller): ReturnType<typeof cardOf> {
    const agents = this.#deps.agents().filter(({ agentId }) => this.#may(caller, agentId));
    return cardOf(`http://${request.header('host') ?? '127.0.0.1'}`, agents, this.#deps.version);
  }

  #may(caller: DoorCaller, agentId: string): boolean {
    return caller.may(`trayclaw/${agentId}`) || (agentId === this.#deps.route() && caller.may('trayclaw'));
  }

  /** Standard clients name no agent: they mean the usual one, or the only one that the token may use. */
  #agentFor(caller: DoorCaller, named: string | null): string {
    const { agents, route } = this.#deps;
    const allowed = agents().filter(({ agentId }) => this.#may(caller, agentId));
    const [only] = allowed.length === 1 ? allowed : [];
    const agentId = named ?? only?.agentId ?? route();
    if (!this.#may(caller, agentId)) throw new AppError('invalid_params', `This token may not use the agent ${agentId}.`);
    return agentId;
  }

  async #call(
    request: DoorRequest,
    reply: DoorReply,
    { caller, card }: { readonly caller: DoorCaller; readonly card: object },
  ): Promise<void> {
    if (!/^application\/json\b/i.test(request.header('content-type') ?? '')) {
      reply.send(200, failure(null, A2A_ERROR_CODE.CONTENT_TYPE_NOT_SUPPORTED, 'The body must be application/json.'));
      return;
    }
    let body: unknown;
    try {
      body = await request.json();
    } catch (cause) {
      const { code, message } = toAppError(cause);
      reply.send(code === 'payload_too_large' ? 413 : 200, failure(null, A2A_ERROR_CODE.PARSE_ERROR, message));
      return;
    }
    const id = idIn(body);
    try {
      const handled = await this.#handle(request, { caller, card, body });
      if (isStream(handled)) await this.#stream(reply, handled, id);
      else reply.send(200, handled);
    } catch (cause) {
      reply.send(200, this.#failed(cause, id));
    }
  }

  async #handle(
    request: DoorRequest,
    { caller, card, body }: { readonly caller: DoorCaller; readonly card: object; readonly body: unknown },
  ): Promise<RpcReply | AsyncGenerator<RpcReply, void, undefined>> {
    const { desk } = this.#deps;
    const { token } = caller;
    const requestedVersion = request.header('a2a-version');
    const handler = handlerOf(desk, {
      card,
      owner: {
        ownerId: token.tokenId,
        name: token.name,
        bounds: () => caller.bounds(a2aChannel),
        begins: (turn) => caller.begins(turn),
        agentFor: (named) => this.#agentFor(caller, named),
      },
      signal: AbortSignal.any([request.gone, caller.revoked]),
    });
    const context = new ServerCallContext(requestedVersion === undefined ? {} : { requestedVersion });
    const call = requestSchema.safeParse(body);
    if (!call.success) return failure(idIn(body), A2A_ERROR_CODE.INVALID_REQUEST, 'The body must be one JSON-RPC request.');
    if (isEarlier(request)) {
      if (NEWER_METHOD.test(call.data.method))
        throw new VersionNotSupportedError('This method is of revision 1.0: send the header A2A-Version: 1.0.');
      const { LegacyJsonRpcTransportHandler } = await import('@a2a-js/sdk/compat/v0_3/server');
      return await new LegacyJsonRpcTransportHandler(handler).handle(call.data, context);
    }
    validateVersion(context.requestedVersion, await handler.getAgentCard(), 'JSONRPC');
    return await new JsonRpcTransportHandler(handler).handle(call.data, context);
  }

  /** An error before the first piece is sent as the whole reply. */
  async #stream(reply: DoorReply, pieces: AsyncGenerator<RpcReply, void, undefined>, id: RpcReply['id']): Promise<void> {
    let alive: NodeJS.Timeout | null = null;
    try {
      for await (const piece of pieces) {
        if (reply.isUnsent) {
          reply.begin('text/event-stream; charset=utf-8');
          alive = setInterval(() => reply.write(': still working\n\n'), ALIVE_MS);
        }
        reply.write(`data: ${JSON.stringify(piece)}\n\n`);
      }
      reply.end();
    } catch (cause) {
      const failed = this.#failed(cause, id);
      if (reply.isUnsent) {
        reply.send(200, failed);
        return;
      }
      reply.write(`event: error\ndata: ${JSON.stringify(failed)}\n\n`);
      reply.end();
    } finally {
      if (alive !== null) clearInterval(alive);
    }
  }

  /** The message of an unexpected error may name anything, so it goes to the log and is not sent to the caller. */
  #failed(cause: unknown, id: RpcReply['id']): RpcReply {
    const error = JsonRpcTransportHandler.mapToJSONRPCError(errorOf(cause));
    if (error.code !== A2A_ERROR_CODE.INTERNAL_ERROR) return { jsonrpc: '2.0', id, error };
    const told = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    this.#deps.logger.log('error', 'a request of another agent failed unexpectedly', { cause: told });
    return failure(id, error.code, 'Something unexpected happened inside; the log has the details.');
  }
}

/** Revision 0.3 and before have no header for it; their methods have names with a slash. */
function isEarlier(request: DoorRequest): boolean {
  const version = request.header('a2a-version');
  return version === undefined || version.trim() === '' || version.trim().startsWith('0.');
}

function answerCard({ method }: DoorRequest, reply: DoorReply, card: object): void {
  if (method === 'GET') reply.send(200, card, { 'cache-control': 'private, max-age=60', vary: 'A2A-Version', etag: tagOf(card) });
  else wrongMethod(reply, 'GET');
}

/** Equal for equal cards, so that a reader can tell whether the card has changed. */
function tagOf(card: object): string {
  return `"${createHash('sha256').update(JSON.stringify(card)).digest('base64url').slice(0, 22)}"`;
}

function wrongMethod(reply: DoorReply, allowed: string): void {
  const error = { code: 'invalid_params', message: `This address answers ${allowed} only.` };
  reply.send(405, { error }, { allow: allowed });
}

function refuse(reply: DoorReply, error: AppError): void {
  const { code, message, hint } = error;
  reply.send(statusOf(code), { error: { code, message, ...(hint === undefined ? {} : { hint }) } }, refusalHeaders(error));
}

function failure(id: RpcReply['id'], code: number, message: string): RpcReply {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

function idIn(body: unknown): RpcReply['id'] {
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function isStream(handled: object): handled is AsyncGenerator<RpcReply, void, undefined> {
  return Symbol.asyncIterator in handled;
}
