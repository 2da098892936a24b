// The port between the HTTP server and a door for other programs: a request without its transport, the reply to it, and the route that
// answers. The server has checked Host, Origin and size; the route checks the caller's token, with what the door tokens say of it.

import type { AgentListing } from './agents.ts';
import { AppError, isAppError } from './errors.ts';
import type { DoorToken, TokenDoor } from './features/doors.ts';

export interface DoorRequest {
  readonly method: string;
  /** Without the query, as it was sent: not decoded. */
  readonly path: string;
  /** Undefined if it was not sent, or was sent more than once. */
  header(name: string): string | undefined;
  /** The parsed body. Fails with `invalid_params` or `payload_too_large`. */
  json(): Promise<unknown>;
  /** Aborts when the caller closes the connection before the reply has ended. */
  readonly gone: AbortSignal;
  /** To be called once the caller has shown a right token: its connection is no longer one of a stranger. */
  trust(): void;
}

export interface DoorReply {
  /** True until the reply has begun. */
  readonly isUnsent: boolean;
  /** A `body` of undefined is none. */
  send(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
  /** Begins a reply in pieces. */
  begin(mediaType: string, headers?: Readonly<Record<string, string>>): void;
  write(text: string): void;
  end(): void;
}

export interface DoorRoute {
  /** Whether this path belongs to the door. Must be quick: every request is asked. */
  owns(path: string): boolean;
  /** Rejects only because of a bug. */
  answer(request: DoorRequest, reply: DoorReply): Promise<void>;
}

/** A program whose token is right. */
export interface DoorCaller {
  readonly token: Pick<DoorToken, 'tokenId' | 'name'>;
  /** Aborts when the token is revoked. */
  readonly revoked: AbortSignal;
  /** Whether its scopes include this model, agent, tool or part of the door. */
  may(what: string): boolean;
  /** US dollars left today; null without a limit. */
  leftUsd(): number | null;
  /** Counts what a request came to; null for an unknown price. */
  spend(usd: number | null): void;
  owns(sessionId: string): boolean;
  /** To be called in the transaction of the session's first event. */
  own(sessionId: string): void;
}

export interface DoorAdmission {
  /**
   * Lets a request in. Fails with unauthorized, rate_limited, or with not_found where the door is closed: only a right token learns that. The
   * body is read after it.
   */
  admit(request: Pick<DoorRequest, 'header' | 'trust'>, door: TokenDoor, isOpen: boolean): DoorCaller;
  /** Counts what a caller's work came to after its request has ended. */
  spendFor(tokenId: string, usd: number | null): void;
}

/** The agents a door can lead to. */
export interface DoorAgents {
  list(): readonly AgentListing[];
  has(agentId: string): boolean;
  route(from: { readonly channel: string; readonly chatId: string | null }): string;
}

/** Tell a program when it may ask again, and how it is to show who it is. */
export function refusalHeaders({ code, data: { retryAfterSeconds } }: AppError): Readonly<Record<string, string>> {
  return {
    ...(code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}),
    ...(typeof retryAfterSeconds === 'number' ? { 'retry-after': String(retryAfterSeconds) } : {}),
  };
}

/** The error as a caller may see it. The message of a bug could name anything, so it is only reported. */
export function outwardError(cause: unknown, report: (told: string) => void): AppError {
  if (isAppError(cause)) return cause;
  report(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
  return new AppError('internal', 'Something unexpected happened inside; the log has the details.');
}
