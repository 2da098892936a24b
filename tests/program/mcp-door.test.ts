// The door for MCP clients, with the official client in both eras: what each scope permits, approvals by the client's person, approvals at
// other doors, cancelling, and a token that is revoked during a request.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { silentLogger } from '../../core/base/logger.ts';
import { serveOnStdio } from '../../core/features/mcp-door/mcp-door.ts';
import type { TrayClaw } from '../../core/index.ts';
import { McpDoorRig, textOf } from '../doubles/mcp/mcp-door-rig.ts';
import { until } from '../until.ts';

const eras = ['legacy', 'modern'] as const;
const write = (path: string) => ({ tool: 'write_file', arguments: { path, content: 'hi' } });
const yes = { action: 'accept' as const, content: { decision: 'approve' } };

test.each(eras)('a %s client asks, calculates and reads its own conversation', async (era) => {
  const rig = await McpDoorRig.forTest([{ answer: { text: 'It is 42.' } }]);
  const { key } = await rig.token(['agents']);
  const { client } = await rig.connect(key, era);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['ask_agent', 'calculate']);
  expect(textOf(await client.callTool({ name: 'calculate', arguments: { expression: '6*7' } }))).toBe('42');
  const answer = await client.callTool({ name: 'ask_agent', arguments: { message: 'What is it?' } });
  const { text, sessionId } = answer.structuredContent as { text: string; sessionId: string };
  expect([answer.isError, text]).toEqual([undefined, 'It is 42.']);
  const again = await client.callTool({ name: 'ask_agent', arguments: { message: 'And again?', session: sessionId } });
  expect((again.structuredContent as { sessionId: string }).sessionId).toBe(sessionId);
  const { resources } = await client.listResources();
  const uri = `trayclaw://sessions/${sessionId}`;
  expect(resources.find((one) => one.uri === uri)).toMatchObject({ name: 'What is it?', title: 'What is it?' });
  const { contents } = await client.readResource({ uri });
  expect(JSON.stringify(contents)).toContain('It is 42.');
  expect((await rig.claw.op('session.get', { sessionId, limit: 1 })).session.channel).toBe('mcp');

  // It receives updates about that conversation, and about no other.
  const told: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri));
  const { sessionId: other } = await rig.claw.ask('Of another door');
  const foreign = `trayclaw://sessions/${other}`;
  if (era === 'legacy') {
    await client.subscribeResource({ uri });
    await expect(client.subscribeResource({ uri: foreign })).rejects.toThrow(/no resource/);
  } else await client.listen({ resourceSubscriptions: [uri, foreign] });
  await rig.claw.ask('And there', { sessionId: other });
  await client.callTool({ name: 'ask_agent', arguments: { message: 'Once more', session: sessionId } });
  await until(() => told.length >= 2, 'the client is told');
  expect(new Set(told)).toEqual(new Set([uri]));
});

