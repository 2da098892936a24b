// Conversations as resources: those that a client started, or all if its scopes include them. Read only.

import { ResourceNotFoundError, type ListResourcesResult, type ReadResourceResult } from '@modelcontextprotocol/server';
import { decodeComponent } from '../../base/decode-component.ts';
import type { Claw } from '../../contracts/claw.ts';
import { isAppError } from '../../contracts/errors.ts';
import type { Peer } from './peer.ts';

const LISTED_MAX = 200;
const CHARS_MAX = 1_000_000;

export async function listSessions(claw: Claw, peer: Peer): Promise<ListResourcesResult> {
  const { sessions } = await claw.op('session.list', { limit: LISTED_MAX }, peer.caller);
  const resources = sessions
    .filter(({ sessionId }) => mayRead(peer, sessionId))
    .map(({ sessionId, title, updatedAtMs }) => ({
      uri: sessionUri(sessionId),
      name: title === '' ? sessionId : title,
      mimeType: 'text/markdown',
      annotations: { lastModified: new Date(updatedAtMs).toISOString() },
    }));
  return { resources };
}

/** A session that the client may not read is answered like an unknown one. */
export async function readSession(
  claw: Claw,
  peer: Peer,
  { uri, sessionId }: { readonly uri: string; readonly sessionId: string },
): Promise<ReadResourceResult> {
  const id = decodeComponent(sessionId);
  if (!mayRead(peer, id)) throw missing(uri);
  try {
    const { text } = await claw.op('session.export', { sessionId: id, format: 'markdown' }, peer.caller);
    const cut = text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)}\n\n[cut here: the rest is in TrayClaw]` : text;
    return { contents: [{ uri, mimeType: 'text/markdown', text: cut }] };
  } catch (cause) {
    if (isAppError(cause) && cause.code === 'not_found') throw missing(uri);
    throw cause;
  }
}

const PREFIX = 'trayclaw://sessions/';

export function sessionUri(sessionId: string): string {
  return `${PREFIX}${encodeURIComponent(sessionId)}`;
}

/** The session of a resource address; null if this client may not read it. */
export function readable(peer: Peer, uri: string): string | null {
  const sessionId = uri.startsWith(PREFIX) ? decodeComponent(uri.slice(PREFIX.length)) : '';
  return sessionId !== '' && mayRead(peer, sessionId) ? sessionId : null;
}

function mayRead(peer: Peer, sessionId: string): boolean {
  return peer.may('sessions') || peer.owns(sessionId);
}

export function missing(uri: string): ResourceNotFoundError {
  return new ResourceNotFoundError(uri, `There is no resource ${uri.slice(0, 200)}.`);
}
