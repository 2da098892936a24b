// The door on standard input and output, for a client that starts this program. It has one client, with the rights of the person who
// started it, or fewer. Only the protocol is written to standard output.

import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../../base/logger.ts';
import type { Claw } from '../../contracts/claw.ts';
import { AppError } from '../../contracts/errors.ts';
import type { Caller } from '../../contracts/ops.ts';
import type { Peer } from './peer.ts';
import { sessionsOf, type SessionNews } from './session-news.ts';

export interface StdioOptions {
  readonly claw: Claw;
  readonly caller: Caller;
  readonly version: string;
  readonly logger: Logger;
  readonly input: Readable;
  readonly output: Writable;
  /** Returns a new id each time. */
  readonly newId: () => string;
  /** Whether the scopes given to this client include it. */
  may(what: string): boolean;
  /** Aborts when the program has to end. */
  readonly ended: AbortSignal;
}

/** Resolves when the client has closed its side, or when `ended` aborts. */
export async function serveOnStdio(options: StdioOptions): Promise<void> {
  const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
  const { createDoorServer } = await import('./door-server.ts');
  const { roundsOf } = await import('./turn-call.ts');
  const { randomBytes } = await import('node:crypto');
  const { claw, version, logger, input, output, ended } = options;
  const gone = new AbortController();
  const peer = peerOf(options, AbortSignal.any([gone.signal, ended]));
  const rounds = roundsOf(randomBytes(32), peer);
  const news = newsOf(claw);
  const handle = serveStdio(({ era }) => createDoorServer({ claw, version, logger, rounds, news }, peer, era === 'modern'), {
    transport: new StdioServerTransport(input, output),
    onerror: (error) => logger.log('warn', 'the MCP client sent an invalid message', { cause: error.message }),
  });
  await new Promise<void>((resolve) => {
    input.once('end', resolve);
    input.once('close', resolve);
    ended.addEventListener('abort', () => resolve(), { once: true });
    if (ended.aborted || input.readableEnded) resolve();
  });
  gone.abort();
  await handle.close();
}

function newsOf(claw: Claw): SessionNews {
  return (listener) => {
    const over = new AbortController();
    void (async () => {
      try {
        for await (const event of claw.events({ after: 'latest', signal: over.signal })) sessionsOf([event]).forEach(listener);
      } catch {
        // The instance ended; the connection ends with it.
      }
    })();
    return () => over.abort();
  };
}

function peerOf(options: StdioOptions, revoked: AbortSignal): Peer {
  const { claw, caller } = options;
  const may = (what: string): boolean => options.may(what);
  const id = options.newId();
  const toolSession = `mcp-${id}`;
  const begun = new Set([toolSession]);
  return {
    caller,
    id,
    toolSession,
    revoked,
    may,
    owns: (sessionId) => begun.has(sessionId),
    submit: async ({ text, sessionId, agentId }) => {
      if (sessionId !== undefined && !begun.has(sessionId) && !may('sessions'))
        throw new AppError('not_found', `There is no session ${sessionId} that this client began.`);
      // A named session must exist, so that a mistyped id does not start a new one.
      if (sessionId !== undefined) await claw.op('session.get', { sessionId, limit: 1 }, caller);
      const place = { ...(sessionId === undefined ? {} : { sessionId }), ...(agentId === undefined ? {} : { agentId }) };
      const started = await claw.op('message.send', { text, ...place }, caller);
      begun.add(started.sessionId);
      return started;
    },
    ownToolSession: () => undefined,
  };
}
