// A scripted model server without think time, in a separate process on 127.0.0.1. An address names a lane (one measured subject), its
// script and its tool: /LANE/CALLS/TOOL/v1/chat/completions or …/v1/messages answers with CALLS tool calls, one per request, then text.
// With the prefix /every-MS, a stream sends one event every MS milliseconds. Keeps the request bodies of each lane's last complete turn for
// the replay. Prints its port; exits when its standard input closes.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { replyBytes, type ToolName, type WireFormat } from './replies.ts';

export interface RecordedCall {
  readonly path: string;
  readonly streams: boolean;
  readonly body: string;
}

interface Lane {
  step: number;
  requests: number;
  turn: RecordedCall[];
  lastTurn: readonly RecordedCall[];
}

const lanePattern = /^(?:\/every-(\d+))?\/([\w.-]+)\/(\d+)\/(lookup|list_dir)\/v1\/(chat\/completions|messages)$/;
const controlPattern = /^\/control\/([\w.-]+)$/;
const lanes = new Map<string, Lane>();
let replies = 0;

function laneNamed(name: string): Lane {
  const known = lanes.get(name);
  if (known !== undefined) return known;
  const lane: Lane = { step: 0, requests: 0, turn: [], lastTurn: [] };
  lanes.set(name, lane);
  return lane;
}

function answer(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const path = request.url ?? '';
  const control = controlPattern.exec(path)?.[1];
  if (control !== undefined) {
    const { requests, lastTurn } = laneNamed(control);
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ requests, lastTurn }));
    return;
  }
  const [, everyMs, name, calls, tool, endpoint] = lanePattern.exec(path) ?? [];
  if (name === undefined) {
    response.writeHead(404).end('{"error":{"message":"no such path"}}');
    return;
  }
  const lane = laneNamed(name);
  const streams = body.includes('"stream":true');
  lane.requests += 1;
  // A request that offers no tools asks for a summary and is not a step of a turn.
  const isBeside = Number(calls) > 0 && !body.includes('"tools":[');
  const isLast = isBeside || lane.step >= Number(calls);
  if (!isBeside) recordStep(lane, { path, streams, body: body.toString('utf8') }, isLast);
  const format: WireFormat = endpoint === 'messages' ? 'anthropic' : 'chat';
  replies += 1;
  response.setHeader('content-type', streams ? 'text/event-stream' : 'application/json');
  const bytes = replyBytes(format, { tool: isLast ? null : (tool as ToolName), number: replies, streams });
  if (everyMs === undefined) response.end(bytes);
  else sendPaced(response, bytes.split(/(?<=\n\n)/), Number(everyMs));
}

function sendPaced(response: ServerResponse, events: readonly string[], everyMs: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    response.write(events[sent] ?? '');
    sent += 1;
    if (sent < events.length) return;
    clearInterval(timer);
    response.end();
  }, everyMs);
}

function recordStep(lane: Lane, call: RecordedCall, isLast: boolean): void {
  if (lane.step === 0) lane.turn = [];
  lane.turn.push(call);
  lane.step = isLast ? 0 : lane.step + 1;
  if (isLast) lane.lastTurn = lane.turn;
}

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    answer(request, response, Buffer.concat(parts));
  });
});
Object.assign(server, { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0, timeout: 0, maxRequestsPerSocket: 0 });
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' && address !== null ? address.port : 0}\n`);
});
process.stdin.on('end', () => process.exit(0)).resume();
