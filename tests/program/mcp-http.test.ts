// An MCP server at an address, over a strict double of the 2025-11-25 transport: a restart of the server ends its sessions.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { McpRig, toolOf } from '../doubles/mcp/mcp-rig.ts';

class HttpServerDouble {
  /** The number of answered calls. */
  calls = 0;
  readonly #sessions = new Set<string>();
  #begun = 0;
  /** Every session is refused from then on, as by a server behind a faulty load balancer. */
  forgetsAlways = false;
  /** The connection ends in the middle of each call. */
  cutsCalls = false;
  /** Each call gets a stream of events that ends after its first progress. */
  endsStreams = false;
  /** The status and body of the answer to each call. */
  refusesCalls: readonly [number, string] | null = null;
  #server: Server | null = null;

  get begun(): number {
    return this.#begun;
  }

  /** Forgets all sessions, like a restart. */
  forget(): void {
    this.#sessions.clear();
  }

  async start(): Promise<string> {
    const server = createServer((request, response) => void this.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#server = server;
    onTestFinished(() => this.stop());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  }

  stop(): void {
    this.#server?.close().closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number; method: string };
    const session = request.headers['mcp-session-id'];
    const fail = (status: number, message: string): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_001, message } }));
    };
    if (method !== 'initialize' && session === undefined) return fail(400, 'Bad Request: Mcp-Session-Id header is required');
    if (method !== 'initialize' && !this.#sessions.has(String(session))) return fail(404, 'Session not found');
    if (method === 'tools/call' && this.forgetsAlways) return fail(404, 'Session not found');
    if (id === undefined) return void response.writeHead(202).end();
    const result = this.#resultOf(method);
    if (method === 'tools/call' && this.#spoils(request, response)) return;
    const begins = method === 'initialize' ? { 'mcp-session-id': `s${this.#begun}` } : {};
    response.writeHead(200, { 'content-type': 'application/json', ...begins });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }

  /** Ends a call in the way that the test asked for; false if it asked for none. */
  #spoils(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.cutsCalls) request.socket.destroy();
    else if (this.refusesCalls !== null) {
      response.writeHead(this.refusesCalls[0], { 'content-type': 'text/plain' });
      response.end(this.refusesCalls[1]);
    } else if (this.endsStreams) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(': working\n\n');
    } else return false;
    return true;
  }

  #resultOf(method: string): object {
    if (method === 'initialize') {
      this.#sessions.add(`s${++this.#begun}`);
      return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'double', version: '1' } };
    }
    if (method === 'tools/list') return { tools: [toolOf('look')] };
    this.calls += 1;
    return { content: [{ type: 'text', text: `call ${this.calls}` }] };
  }
}

async function open() {
  const double = new HttpServerDouble();
  const rig = new McpRig();
  await rig.open({ web: { url: await double.start() } });
  await rig.approve('web');
  return { double, rig };
}

test('an unknown session is replaced by a new one, and the call runs once', async () => {
  const { double, rig } = await open();
  expect(await rig.call('web__look', {})).toMatchObject({ outcome: 'ok' });
  double.forget();
  expect(await rig.call('web__look', {})).toMatchObject({ outcome: 'ok' });
  expect([double.begun, double.calls]).toEqual([2, 2]);
});

test('a server that rejects every session gets the call twice, then the error is shown', async () => {
  const { double, rig } = await open();
  double.forgetsAlways = true;
  expect(await rig.call('web__look', {})).toMatchObject({
    outcome: 'error',
    forUser: expect.stringMatching(/Session not found/) as string,
  });
  expect([double.begun, double.calls]).toEqual([2, 0]);
});

test('a call whose connection was lost has an unknown outcome; one that was not sent has none', async () => {
  const { double, rig } = await open();
  double.cutsCalls = true;
  expect(await rig.call('web__look', {})).toMatchObject({
    outcome: 'unknown',
    forModel: expect.stringMatching(/may have done .* Look before/) as string,
  });
  const { outcomes } = await rig.claw.op('outcome.list', {});
  expect(outcomes).toMatchObject([{ tool: 'web__look', args: '{}', reported: true }]);
  const [{ callId } = { callId: '' }] = outcomes;
  await expect(rig.claw.op('outcome.settle', { callId, answer: 'retry' })).rejects.toMatchObject({ code: 'turn_not_running' });
  await rig.claw.op('outcome.settle', { callId, answer: 'done' });
  expect((await rig.claw.op('outcome.list', {})).outcomes).toEqual([]);
  double.stop();
  const { outcome, forModel } = await rig.call('web__look', {});
  expect([outcome, forModel]).toEqual(['error', expect.stringMatching(/^Nothing answers at http.*\nStart the server/) as string]);
  expect(double.calls).toBe(1);
});

