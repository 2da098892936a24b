// An agent that speaks revision 0.3 of the A2A protocol alone, on loopback: the card of that time, and the SDK's own reading of its requests, which
// refuses what is not of that revision. It answers in pieces, each appended to one artifact. For tests only.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TaskState, type Part } from '@a2a-js/sdk';
import { parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  ServerCallContext,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';

export interface EarlierPeer extends AsyncDisposable {
  readonly url: string;
  /** The methods it was asked for, in their order. */
  readonly methods: string[];
}

const textPart = (value: string): Part => ({ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' });

/** Publishes the pieces one after the other, each when `pause` allows it. */
function executorOf(pieces: readonly string[], pause: () => Promise<void>) {
  return {
    execute: async ({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
      const statusOf = (state: TaskState) => ({ state, timestamp: new Date().toISOString(), message: undefined });
      const status = statusOf(TaskState.TASK_STATE_WORKING);
      bus.publish(AgentEvent.task({ id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: undefined }));
      for (const [at, piece] of pieces.entries()) {
        await pause();
        const artifact = { artifactId: 'a', name: '', description: '', parts: [textPart(piece)], metadata: undefined, extensions: [] };
        const place = { taskId, contextId, append: at > 0, lastChunk: at === pieces.length - 1, metadata: undefined };
        bus.publish(AgentEvent.artifactUpdate({ ...place, artifact }));
      }
      const end = statusOf(TaskState.TASK_STATE_COMPLETED);
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: end, metadata: undefined }));
      bus.finished();
    },
    cancelTask: () => Promise.resolve(),
  };
}

/** Refuses every message with these words, as an error of the protocol, if `refusal` is given. */
export async function startEarlierPeer(pieces: readonly string[], pause: () => Promise<void>, refusal?: string): Promise<EarlierPeer> {
  const methods: string[] = [];
  let rpc: LegacyJsonRpcTransportHandler | null = null;
  let card: object = {};
  const server = createServer((request, response) => {
    if (request.url === '/.well-known/agent-card.json') sendJson(response, card);
    else if (rpc === null || request.url !== '/rpc') response.writeHead(404).end();
    else void answer({ rpc, methods, refusal }, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  card = {
    name: 'Earlier agent',
    description: 'An agent of revision 0.3.',
    version: '1.0.0',
    protocolVersion: '0.3.0',
    url: `${url}/rpc`,
    preferredTransport: 'JSONRPC',
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 's', name: 'looks', description: 'Looks things up.', tags: ['x'] }],
  };
  const handler = new DefaultRequestHandler(parseLegacyAgentCard(card), new InMemoryTaskStore(), executorOf(pieces, pause));
  rpc = new LegacyJsonRpcTransportHandler(handler);
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url, methods, [Symbol.asyncDispose]: close };
}

interface Answering {
  readonly rpc: LegacyJsonRpcTransportHandler;
  readonly methods: string[];
  readonly refusal: string | undefined;
}

async function answer({ rpc, methods, refusal }: Answering, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
  methods.push(String(body['method']));
  if (refusal !== undefined) {
    // "UnsupportedOperationError" of the specification.
    sendJson(response, { jsonrpc: '2.0', id: body['id'], error: { code: -32_004, message: refusal } });
    return;
  }
  const result = await rpc.handle(body, new ServerCallContext({ requestedVersion: '0.3' }));
  if (!(Symbol.asyncIterator in result)) {
    sendJson(response, result);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for await (const piece of result) response.write(`data: ${JSON.stringify(piece)}\n\n`);
  response.end();
}

function sendJson(response: ServerResponse, document: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
}
