// The port between the HTTP server and a door for other programs: a request without its transport, the reply to it, and the route that
// answers. The server checks Host, Origin and size; the route checks the caller's token and its scopes.

import type { AgentListing } from './agents.ts';
import { AppError, isAppError } from './errors.ts';
import type { DoorToken, TokenDoor } from './features/doors.ts';
import { privateParts, type Outsider } from './outsider.ts';
import { wholeBounds, type TurnBounds } from './turn-bounds.ts';

export interface DoorRequest {
  readonly method: string;
  /** The path as sent: not decoded, without the query. */
  readonly path: string;
  /** Undefined if the header was not sent, or was sent more than once. */
  header(name: string): string | undefined;
  /** The parsed body. Fails with `invalid_params` or `payload_too_large`. */
  json(): Promise<unknown>;
  /** Aborts when the caller closes the connection before the reply has ended. */
  readonly gone: AbortSignal;
  /**
   * Must be called once the caller has shown a valid token: its connection no longer counts as that of a stranger, and its request counts
   * towards the limit of all doors. Fails with rate_limited.
   */
  trust(): void;
}

export interface DoorReply {
  /** True until the reply has begun. */
  readonly isUnsent: boolean;
  /** Sends no body if `body` is undefined. */
  send(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
  /** Begins a reply that is sent in pieces. */
  begin(mediaType: string, headers?: Readonly<Record<string, string>>): void;
  write(text: string): void;
  end(): void;
}

export interface DoorRoute {
  readonly door: TokenDoor;
  /** The addresses that it answers. */
  readonly paths: readonly string[];
  /** Whether this path belongs to the door. Must be fast, because it is called for every request. */
  owns(path: string): boolean;
  /** Rejects only because of a bug. */
  answer(request: DoorRequest, reply: DoorReply): Promise<void>;
}

/** A program with a valid token. */
export interface DoorCaller {
  readonly token: Pick<DoorToken, 'tokenId' | 'name' | 'door'>;
  /** Aborts when the token is revoked. */
  readonly revoked: AbortSignal;
  /** Whether its scopes include this model, agent, tool or part of the door. */
  may(what: string): boolean;
  /** US dollars that are neither spent today nor reserved; null if there is no limit. */
  leftUsd(): number | null;
  /** The bounds of a turn that begins now. Fails with over_budget if nothing is left of the budget. */
  bounds(channel: string): TurnBounds;
  /**
   * Must be called in the transaction that accepts a turn: the token owns its session and pays for it when it ends. Until then its bound
   * is reserved.
   */
  begins(turn: DoorTurn): void;
  /** Reserves US dollars for a call outside any turn. Returns a function that releases them. */
  reserve(usd: number | null): () => void;
  owns(sessionId: string): boolean;
  own(sessionId: string): void;
}

/** A turn that a program began. */
export interface DoorTurn {
  readonly sessionId: string;
  readonly turnId: string;
  readonly bounds: TurnBounds;
}

/** The bounds of the turns that a program starts. The grants of the owner cover its calls only if its scopes say so. */
export function clientBounds(
  channel: string,
  caller: Pick<DoorCaller, 'token' | 'may'>,
  usd: number | null,
): TurnBounds & { readonly outsider: Outsider } {
  const { tokenId, name } = caller.token;
  const outsider = { id: `${channel}:${tokenId}`, name: `${channel}:${name}`, sees: privateParts.filter((part) => caller.may(part)) };
  return { ...wholeBounds, usd, grants: caller.may('grants'), outsider };
}

export interface DoorAdmission {
  /**
   * Admits a request. Fails with unauthorized, rate_limited, or not_found if the door is closed; without a valid token, a caller cannot
   * find that out. The body is read afterwards.
   */
  admit(request: Pick<DoorRequest, 'header' | 'trust'>, door: TokenDoor, isOpen: boolean): DoorCaller;
}

export interface DoorAgents {
  list(): readonly AgentListing[];
  has(agentId: string): boolean;
  route(from: { readonly channel: string; readonly chatId: string | null }): string;
}

/** The headers that tell a program when it may retry, and how it must authenticate. */
export function refusalHeaders({ code, data: { retryAfterSeconds } }: AppError): Readonly<Record<string, string>> {
  return {
    ...(code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}),
    ...(typeof retryAfterSeconds === 'number' ? { 'retry-after': String(retryAfterSeconds) } : {}),
  };
}

/** The error as a caller may see it. The message of a bug could contain anything, so it is only reported. */
export function outwardError(cause: unknown, report: (told: string) => void): AppError {
  if (isAppError(cause)) return cause;
  report(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
  return new AppError('internal', 'Something unexpected happened inside; the log has the details.');
}
