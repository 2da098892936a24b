// `trayclaw acp` as a real child process, driven by the client of the protocol's own SDK: a permission and a diff, a cancel, an answer
// given at another door, sessions that are listed and loaded, and an output that contains only the protocol.

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type ClientConnection,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findInstance } from '../../core/doors/http/http.ts';
import { compileCache } from '../compile-cache.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';
import { cliFile } from '../program-file.ts';
import { until } from '../until.ts';

type Answer = (asked: RequestPermissionRequest, signal: AbortSignal) => Promise<RequestPermissionResponse> | RequestPermissionResponse;

const choose = (optionId: string): RequestPermissionResponse => ({ outcome: { outcome: 'selected', optionId } });

class Editor {
  readonly updates: SessionUpdate[] = [];
  readonly asked: RequestPermissionRequest[] = [];
  readonly forms: CreateElicitationRequest[] = [];
  /** Permission requests that the agent withdrew. */
  withdrawn = 0;
  readonly child: ChildProcessWithoutNullStreams;
  readonly connection: ClientConnection;
  stdout = '';

  constructor(home: TestHome, answer: Answer, fill: CreateElicitationResponse) {
    const env = { PATH: process.env['PATH'] ?? '', HOME: home.path, TRAYCLAW_HOME: home.path, ...compileCache };
    this.child = spawn(process.execPath, [cliFile, 'acp'], { env, cwd: home.path });
    const out = new PassThrough();
    this.child.stdout.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.child.stdout.pipe(out);
    const app = client({ name: 'test-editor' })
      .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
        this.asked.push(params);
        signal.addEventListener('abort', () => (this.withdrawn += 1));
        return answer(params, signal);
      })
      .onRequest(methods.client.elicitation.create, ({ params }) => {
        this.forms.push(params);
        return fill;
      })
      .onNotification(methods.client.session.update, ({ params }) => void this.updates.push(params.update));
    this.connection = app.connect(
      ndJsonStream(Writable.toWeb(this.child.stdin) as WritableStream<Uint8Array>, Readable.toWeb(out) as ReadableStream<Uint8Array>),
    );
  }

  async begin(cwd: string): Promise<string> {
    const { agentCapabilities } = await this.connection.agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { elicitation: { form: {} } },
    });
    expect(agentCapabilities?.loadSession).toBe(true);
    return (await this.connection.agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId;
  }

  prompt(sessionId: string, text: string) {
    return this.connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
  }

  said(kind = 'agent_message_chunk'): string {
    return this.updates
      .map((update) =>
        update.sessionUpdate === kind && 'content' in update && !Array.isArray(update.content) && update.content?.type === 'text'
          ? update.content.text
          : '',
      )
      .join('');
  }

  of<K extends SessionUpdate['sessionUpdate']>(kind: K): Extract<SessionUpdate, { sessionUpdate: K }>[] {
    return this.updates.filter((update): update is Extract<SessionUpdate, { sessionUpdate: K }> => update.sessionUpdate === kind);
  }

  async end(): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => this.child.once('close', resolve));
    this.child.stdin.end();
    return ended;
  }
}

let home: TestHome;
let model: ScriptedModel;
let editors: Editor[];

beforeEach(async () => {
  home = new TestHome();
  editors = [];
  model = await ScriptedModel.start([
    {
      user: /write/,
      results: 0,
      answer: {
        reasoning: 'I think.',
        text: 'I write it.',
        calls: [{ tool: 'write_file', args: { path: 'note.txt', content: 'kept\n' } }],
      },
    },
    { user: /write/, results: 1, answer: { text: 'Written.', usage: { input: 90, output: 10 } } },
    { user: /slow/, answer: { text: 'one two three four five six seven', pieceChars: 4, delayMs: 150 } },
    { answer: { text: 'Hello there' } },
  ]);
  home.configure({ ...model.config('openai') });
});
afterEach(async () => {
  for (const { child } of editors) child.kill('SIGKILL');
  await home.dispose();
  await model.close();
});

function open(answer: Answer, fill: CreateElicitationResponse = { action: 'cancel' }): Editor {
  const editor = new Editor(home, answer, fill);
  editors.push(editor);
  return editor;
}

