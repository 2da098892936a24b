// The door over HTTP: the token of each request, its rate limit and its errors. Loaded with the first request.

import { randomBytes } from 'node:crypto';
import { titleOf } from '../../base/session-title.ts';
import type { Claw } from '../../contracts/claw.ts';
import {
  clientBounds,
  outwardError,
  refusalHeaders,
  type DoorAdmission,
  type DoorAgents,
  type DoorCaller,
  type DoorReply,
  type DoorRequest,
} from '../../contracts/door-route.ts';
import { statusOf } from '../../contracts/error-status.ts';
import { AppError } from '../../contracts/errors.ts';
import type { Caller } from '../../contracts/ops.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import type { Spine } from '../feature.ts';
import { createDoorServer } from './door-server.ts';
import { McpHttp } from './http-transport.ts';
import type { Peer, PeerMessage } from './peer.ts';
import { readable, sessionUri } from './session-resources.ts';
import { sessionsOf, type SessionNews } from './session-news.ts';
import { roundsOf } from './turn-call.ts';

export interface McpDoorDeps extends Pick<Spine, 'config' | 'log' | 'logger' | 'ids' | 'clock' | 'turns' | 'version'> {
  readonly claw: Claw;
  readonly tokens: DoorAdmission;
  readonly agents: Pick<DoorAgents, 'has' | 'route'>;
}

const CHANNEL = 'mcp';

export class McpDoor {
  readonly #deps: McpDoorDeps;
  readonly #http: McpHttp<Peer>;
  readonly #stopNews: () => void;

  constructor(deps: McpDoorDeps) {
    this.#deps = deps;
    const key = randomBytes(32);
    const news: SessionNews = (listener) => deps.log.onCommitted((events) => sessionsOf(events).forEach(listener));
    this.#http = new McpHttp({
      clock: deps.clock,
      newId: () => randomBytes(24).toString('base64url'),
      make: (peer) => createDoorServer({ ...deps, news, rounds: roundsOf(key, peer) }, peer),
    });
    this.#stopNews = news((sessionId) => {
      const uri = sessionUri(sessionId);
      this.#http.changed(uri, (peer) => readable(peer, uri) !== null);
    });
  }

  async answer(request: DoorRequest, reply: DoorReply): Promise<void> {
    const { config, tokens, logger } = this.#deps;
    try {
      const caller = tokens.admit(request, 'mcp', config.doors.mcp.enabled);
      await this.#http.answer(peerOf(this.#deps, caller), request, reply);
    } catch (cause) {
      const told = (words: string): void => logger.log('error', 'a request of an MCP client failed unexpectedly', { cause: words });
      sendError(reply, outwardError(cause, told));
    }
  }

  dispose(): Promise<void> {
    this.#stopNews();
    return this.#http.dispose();
  }
}

function peerOf(deps: McpDoorDeps, caller: DoorCaller): Peer {
  const { token, revoked } = caller;
  const by: Caller = { channel: CHANNEL, actor: `${CHANNEL}:${token.name}`, bounds: toolBounds(caller) };
  const toolSession = `mcp-${token.tokenId}`;
  return {
    caller: by,
    id: token.tokenId,
    toolSession,
    revoked,
    may: (what) => caller.may(what),
    owns: (sessionId) => caller.owns(sessionId),
    submit: async (message) => {
      const { sessionId, turnId, onDisk } = accept(deps, caller, by.actor, message);
      await onDisk;
      return { sessionId, turnId };
    },
    ownToolSession: () => {
      if (!caller.owns(toolSession)) caller.own(toolSession);
    },
  };
}

/** The scope of a tool that reads files opens them to its direct calls. */
function toolBounds(caller: DoorCaller): TurnBounds {
  const { outsider, ...bounds } = clientBounds(CHANNEL, caller, caller.leftUsd());
  return { ...bounds, outsider: { ...outsider, sees: [...outsider.sees, 'files'] } };
}

interface Place {
  readonly known: ReturnType<McpDoorDeps['log']['index']['session']>;
  readonly agentId: string;
}

/** Fails with not_found for a session that the client did not start, and for an agent that it may not use. */
function placeOf({ log, agents }: McpDoorDeps, caller: DoorCaller, { sessionId, agentId: wanted }: PeerMessage): Place {
  const known = sessionId === undefined ? null : log.index.session(sessionId);
  if (sessionId !== undefined && (known === null || !caller.owns(sessionId)))
    throw new AppError('not_found', `There is no session ${sessionId} that this client began.`);
  const agentId = known?.agentId ?? wanted ?? agents.route({ channel: CHANNEL, chatId: null });
  const may = caller.may(`trayclaw/${agentId}`) || (wanted === undefined && caller.may('trayclaw'));
  if (!may || (wanted !== undefined && !agents.has(wanted)))
    throw new AppError('not_found', `There is no agent ${agentId} for this client.`);
  return { known, agentId };
}

function accept(deps: McpDoorDeps, caller: DoorCaller, sender: string, message: PeerMessage): ReturnType<McpDoorDeps['turns']['accept']> {
  const { ids, turns } = deps;
  const { known, agentId } = placeOf(deps, caller, message);
  const bounds = caller.bounds(CHANNEL);
  const sessionId = known?.sessionId ?? ids.next('ses');
  return turns.accept({
    sessionId,
    agentId,
    text: message.text,
    channel: CHANNEL,
    sender,
    dedupeKey: null,
    bounds,
    before: (text) =>
      known === null ? [{ type: 'session.created', body: { title: titleOf(text), agentId, channel: CHANNEL, forkedFrom: null } }] : [],
    alongside: (turnId) => caller.begins({ sessionId, turnId, bounds }),
  });
}

function sendError(reply: DoorReply, error: AppError): void {
  const { code } = error;
  reply.send(statusOf(code), { jsonrpc: '2.0', error: { code: -32_000, message: error.told(), data: { code } } }, refusalHeaders(error));
  if (!reply.isUnsent) reply.end();
}