test.each(eras)('a %s client with the approvals scope is asked, and its answer decides', async (era) => {
  const rig = await McpDoorRig.forTest();
  const { key } = await rig.token(['tools', 'approvals']);
  let answer: object = yes;
  const { client, asked } = await rig.connect(key, era, () => answer as typeof yes);
  const file = join(rig.home.workspace, 'a.md');
  const done = await client.callTool({ name: 'run_tool', arguments: write('a.md') });
  expect([done.isError, existsSync(file), asked.length]).toEqual([undefined, true, 1]);
  expect(asked[0]?.message).toMatch(/a\.md[^]*Risk: [^]*Why it is asked: [^]*Writes: [^]*write_file \{"path":"a\.md"/);
  for (const no of [{ action: 'decline' }, { action: 'accept', content: { decision: 'deny' } }]) {
    answer = no;
    const refused = await client.callTool({ name: 'run_tool', arguments: write('b.md') });
    expect([refused.isError, existsSync(join(rig.home.workspace, 'b.md'))]).toEqual([true, false]);
  }
  const { grants } = await rig.claw.op('grant.list', {});
  expect(grants.filter(({ scope }) => scope.kind !== 'once')).toEqual([]);
});

test.each([
  ['legacy', ['tools'], true],
  ['modern', ['tools'], true],
  ['modern', ['all'], true],
  ['modern', ['all', 'approvals'], false],
] as const)('a %s client with %j that may not or cannot ask is held until another door answers', async (era, scopes, canAsk) => {
  const rig = await McpDoorRig.forTest();
  const { key } = await rig.token(scopes);
  const { client, asked } = await rig.connect(key, era, canAsk ? () => yes : undefined);
  const notes: string[] = [];
  const call = client.callTool(
    { name: 'run_tool', arguments: write('a.md') },
    { onprogress: ({ message = '' }) => void notes.push(message) },
  );
  const approvalId = await rig.pending();
  await until(() => notes.some((note) => note.startsWith('waiting for approval')), 'the client hears of it');
  await rig.claw.op('approval.decide', { approvalId, decision: 'approve' });
  expect([(await call).isError, asked, existsSync(join(rig.home.workspace, 'a.md'))]).toEqual([undefined, [], true]);
});

test.each(eras)('an unclear answer of a %s client approves nothing; other doors can still decide', async (era) => {
  const rig = await McpDoorRig.forTest();
  const { key } = await rig.token(['tools', 'approvals']);
  const { client } = await rig.connect(key, era, () => ({ action: 'cancel' }));
  const call = client.callTool({ name: 'run_tool', arguments: write('a.md') });
  const approvalId = await rig.pending();
  await rig.claw.op('approval.decide', { approvalId, decision: 'deny' });
  expect([(await call).isError, existsSync(join(rig.home.workspace, 'a.md'))]).toEqual([true, false]);
});

test.each(eras)('a %s client behind a turn that waits is asked about that turn', async (era) => {
  const rig = await McpDoorRig.forTest([
    { user: 'write', results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'a.md', content: 'a' } }] } },
    { user: 'write', answer: { text: 'Written.' } },
    { answer: { text: 'Next.' } },
  ]);
  const { key } = await rig.token(['agents', 'approvals']);
  const { client: first } = await rig.connect(key, era);
  const writing = first.callTool({ name: 'ask_agent', arguments: { message: 'write' } });
  await rig.pending();
  const sessionId = (await rig.claw.op('approval.list', {})).approvals[0]?.sessionId ?? '';
  const { client, asked } = await rig.connect(key, era, () => yes);
  const answer = await client.callTool({ name: 'ask_agent', arguments: { message: 'And then?', session: sessionId } });
  expect([(answer.structuredContent as { text: string }).text, asked.length]).toEqual(['Next.', 1]);
  expect((await writing).structuredContent).toMatchObject({ text: 'Written.' });
});

test('each scope permits exactly what it names', async () => {
  const rig = await McpDoorRig.forTest([{ answer: { text: 'Hi.' } }]);
  const other = await rig.claw.op('session.create', { title: 'private' });
  const offered = async (scope: string) => {
    const { key } = await rig.token([scope]);
    const { client } = await rig.connect(key, 'modern');
    const tools = (await client.listTools()).tools.map(({ name }) => name);
    const { resources } = await client.listResources();
    return [tools.filter((name) => name !== 'calculate'), resources.some(({ uri }) => uri.endsWith(other.sessionId))];
  };
  expect(await offered('agents')).toEqual([['ask_agent'], false]);
  expect(await offered('trayclaw/main')).toEqual([['ask_agent'], false]);
  expect(await offered('trayclaw/nobody')).toEqual([[], false]);
  expect(await offered('tools')).toEqual([['list_tools', 'run_tool'], false]);
  expect(await offered('memory')).toEqual([['search_memory'], false]);
  expect(await offered('documents')).toEqual([['search_documents'], false]);
  expect(await offered('sessions')).toEqual([[], true]);
  expect(await offered('approvals')).toEqual([[], false]);
  expect(await offered('all')).toEqual([['ask_agent', 'list_tools', 'run_tool', 'search_memory', 'search_documents'], true]);
});

