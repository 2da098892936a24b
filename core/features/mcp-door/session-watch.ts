// Notifies a client when a conversation that it subscribed to continues. Clients of 2025-11-25 and earlier subscribe with a request, which
// is handled here. Later ones listen to a stream, which the official server manages.

import type { McpServer } from '@modelcontextprotocol/server';
import type { Peer } from './peer.ts';
import type { SessionNews } from './session-news.ts';
import { missing, readable, sessionUri } from './session-resources.ts';

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
