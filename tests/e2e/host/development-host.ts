// The development host over HTTP: the window's files under a strict policy, the ops, the event stream. Loopback only.

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError, toAppError } from '../../../core/contracts/errors.ts';
import { isOpName, opTable, type Caller, type OpName, type OpReply } from '../../../core/contracts/ops.ts';
import { DevelopmentRuntime } from './development-runtime.ts';
import type { DevelopmentHost, HostOptions } from './window-host.ts';

const windowFolder = fileURLToPath(new URL('../../../dist/renderer/', import.meta.url));

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

// Stricter than the window needs to tolerate: no inline style at all.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html dompurify";

export async function startDevelopmentHost(options: HostOptions = {}): Promise<DevelopmentHost> {
  const runtime = new DevelopmentRuntime(options);
  const token = randomBytes(24).toString('base64url');
  const streams = new Set<ServerResponse>();
  const caller: Caller = { channel: 'http', actor: 'window' };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (!url.pathname.startsWith('/api/')) return sendFile(url.pathname, response);
    if (request.headers.authorization !== `Bearer ${token}`) {
      return sendReply(response, 401, { ok: false, error: new AppError('unauthorized', 'The access token is missing or wrong.').toBody() });
    }
    if (url.pathname === '/api/events') return openStream(runtime, url.searchParams.get('after'), response, streams);
    const reply = await runOp(runtime, url.pathname.slice('/api/ops/'.length), await bodyOf(request), caller);
    return sendReply(response, reply.ok ? 200 : 400, reply);
  };

  let server = await listen(answer, 0);
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    for (const stream of streams) stream.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };

  return {
    kind: 'development',
    origin: `http://127.0.0.1:${port}`,
    token,
    readFile: async (path) => runtime.files.get(path) ?? null,
    addUnknownOutcome: () => runtime.addUnknownOutcome(),
    pause: stop,
    resume: async () => {
      server = await listen(answer, port);
    },
    close: async () => {
      runtime.close();
      await stop();
    },
  };
}

type Answerer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

function listen(answer: Answerer, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    answer(request, response).catch((cause: unknown) => {
      sendReply(response, 500, { ok: false, error: toAppError(cause).toBody() });
    });
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

async function runOp(runtime: DevelopmentRuntime, name: string, body: string, caller: Caller): Promise<OpReply> {
  try {
    if (!isOpName(name)) throw new AppError('unknown_op', `There is no operation ${name}.`);
    const params = opTable[name].params.parse(JSON.parse(body));
    // Name, parameters and handler are of one row of the table; the compiler cannot follow the pairing.
    const handler = runtime.handlers[name] as ((params: unknown, caller: Caller) => unknown) | undefined;
    if (handler === undefined) throw new AppError('unknown_op', `The development host does not know ${name}.`);
    return { ok: true, result: checked(name, await handler(params, caller)) };
  } catch (cause) {
    return { ok: false, error: toAppError(cause).toBody() };
  }
}

/** Through the contract's own schema, so that the window never meets a shape the real host could not send. */
function checked(name: OpName, result: unknown): unknown {
  return opTable[name].result.parse(result);
}

function openStream(runtime: DevelopmentRuntime, after: string | null, response: ServerResponse, streams: Set<ServerResponse>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const start = after === 'latest' ? runtime.log.seq : Number(after ?? 0);
  response.write(`id: ${start}\n\n`);
  const send = (event: { readonly seq: number }): void =>
    void response.write(`id: ${event.seq}\nevent: event\ndata: ${JSON.stringify(event)}\n\n`);
  for (const event of runtime.log.events.slice(start)) send(event);
  const stop = runtime.log.listen({
    onEvent: send,
    onDelta: (delta) => void response.write(`event: delta\ndata: ${JSON.stringify(delta)}\n\n`),
  });
  const heartbeat = setInterval(() => response.write(': still here\n\n'), 15_000);
  streams.add(response);
  response.on('close', () => {
    clearInterval(heartbeat);
    streams.delete(response);
    stop();
  });
}

async function sendFile(pathname: string, response: ServerResponse): Promise<void> {
  const name = pathname === '/' ? 'index.html' : pathname.slice(1);
  // Only names the build makes; nothing with a way out of the folder.
  const content =
    /^[\w-]+(?:\/[\w-]+)*\.\w+$/.test(name) || name === 'index.html' ? await readFile(join(windowFolder, name)).catch(() => null) : null;
  if (content === null) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {
    'content-type': mediaTypes[extname(name)] ?? 'application/octet-stream',
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  response.end(content);
}

function sendReply(response: ServerResponse, status: number, reply: OpReply): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(reply));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text === '' ? '{}' : text;
}
