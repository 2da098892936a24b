// Conversations as resources: those that a client started, or all if its scopes include them. Read only.

import { type ListResourcesResult, type McpServer, type ReadResourceResult, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { decodeComponent } from '../../base/decode-component.ts';
import type { Claw } from '../../contracts/claw.ts';
import { isAppError } from '../../contracts/errors.ts';
import type { Peer } from './peer.ts';
import type { SessionNews } from './session-news.ts';

const LISTED_MAX = 200;
const CHARS_MAX = 1_000_000;

export async function listSessions(claw: Claw, peer: Peer): Promise<ListResourcesResult> {
  const { sessions } = await claw.op('session.list', { limit: LISTED_MAX }, peer.caller);
  const resources = sessions
    .filter(({ sessionId }) => mayRead(peer, sessionId))
    .map(({ sessionId, title, updatedAtMs }) => ({
      uri: sessionUri(sessionId),
      name: title === '' ? sessionId : title,
      // Clients show a title rather than a name, and without one the title of the template.
      title: title === '' ? sessionId : title,
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

function missing(uri: string): ResourceNotFoundError {
  return new ResourceNotFoundError(uri, `There is no resource ${uri.slice(0, 200)}.`);
}

// Notifies a client when a conversation that it subscribed to continues. Clients of 2025-11-25 and earlier subscribe with a request, which
// is handled here. Later ones listen to a stream, which the official server manages.

const WATCHED_MAX = 200;

/** `tellsAll` sends every change; the official server knows the subscribers and drops the rest. */
export function watchSessions(server: McpServer, peer: Peer, { news, tellsAll }: { news: SessionNews; tellsAll: boolean }): void {
  const { server: protocol } = server;
  const watched = new Set<string>();
  let stop: (() => void) | null = null;
  const tell = (sessionId: string): void => {
    const uri = sessionUri(sessionId);
    if ((!tellsAll && !watched.has(uri)) || readable(peer, uri) === null) return;
    // A broken connection is handled elsewhere.
    protocol.sendResourceUpdated({ uri }).catch(() => undefined);
  };
  const end = (): void => {
    stop?.();
    stop = null;
  };
  if (tellsAll) stop = news(tell);
  protocol.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    if (readable(peer, uri) === null || watched.size >= WATCHED_MAX) throw missing(uri);
    watched.add(uri);
    stop ??= news(tell);
    return {};
  });
  protocol.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    watched.delete(uri);
    if (watched.size === 0 && !tellsAll) end();
    return {};
  });
  const closed = protocol.onclose;
  // The library has no other way to hear of it.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  protocol.onclose = () => {
    end();
    closed?.();
  };
}