test('a permission, a diff, thoughts, usage; and a session that is listed and loaded', { timeout: 60_000 }, async () => {
  const editor = open(() => choose('once'));
  const sessionId = await editor.begin(home.workspace);
  expect(await editor.prompt(sessionId, 'please write')).toMatchObject({ stopReason: 'end_turn' });
  expect(editor.said()).toBe('I write it.\n\nWritten.');
  expect(editor.said('agent_thought_chunk')).toBe('I think.');
  expect(editor.asked.map(({ options }) => options.map(({ kind }) => kind))[0]).toEqual(
    expect.arrayContaining(['allow_once', 'reject_once']),
  );
  expect(editor.of('tool_call')[0]).toMatchObject({ title: 'write_file: note.txt', kind: 'edit' });
  const contents = editor.of('tool_call_update').flatMap(({ content }) => content ?? []);
  expect(contents).toContainEqual(expect.objectContaining({ type: 'diff', oldText: null, newText: expect.stringContaining('kept') }));
  expect(editor.of('tool_call_update').at(-1)?.status).toBe('completed');
  // The client handles notifications concurrently with answers, not before them.
  await until(() => editor.of('usage_update').length > 0, 'the usage arrives');
  expect(editor.of('usage_update')[0]?.used).toBe(100);
  expect(readFileSync(join(home.workspace, 'note.txt'), 'utf8')).toBe('kept\n');

  const { sessions } = await editor.connection.agent.request(methods.agent.session.list, {});
  expect(sessions.map((one) => one.sessionId)).toContain(sessionId);
  editor.updates.length = 0;
  await editor.connection.agent.request(methods.agent.session.load, { sessionId, cwd: home.workspace, mcpServers: [] });
  await until(() => editor.said() !== '', 'the messages arrive');
  await until(() => editor.said().endsWith('Written.'), 'all of it arrives');
  expect([editor.said('user_message_chunk'), editor.said()]).toEqual(['please write', 'I write it.\n\nWritten.']);
  expect(editor.of('tool_call')).toMatchObject([{ title: 'write_file: note.txt', kind: 'edit' }]);
  expect(editor.of('tool_call_update')).toMatchObject([{ status: 'completed' }]);
  await expect(editor.prompt('ses_none', 'Hi')).rejects.toThrow(/ses_none/);
  expect(await editor.end()).toBe(0);
  // Every line is a protocol message.
  for (const line of editor.stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});

test('a loaded session is whole, however long; a picture needs no text', { timeout: 60_000 }, async () => {
  const claw = await home.open();
  const { sessionId } = await claw.ask('message 0');
  for (let n = 1; n < 60; n++) await claw.ask(`message ${n}`, { sessionId });
  await home.close(claw);
  const editor = open(() => choose('once'));
  await editor.begin(home.workspace);
  await editor.connection.agent.request(methods.agent.session.load, { sessionId, cwd: home.workspace, mcpServers: [] });
  const expected = Array.from({ length: 60 }, (_, n) => `message ${n}`);
  await until(() => editor.of('user_message_chunk').length >= 60, 'all of it arrives');
  expect(editor.of('user_message_chunk').map(({ content }) => (content.type === 'text' ? content.text : ''))).toEqual(expected);
  const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const prompt = { sessionId, prompt: [{ type: 'image' as const, data, mimeType: 'image/png' }] };
  expect(await editor.connection.agent.request(methods.agent.session.prompt, prompt)).toMatchObject({ stopReason: 'end_turn' });
  await expect(editor.prompt(sessionId, ' ')).rejects.toThrow('empty');
});

test('the editor is offered the slash commands, which run without the model and ask like any call', { timeout: 60_000 }, async () => {
  const editor = open(() => choose('once'));
  const sessionId = await editor.begin(home.workspace);
  await until(() => editor.of('available_commands_update').length > 0, 'the commands arrive');
  const offered = new Map(editor.of('available_commands_update')[0]?.availableCommands.map((one) => [one.name, one]));
  expect(offered.get('calc')).toEqual({ name: 'calc', description: 'Calculate.', input: { hint: 'EXPRESSION' } });
  expect(offered.get('compact')).not.toHaveProperty('input');
  // Sessions are listed and begun by the editor itself.
  expect(['new', 'sessions', 'approve'].filter((name) => offered.has(name))).toEqual([]);

  expect(await editor.prompt(sessionId, '/calc 2 * 21')).toEqual({ stopReason: 'end_turn' });
  await until(() => editor.said().includes('42'), 'the result arrives');
  writeFileSync(join(home.workspace, 'old.txt'), 'old');
  expect(await editor.prompt(sessionId, '/run rm old.txt')).toEqual({ stopReason: 'end_turn' });
  expect([editor.asked.length, existsSync(join(home.workspace, 'old.txt'))]).toEqual([1, false]);
  await expect(editor.prompt(sessionId, '/calk 1')).rejects.toThrow(/There is no command \/calk\..*\/calc/s);
  expect(model.requests).toHaveLength(0);
  await editor.prompt(sessionId, '//calc is a command');
  await until(() => editor.said().endsWith('Hello there'), 'the model answers');
  expect(JSON.stringify(model.requests.at(-1))).toContain('/calc is a command');
});

test('a cancel stops the turn, and a denied call is not made', { timeout: 60_000 }, async () => {
  const editor = open(() => choose('deny'));
  const sessionId = await editor.begin(home.workspace);
  const running = editor.prompt(sessionId, 'slow please');
  await until(() => editor.said() !== '', 'the answer streams');
  await editor.connection.agent.notify(methods.agent.session.cancel, { sessionId });
  expect(await running).toMatchObject({ stopReason: 'cancelled' });
  await editor.prompt(sessionId, 'please write');
  expect(editor.of('tool_call_update').at(-1)?.status).toBe('failed');
  expect(existsSync(join(home.workspace, 'note.txt'))).toBe(false);
  editor.updates.length = 0;
  await editor.connection.agent.request(methods.agent.session.load, { sessionId, cwd: home.workspace, mcpServers: [] });
  await until(() => editor.said().endsWith('Written.'), 'the session is told again');
  expect(editor.of('tool_call_update').map(({ status }) => status)).toEqual(['failed']);
});

test('a second prompt is refused while the first is answered, also when both come at once', { timeout: 60_000 }, async () => {
  const editor = open(() => choose('once'));
  const sessionId = await editor.begin(home.workspace);
  const both = await Promise.allSettled([editor.prompt(sessionId, 'slow please'), editor.prompt(sessionId, 'Hi')]);
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(await editor.prompt(sessionId, 'Hi')).toMatchObject({ stopReason: 'end_turn' });
});

test.each([0, 1, 99])('an editor that asks for version %i is told the version there is', { timeout: 60_000 }, async (protocolVersion) => {
  const editor = open(() => choose('once'));
  const { protocolVersion: told } = await editor.connection.agent.request(methods.agent.initialize, {
    protocolVersion,
    clientCapabilities: {},
  });
  expect(told).toBe(PROTOCOL_VERSION);
});

test('an answer at another door withdraws the question in the editor', { timeout: 60_000 }, async () => {
  const serving = await home.serve();
  const editor = open(
    (_asked, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve({ outcome: { outcome: 'cancelled' } }))),
  );
  const sessionId = await editor.begin(home.workspace);
  const running = editor.prompt(sessionId, 'please write');
  await until(() => editor.asked.length > 0, 'the editor is asked');
  // The running instance owns the data folder; the editor's process is its client.
  const instance = await findInstance(home.path);
  expect(instance?.record.pid).toBe(serving.child.pid);
  const { approvals } = (await instance?.claw.op('approval.list', {})) ?? { approvals: [] };
  await instance?.claw.op('approval.decide', { approvalId: approvals[0]?.approvalId ?? '', decision: 'approve' });
  expect(await running).toMatchObject({ stopReason: 'end_turn' });
  expect([editor.withdrawn, editor.said()]).toEqual([1, 'I write it.\n\nWritten.']);
  await instance?.claw.close();
  await editor.end();
  expect(existsSync(join(home.workspace, 'note.txt'))).toBe(true);
});

