// `trayclaw mcp serve` as a real child process, driven by the official client in both eras: only the protocol on its output, an approval by
// the person, fewer rights with --scope, exit with its input, and a tool that may not start it.

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Client, ElicitResult, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compileCache } from '../compile-cache.ts';
import { clientOf, textOf } from '../doubles/mcp/mcp-door-rig.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';
import { cliFile } from '../program-file.ts';
import { until } from '../until.ts';

let home: TestHome;
let model: ScriptedModel;
const children: ChildProcessWithoutNullStreams[] = [];

beforeEach(async () => {
  home = new TestHome();
  model = await ScriptedModel.start([{ answer: { text: 'It is 42.' } }]);
  home.configure(model.config('openai'));
});
afterEach(async () => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
  await home.dispose();
  await model.close();
});

/** The two streams of a program as a transport for the official client; one line is one message. */
class LinesTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Everything the program wrote. */
  output = '';
  #rest = '';
  readonly #child: ChildProcessWithoutNullStreams;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
  }

  start(): Promise<void> {
    this.#child.stdout.pipe(new PassThrough()).on('data', (piece: Buffer) => {
      this.output += piece.toString();
      const lines = (this.#rest + piece.toString()).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.onmessage?.(JSON.parse(line) as JSONRPCMessage);
    });
    this.#child.once('exit', () => this.onclose?.());
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#child.stdin.end();
    return Promise.resolve();
  }
}

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcessWithoutNullStreams {
  const all = { PATH: process.env['PATH'] ?? '', HOME: home.path, TRAYCLAW_HOME: home.path, ...compileCache, ...env };
  const child = spawn(process.execPath, [cliFile, 'mcp', 'serve', ...args], { env: all, cwd: home.path });
  children.push(child);
  return child;
}

async function connect(era: 'legacy' | 'modern', args: readonly string[] = [], elicit?: () => ElicitResult) {
  const child = start(args);
  const transport = new LinesTransport(child);
  const client = clientOf(era, elicit);
  await client.connect(transport);
  return { child, client, transport };
}

async function end(client: Client, child: ChildProcessWithoutNullStreams): Promise<number | null> {
  await client.close();
  await until(() => child.exitCode !== null, 'the program ends');
  return child.exitCode;
}

const write = (path: string) => ({ name: 'run_tool', arguments: { tool: 'write_file', arguments: { path, content: 'hi' } } });

test.each(['legacy', 'modern'] as const)('a %s client works over two streams', { timeout: 60_000 }, async (era) => {
  const { child, client, transport } = await connect(era, [], () => ({ action: 'accept', content: { decision: 'approve' } }));
  expect(textOf(await client.callTool({ name: 'calculate', arguments: { expression: '6*7' } }))).toBe('42');
  const answer = await client.callTool({ name: 'ask_agent', arguments: { message: 'What is it?' } });
  expect(textOf(answer)).toContain('It is 42.');
  expect(await client.callTool(write('a.md'))).not.toHaveProperty('isError');
  expect(existsSync(join(home.workspace, 'a.md'))).toBe(true);
  expect((await client.listResources()).resources.length).toBeGreaterThan(0);
  expect(await end(client, child)).toBe(0);
  for (const line of transport.output.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});

test('with --scope a client has fewer rights, and cannot answer for the person', { timeout: 60_000 }, async () => {
  const { child, client } = await connect('modern', ['--scope', 'tools/write_file'], () => {
    throw new Error('it was asked');
  });
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['calculate', 'list_tools', 'run_tool']);
  const stop = new AbortController();
  const call = client.callTool(write('a.md'), { signal: stop.signal, onprogress: () => stop.abort() });
  await expect(call).rejects.toThrow('abort');
  expect(existsSync(join(home.workspace, 'a.md'))).toBe(false);
  expect(await end(client, child)).toBe(0);
});

test.each([
  [['--scope', 'nothing'], {}, 'must be agents, tools'],
  [['--http', '0', '--scope', 'tools'], {}, 'its own token'],
  [['--http', 'x'], {}, 'is not a port'],
  [[], { TRAYCLAW_CALL: 'call_1' }, 'for a person'],
])('mcp serve %j with %j explains why it is refused', { timeout: 60_000 }, async (args, env, words) => {
  const child = start(args, env);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await until(() => child.exitCode !== null, 'it ends');
  expect([out, child.exitCode === 0]).toEqual(['', false]);
  expect(err).toContain(words);
});