test('a stream of events that ends in mid-call is an unknown outcome at once', async () => {
  const { double, rig } = await open();
  double.endsStreams = true;
  expect(await rig.call('web__look', {})).toMatchObject({
    outcome: 'unknown',
    forModel: expect.stringMatching(/may have done .* Look before/) as string,
  });
});

test('a refused call says what the server said, without words of the client', async () => {
  const { double, rig } = await open();
  double.refusesCalls = [503, 'Try later'];
  const failed = 'The MCP server web failed: it answered with HTTP';
  expect(await rig.call('web__look', {})).toMatchObject({ outcome: 'error', forModel: `${failed} 503: Try later.` });
  double.refusesCalls = [500, '{"error":{"message":"No disk left."}}'];
  expect(await rig.call('web__look', {})).toMatchObject({ outcome: 'error', forModel: `${failed} 500: No disk left.` });
});

test('the error about a server that is not running names its address and the next step', async () => {
  const rig = new McpRig();
  const url = `http://127.0.0.1:${await freePort()}/mcp`;
  const claw = await rig.open({ web: { url } });
  await expect(claw.op('mcp.test', { name: 'web' })).rejects.toMatchObject({
    message: `Nothing answers at ${url} (the MCP server web).`,
    hint: expect.stringContaining('trayclaw mcp add web --url ADDRESS --replace') as string,
  });
  await expect(claw.op('mcp.login', { name: 'web' })).rejects.toMatchObject({ message: `Nothing answers at ${url} (the MCP server web).` });
  // fetch refuses this port itself, and only the cause of its error says so.
  const other = await rig.open({ web: { url: 'http://127.0.0.1:9/mcp' } });
  await expect(other.op('mcp.test', { name: 'web' })).rejects.toMatchObject({ message: expect.stringMatching(/: bad port\.$/) as string });
});

test('a page, a late server and one that ended have different messages', async () => {
  const answers: Record<string, (response: ServerResponse) => unknown> = {
    page: (response) => response.setHeader('content-type', 'text/html').end('<h1>Welcome</h1>'),
    other: (response) => response.setHeader('content-type', 'application/json').end('{"hello":1}'),
    missing: (response) => response.writeHead(404).end(),
    broken: (response) => response.writeHead(500).end(),
    moved: (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    late: () => undefined,
  };
  const http = createServer(({ url = '' }, response) => void answers[url.slice(1)]?.(response));
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const urlOf = (name: string): string => `http://127.0.0.1:${(http.address() as AddressInfo).port}/${name}`;
  const web = Object.fromEntries(Object.keys(answers).map((name) => [name, { url: urlOf(name), startMs: 3_000 }]));
  const claw = await new McpRig().open({ ...web, ended: { command: '/bin/false' } });
  const said = (name: string): Promise<string> =>
    claw.op('mcp.test', { name }).then(
      () => 'it works',
      (cause: unknown) => (cause as Error).message,
    );
  const place = (name: string): string => `${urlOf(name)} (the MCP server ${name})`;
  for (const name of ['page', 'other']) expect(await said(name)).toBe(`What answers at ${place(name)} is not an MCP server.`);
  expect(await said('missing')).toBe(`There is no MCP server at ${place('missing')}: HTTP 404.`);
  expect(await said('broken')).toBe(`${place('broken')} answered with HTTP 500.`);
  expect(await said('moved')).toBe(`${place('moved')} leads to another address, which is not followed (HTTP 302).`);
  expect(await said('late')).toBe(`${place('late')} did not answer in time.`);
  expect(await said('ended')).toBe('The MCP server ended ended before it answered.');
});

test('a program that breaks as it starts is quoted with its error, not with the frames of its stack, and the next step is named', async () => {
  const claw = await new McpRig().open({ broken: { command: process.execPath, args: ['-e', "require('/none.cjs')"] } });
  await expect(claw.op('mcp.test', { name: 'broken' })).rejects.toMatchObject({
    message: expect.stringMatching(/It wrote: .*Error: Cannot find module '\/none\.cjs'(?!.* \| at )/) as string,
    hint: expect.stringMatching(/in a terminal.*mcp\.servers\.broken\.startMs/) as string,
  });
});