test('a prompt behind a turn that waits asks about that turn in the editor', { timeout: 60_000 }, async () => {
  const claw = await home.open();
  const { sessionId, status } = await claw.ask('please write');
  expect(status).toBe('waiting');
  await home.close(claw);
  const editor = open(() => choose('once'));
  await editor.begin(home.workspace);
  await editor.connection.agent.request(methods.agent.session.load, { sessionId, cwd: home.workspace, mcpServers: [] });
  expect(await editor.prompt(sessionId, 'Hi')).toMatchObject({ stopReason: 'end_turn' });
  expect([editor.asked.length, existsSync(join(home.workspace, 'note.txt'))]).toEqual([1, true]);
  expect(editor.said()).toContain('Hello there');
});

test('a question of an MCP server is a form in the editor; its answer goes to the server', { timeout: 60_000 }, async () => {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  const script = {
    tools: [{ name: 'ask', description: 'Asks.', inputSchema: { type: 'object' } }],
    results: { ask: { does: 'elicit', params: { mode: 'form', message: 'Which name?', requestedSchema } } },
  };
  // A server may not read the data folder, so the script is outside it.
  const path = join(home.path, '..', 'server.json');
  writeFileSync(path, JSON.stringify(script));
  const args = [fileURLToPath(new URL('../doubles/mcp/stdio-server.mjs', import.meta.url)), path];
  home.configure({ ...model.config('openai'), mcp: { servers: { s: { command: process.execPath, args } } } });
  model.script([
    { user: /ask/, results: 0, answer: { calls: [{ tool: 's__ask', args: {} }] } },
    { answer: ({ toolResults }) => ({ text: toolResults.at(-1)?.text ?? '' }) },
  ]);
  await home.serve();
  const instance = await findInstance(home.path);
  const { server } = (await instance?.claw.op('mcp.test', { name: 's' })) ?? { server: null };
  await instance?.claw.op('mcp.approve', { name: 's', sha256: server?.sha256 ?? '' });
  const editor = open(() => choose('once'), { action: 'accept', content: { name: 'Ada' } });
  const sessionId = await editor.begin(home.workspace);
  expect(await editor.prompt(sessionId, 'please ask')).toMatchObject({ stopReason: 'end_turn' });
  expect(editor.forms).toMatchObject([{ mode: 'form', message: 's: Which name?', requestedSchema }]);
  expect(editor.said()).toContain('{"action":"accept","content":{"name":"Ada"}}');
  await instance?.claw.close();
  await editor.end();
});
