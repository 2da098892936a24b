// One HTTP request at a door for other programs: its body with the usual limits, and a reply at once or in pieces.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DoorReply, DoorRequest } from '../../contracts/door-route.ts';
import { discardRest, endOnceRead, sendJson } from './reply.ts';
import { readJsonBody } from './request-body.ts';

/** A caller that does not read is disconnected when this many bytes are waiting for it. */
const BACKLOG_BYTES_MAX = 16 * 1024 * 1024;

export function exchangeOf(
  request: IncomingMessage,
  response: ServerResponse,
  { path, trust }: { readonly path: string; readonly trust: () => void },
): { readonly asked: DoorRequest; readonly reply: DoorReply } {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  response.once('error', () => gone.abort());
  const asked: DoorRequest = {
    method: request.method ?? '',
    path,
    gone: gone.signal,
    trust,
    header: (name) => {
      const values = request.headersDistinct[name] ?? [];
      return values.length === 1 ? values[0] : undefined;
    },
    json: async () => {
      const body = await readJsonBody(request);
      if (!body.ok) throw body.error.error;
      return body.value;
    },
  };
  return { asked, reply: new HttpReply(request, response) };
}

class HttpReply implements DoorReply {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
  }

  get isUnsent(): boolean {
    return !this.#response.headersSent && !this.#response.destroyed;
  }

  send(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    if (!this.isUnsent) return;
    for (const [name, value] of Object.entries(headers)) this.#response.setHeader(name, value);
    discardRest(this.#request, this.#response);
    if (body === undefined) endOnceRead(this.#response.writeHead(status, { 'content-length': 0 }));
    else sendJson(this.#response, status, body);
  }

  begin(mediaType: string, headers: Readonly<Record<string, string>> = {}): void {
    if (!this.isUnsent) return;
    this.#response.writeHead(200, { ...headers, 'content-type': mediaType, 'x-accel-buffering': 'no' });
    this.#response.flushHeaders();
  }

  write(text: string): void {
    if (this.#response.destroyed || this.#response.writableEnded) return;
    this.#response.write(text);
    if (this.#response.writableLength > BACKLOG_BYTES_MAX) this.#response.destroy();
  }

  end(): void {
    if (!this.#response.destroyed) this.#response.end();
  }
}