test('what a client may not use is answered as if it did not exist', async () => {
  const rig = await McpDoorRig.forTest([{ answer: { text: 'Hi.' } }]);
  const other = await rig.claw.op('session.create', { title: 'private' });
  const { key } = await rig.token(['trayclaw/main', 'tools/read_file']);
  const { client } = await rig.connect(key, 'modern');
  const fails = async (name: string, given: Record<string, unknown>): Promise<string> => {
    const result = await client.callTool({ name, arguments: given });
    expect(result.isError).toBe(true);
    return textOf(result);
  };
  expect(await fails('run_tool', write('a.md'))).toContain('no tool called write_file');
  expect(await fails('run_tool', { tool: 'nothing', arguments: {} })).toContain('no tool called nothing');
  expect(await fails('ask_agent', { message: 'Hi', agent: 'nobody' })).toContain('no agent nobody');
  expect(await fails('ask_agent', { message: 'Hi', agent: 'main', session: other.sessionId })).toContain('no session');
  expect(await fails('ask_agent', { message: 'Hi', agent: 'main', session: 'ses_nothing' })).toContain('no session');
  await expect(client.readResource({ uri: `trayclaw://sessions/${other.sessionId}` })).rejects.toThrow('There is no resource');
  for (const uri of ['trayclaw://sessions/ses_nothing', 'trayclaw://sessions/%'])
    await expect(client.readResource({ uri })).rejects.toThrow('There is no resource');
  expect(rig.model.requests).toEqual([]);
});

test.each(eras)('cancelling a request of a %s client ends its turn', async (era) => {
  const rig = await McpDoorRig.forTest([
    { answer: { text: 'some words here', pieceChars: 4, trouble: { kind: 'stall', afterFrames: 2 } } },
  ]);
  const { key } = await rig.token(['all']);
  const { client } = await rig.connect(key, era);
  const stop = new AbortController();
  const call = client.callTool({ name: 'ask_agent', arguments: { message: 'Hi' } }, { signal: stop.signal });
  await until(() => rig.model.requests.length > 0, 'the model is asked');
  stop.abort();
  await expect(call).rejects.toThrow('abort');
  await until(async () => (await rig.claw.op('session.list', {})).sessions[0]?.status === 'cancelled', 'the turn is cancelled');
});

test('two equal calls at once are two turns, and cancelling one leaves the other', async () => {
  const rig = await McpDoorRig.forTest([], { policy: { allowCommands: ['sleep 1'] } });
  const [input, output, ended] = [new PassThrough(), new PassThrough(), new AbortController()];
  const [replies, begun, both] = [new Map<number, { result?: { isError?: boolean } }>(), new Set<object>(), Promise.withResolvers<void>()];
  output.on('data', (line: Buffer) => {
    const reply = JSON.parse(line.toString()) as { id: number; result?: object };
    replies.set(reply.id, reply);
  });
  // As through the connection to another process: both requests follow the log before either call starts.
  const op: typeof rig.claw.op = async (name, params, caller) => {
    if (name === 'tool.run' && begun.add(params).size === 2) both.resolve();
    if (name === 'tool.run') await both.promise;
    return rig.claw.op(name, params, caller);
  };
  const claw = Object.assign(Object.create(rig.claw) as TrayClaw, {
    op,
    events: (query: Parameters<TrayClaw['events']>[0]) => rig.claw.events(query),
  });
  const own = {
    caller: { channel: 'cli', actor: 'ada' } as const,
    version: '1',
    logger: silentLogger,
    newId: () => 'client',
    may: () => true,
  };
  const serving = serveOnStdio({ claw, input, output, ended: ended.signal, ...own });
  const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'x', version: '1' };
  send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
  await until(() => replies.has(0), 'the server answers');
  send({ method: 'notifications/initialized' });
  const params = { name: 'run_tool', arguments: { tool: 'exec', arguments: { command: 'sleep 1' } } };
  for (const id of [1, 2]) send({ id, method: 'tools/call', params });
  const running = async (): Promise<number> => (await rig.claw.op('running.list', {})).turns.length;
  await until(async () => (await running()) === 2, 'both calls run');
  send({ method: 'notifications/cancelled', params: { requestId: 2 } });
  await until(() => replies.has(1), 'the first call ends');
  expect(replies.get(1)?.result?.isError).toBeUndefined();
  ended.abort();
  await serving;
});

test.each(eras)("a revoked token ends a %s client's running request and permits nothing more", async (era) => {
  const rig = await McpDoorRig.forTest([
    { answer: { text: 'some words here', pieceChars: 4, trouble: { kind: 'stall', afterFrames: 2 } } },
  ]);
  const { key, name } = await rig.token(['all']);
  const { client } = await rig.connect(key, era);
  const call = client.callTool({ name: 'ask_agent', arguments: { message: 'Hi' } }).then(
    (result) => result.isError,
    () => 'failed',
  );
  await until(() => rig.model.requests.length > 0, 'the model is asked');
  await rig.claw.op('door.revoke_token', { token: name });
  await until(async () => (await rig.claw.op('session.list', {})).sessions[0]?.status === 'cancelled', 'the turn is cancelled');
  await expect(client.listTools()).rejects.toThrow(/unauthori[sz]ed|token|401/i);
  await client.close();
  expect([true, 'failed']).toContain(await call);
});

test('a client cannot see the session of another', async () => {
  const rig = await McpDoorRig.forTest();
  const first = await rig.token(['all']);
  const second = await rig.token(['all']);
  const send = (key: string, method: string, body: object, session?: string): Promise<Response> =>
    fetch(rig.url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: body }),
    });
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const opened = await send(first.key, 'initialize', hello);
  const session = opened.headers.get('mcp-session-id') ?? '';
  await opened.text();
  expect(session.length).toBeGreaterThan(20);
  expect((await send(second.key, 'tools/list', {}, session)).status).toBe(404);
  const unknown = await send(first.key, 'tools/list', {}, 'made-up');
  expect(unknown.status).toBe(404);
  // The protocol's schema omits the id if it is unknown; null is not a valid id.
  expect(Object.keys((await unknown.json()) as object)).toEqual(['jsonrpc', 'error']);
  const own = await send(first.key, 'tools/list', {}, session);
  expect([own.status, (await own.text()).includes('ask_agent')]).toEqual([200, true]);
});

test.each(eras)('a %s client cannot approve a call that it does not show in full', async (era) => {
  const rig = await McpDoorRig.forTest();
  const { key } = await rig.token(['tools', 'approvals']);
  const { client, asked } = await rig.connect(key, era, () => yes);
  const long = { tool: 'write_file', arguments: { path: 'long.md', content: 'x'.repeat(20_000) } };
  const stop = new AbortController();
  const call = client.callTool({ name: 'run_tool', arguments: long }, { signal: stop.signal }).catch(() => null);
  await until(() => asked.length > 0, 'the client is asked');
  const offered = JSON.stringify(asked[0]);
  expect([offered.includes('more characters do not fit here'), offered.includes('"approve"')]).toEqual([true, false]);
  await until(async () => (await rig.claw.op('approval.list', {})).approvals.length > 0, 'the approval is still open');
  expect(existsSync(join(rig.home.workspace, 'long.md'))).toBe(false);
  const [approval] = (await rig.claw.op('approval.list', {})).approvals;
  await rig.claw.op('approval.decide', { approvalId: approval?.approvalId ?? '', decision: 'approve' });
  await call;
  expect(existsSync(join(rig.home.workspace, 'long.md'))).toBe(true);
});

test('state that a client carries between rounds is sealed for that client', async () => {
  const rig = await McpDoorRig.forTest();
  const [first, second] = [await rig.token(['tools', 'approvals']), await rig.token(['tools', 'approvals'])];
  const send = async (
    key: string,
    more: object,
  ): Promise<{ result?: { requestState?: string; resultType?: string }; error?: { code: number } }> => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    };
    const params = { _meta: meta, name: 'run_tool', arguments: write('a.md'), ...more };
    const response = await fetch(rig.url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'run_tool',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    const said = await response.text();
    return JSON.parse(/^data: (\{.*)$/m.exec(said)?.[1] ?? said) as { error?: { code: number } };
  };
  const asked = await send(first.key, {});
  const state = asked.result?.requestState ?? '';
  expect(asked.result?.resultType).toBe('input_required');
  const answered = { inputResponses: { approval: yes } };
  const changed = `${state.slice(0, -2)}${state.endsWith('AA') ? 'BB' : 'AA'}`;
  for (const requestState of [changed, 'x']) expect((await send(first.key, { ...answered, requestState })).error?.code).toBe(-32_602);
  expect((await send(second.key, { ...answered, requestState: state })).error?.code).toBe(-32_602);
  expect(existsSync(join(rig.home.workspace, 'a.md'))).toBe(false);
  expect((await send(first.key, { ...answered, requestState: state })).result?.resultType).not.toBe('input_required');
  expect(existsSync(join(rig.home.workspace, 'a.md'))).toBe(true);
});
