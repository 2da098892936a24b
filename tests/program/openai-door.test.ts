// The door for programs, rule by rule: what requests may contain, which session they reach, approvals during a request, budgets,
// revocation, and that the two modes never mix.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OpenAiDoorRig } from '../doubles/openai-door.ts';
import { until } from '../until.ts';

let rig: OpenAiDoorRig;
const pass = 'passthrough/lab/scripted';

beforeAll(async () => {
  rig = await OpenAiDoorRig.start(
    [
      { user: /write/, results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'note.txt', content: 'kept' } }] } },
      { user: /write/, results: 1, answer: { text: 'Written.' } },
      { user: /steps/, results: 0, answer: { text: 'Let me see.', calls: [{ tool: 'calc', args: { expression: '1+1' } }] } },
      { user: /steps/, results: 1, answer: { text: 'It is 2.' } },
      { user: /too long/, answer: { text: 'one two', finish: 'length' } },
      { user: /a town/, answer: { text: '{"city":"Oslo"}' } },
      { user: /breaks/, answer: { text: 'one two three', pieceChars: 4, trouble: { kind: 'error', afterFrames: 2 } } },
      { user: /hang/, answer: { text: 'one two three four five', pieceChars: 4, delayMs: 200 } },
      {
        when: ({ userText }) => userText.includes('count'),
        answer: ({ body }) => ({ text: `${(body['messages'] as unknown[]).length} messages` }),
      },
      { answer: { text: 'Hello', usage: { input: 1_000_000, output: 0 } } },
    ],
    {
      models: { default: 'lab/scripted', retries: 0 },
      doors: { openai: { approvalSeconds: 1 } },
    },
  );
});
afterAll(() => rig.dispose());

const say = (content: string, more: object = {}) => ({ model: 'trayclaw', messages: [{ role: 'user', content }], ...more });
const chat = (body: unknown, headers = {}): Promise<Response> => rig.send('/v1/chat/completions', body, headers);
const textOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { choices: { message: { content: string } }[] }).choices[0]?.message.content ?? '';
const countOf = async (response: Response): Promise<number> => parseInt(await textOf(response), 10);
const errorOf = async (response: Response): Promise<{ status: number; code: string; param: string | null; message: string }> => {
  const { error } = (await response.json()) as { error: { code: string; param: string | null; message: string } };
  return { status: response.status, ...error };
};

test.each<[string, unknown, string]>([
  ['no JSON', '{"model":', ''],
  ['a list', [], ''],
  ['no model', { messages: [] }, 'model'],
  ['no messages', say('', { messages: [] }), 'messages'],
  ['an unknown role', say('', { messages: [{ role: 'boss', content: 'Hi' }] }), 'messages[0].role'],
  ['an empty message', say(' '), 'messages'],
  ['an answer last', say('', { messages: [{ role: 'assistant', content: 'Hi' }] }), 'messages'],
  ['the tools of the program', say('Hi', { tools: [{ type: 'function', function: { name: 'f' } }] }), 'tools'],
  ['two answers', say('Hi', { n: 2 }), 'n'],
  ['stop words', say('Hi', { stop: ['x'] }), 'stop'],
  [
    'an image from the web',
    say('', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://a/b.png' } }] }] }),
    'messages[0].content',
  ],
  [
    'an image that is none',
    say('', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }] }),
    'messages[0].content',
  ],
  ['a forced tool', { ...say('Hi'), model: pass, tool_choice: 'required' }, 'tool_choice'],
  ['a result without its call', { model: pass, messages: [{ role: 'tool', tool_call_id: 'c', content: 'x' }] }, 'messages[0]'],
])('%s is refused with 400 and its field', async (_what, body, param) => {
  const before = rig.model.requests.length;
  const error = await errorOf(await chat(body));
  expect(error).toMatchObject({ status: 400, ...(param === '' ? {} : { param }) });
  expect(rig.model.requests.length).toBe(before);
});

test.each<[string, unknown, string, string]>([
  [
    'a file',
    [
      { type: 'text', text: 'Hi' },
      { type: 'file', file: {} },
    ],
    'messages[0].content[1].type',
    'type must be one of text',
  ],
  ['a text without its text', [{ type: 'text' }], 'messages[0].content[0].text', 'text is missing (it must be text)'],
  ['a number', 7, 'messages[0].content', 'content must be text, not a number'],
])('%s as content is refused with the place of it and the reason', async (_what, content, param, reason) => {
  const error = await errorOf(await chat(say('', { messages: [{ role: 'user', content }] })));
  expect(error).toMatchObject({ status: 400, param, message: expect.stringContaining(reason) });
});

test.each([
  ['GET', '/v1/chat/completions', 'POST'],
  ['PUT', '/v1/responses', 'POST'],
  ['POST', '/v1/models', 'GET'],
  ['DELETE', '/v1/models/trayclaw', 'GET'],
])('%s %s is refused with the method it takes', async (method, path, allow) => {
  const response = await fetch(`http://127.0.0.1:${rig.port}${path}`, { method, headers: { authorization: `Bearer ${rig.key}` } });
  expect(response.headers.get('allow')).toBe(allow);
  expect(await errorOf(response)).toMatchObject({ status: 405, code: 'method_not_supported', param: null });
});

test('a HEAD of the models is a GET without its body; a body that is a list has no field', async () => {
  const models = { method: 'HEAD', headers: { authorization: `Bearer ${rig.key}` } };
  expect((await fetch(`http://127.0.0.1:${rig.port}/v1/models`, models)).status).toBe(200);
  expect((await errorOf(await chat([]))).param).toBeNull();
});

test.each([
  [{ messages: [] }, 'messages', 'messages must not be empty'],
  [{ messages: undefined }, 'messages', 'messages is missing (it must be a list)'],
  [{ messages: [{ role: 'critic', content: 'x' }] }, 'messages[0].role', 'messages.0.role must be one of'],
  [{ stream: 'yes' }, 'stream', 'stream must be true or false, not text'],
])('a request that is not valid is refused in plain words: %j', async (wrong, param, words) => {
  const error = await errorOf(await chat(say('Hi', wrong)));
  expect(error).toMatchObject({ status: 400, param, message: expect.stringContaining(words) as string });
});

test('stop words are refused with the reason', async () => {
  expect((await errorOf(await chat(say('Hi', { stop: ['x'] })))).message).toContain('stop words are not passed on');
});

test('a session is continued by its name, and only with the token that started it', async () => {
  const headers = { 'x-trayclaw-session': 'my-chat' };
  const first = await chat(say('count'), headers);
  const session = first.headers.get('x-trayclaw-session') ?? '';
  expect(session).toMatch(/^api_dtk_[^_]+_my-chat$/);
  const counted = await countOf(first);
  expect(await countOf(await chat(say('count'), headers))).toBe(counted + 2);
  expect(await countOf(await chat(say('count'), { 'x-trayclaw-session': session }))).toBe(counted + 4);
  const { key, tokenId } = await rig.token({ name: 'other' });
  const { sessionId } = await rig.claw.op('session.create', { title: 'private' });
  for (const name of ['my-chat', session, sessionId]) {
    const own = await chat(say('count'), { 'x-trayclaw-session': name, authorization: `Bearer ${key}` });
    expect(own.headers.get('x-trayclaw-session')).toBe(`api_${tokenId}_${name}`);
    expect(await countOf(own)).toBe(counted);
  }
});

test('an answered history continues its session; any other one is sent as context', async () => {
  const asked = [{ role: 'user', content: 'count one' }];
  const first = await chat({ model: 'trayclaw', messages: asked });
  const history = [...asked, { role: 'assistant', content: await textOf(first) }, { role: 'user', content: 'count two' }];
  const second = await chat({ model: 'trayclaw', messages: history });
  expect(second.headers.get('x-trayclaw-session')).toBe(first.headers.get('x-trayclaw-session'));
  const foreign = [
    { role: 'user', content: 'A' },
    { role: 'assistant', content: 'B' },
    { role: 'user', content: 'count three' },
  ];
  expect((await chat({ model: 'trayclaw', messages: foreign })).status).toBe(200);
  expect(rig.model.requests.at(-1)?.userText).toContain('user: A\nassistant: B');
});

test.each(['/v1/chat/completions', '/v1/responses'])(
  '%s: a streamed answer of several steps, sent back, continues its session',
  async (path) => {
    const list = path.endsWith('responses') ? 'input' : 'messages';
    const asked = [{ role: 'user', content: `several steps at ${path}` }];
    const first = await rig.send(path, { model: 'trayclaw', [list]: asked, stream: true });
    const said = [...(await first.text()).matchAll(/"(?:content|delta)":"([^"]*)"/g)].map(
      ([, piece]) => JSON.parse(`"${piece}"`) as string,
    );
    const answer = { role: 'assistant', content: said.join('') };
    expect(answer.content).toContain('Let me see.');
    const second = await rig.send(path, { model: 'trayclaw', [list]: [...asked, answer, { role: 'user', content: 'count' }] });
    expect(second.headers.get('x-trayclaw-session')).toBe(first.headers.get('x-trayclaw-session'));
  },
);

test('a stream waits for an approval given elsewhere; the tool runs behind our gate', async () => {
  const response = await chat(say('please write', { stream: true }));
  let approvalId = '';
  await until(async () => {
    approvalId = (await rig.claw.op('approval.list', {})).approvals[0]?.approvalId ?? '';
    return approvalId !== '';
  }, 'the approval is asked for');
  await rig.claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'once' } });
  const text = await response.text();
  expect(text).toContain(`: waiting for approval ${approvalId}`);
  expect([...text.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('')).toBe('Written.');
  expect(existsSync(join(rig.home.workspace, 'note.txt'))).toBe(true);
});

test('without streaming the wait ends with an error that names the approval', async () => {
  const error = await errorOf(await chat(say('write once more')));
  const { approvals } = await rig.claw.op('approval.list', {});
  expect(error).toMatchObject({
    status: 403,
    code: 'approval_required',
    message: expect.stringContaining(approvals[0]?.approvalId ?? '?'),
  });
  await rig.claw.op('approval.decide', { approvalId: approvals[0]?.approvalId ?? '', decision: 'deny' });
  await rig.claw.op('turn.wait', { turnId: approvals[0]?.turnId ?? '' });
});

test('a message behind a turn that waits ends with the error that names the approval', async () => {
  await chat(say('write, then wait'));
  const { approvals } = await rig.claw.op('approval.list', {});
  const { approvalId = '?', turnId = '', sessionId = '' } = approvals[0] ?? {};
  const error = await errorOf(await chat(say('and count'), { 'x-trayclaw-session': sessionId }));
  expect(error).toMatchObject({ status: 403, code: 'approval_required', message: expect.stringContaining(approvalId) });
  const stream = await chat(say('count again', { stream: true }), { 'x-trayclaw-session': sessionId });
  await rig.claw.op('approval.decide', { approvalId, decision: 'deny' });
  const text = await stream.text();
  expect(text).toContain(`: waiting for approval ${approvalId}`);
  expect(text).toContain('"content":"messages"');
  await rig.claw.op('turn.wait', { turnId });
});

test.each(['/v1/models', '/v1/models/passthrough%2Flab%2Fscripted'])('the first request for %s knows what servers offer', async (path) => {
  const fresh = await OpenAiDoorRig.start([], { models: { default: 'demo/offline' } });
  try {
    const answer = await fresh.send(path, undefined);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(`"${pass}"`) as string]);
  } finally {
    await fresh.dispose();
  }
});

test('what a token may not use does not exist for it', async () => {
  const { key } = await rig.token({ name: 'narrow', scope: ['trayclaw/main'] });
  const headers = { authorization: `Bearer ${key}` };
  const { data } = (await (await rig.send('/v1/models', undefined, headers)).json()) as { data: { id: string }[] };
  expect(data.map(({ id }) => id)).toEqual(['trayclaw/main']);
  const before = rig.model.requests.length;
  for (const model of ['trayclaw', pass]) expect((await chat({ ...say('Hi'), model }, headers)).status).toBe(404);
  const unscoped = await rig.send('/v1/embeddings', { model: 'trayclaw', input: 'x' }, headers);
  expect([unscoped.status, (await errorOf(unscoped)).message]).toEqual([404, expect.stringContaining('--scope embeddings') as string]);
  expect(rig.model.requests.length).toBe(before);
});

test('embeddings without an embedding model say what to set up', async () => {
  const error = await errorOf(await rig.send('/v1/embeddings', { model: 'trayclaw', input: 'x' }));
  expect(error).toMatchObject({ status: 404, code: 'model_not_found', message: expect.stringContaining('config.yaml') });
});

test('the error of a turn that the panic stop ended says so', async () => {
  const hanging = chat(say('hang while all stops'));
  await until(async () => (await rig.claw.op('running.list', {})).turns.length > 0, 'the turn runs');
  await rig.claw.op('panic.engage', {});
  expect(await errorOf(await hanging)).toMatchObject({ status: 422, code: 'panic_engaged' });
  await rig.claw.op('panic.release', {});
});

test('revoking a token ends its running requests and refuses further ones', async () => {
  const { key, name } = await rig.token({ name: 'short' });
  const headers = { authorization: `Bearer ${key}` };
  const response = await chat(say('hang', { stream: true }), headers);
  const turnId = response.headers.get('x-trayclaw-turn') ?? '';
  await rig.claw.op('door.revoke_token', { token: name });
  expect(await response.text()).toContain('This API key was revoked.');
  expect((await rig.claw.op('turn.get', { turnId })).status).toBe('cancelled');
  expect((await chat(say('Hi'), headers)).status).toBe(401);
});

test('a passed-through call is in the log and the usage, without its text', async () => {
  expect((await chat({ ...say('Hi'), model: pass })).status).toBe(200);
  const inLog: unknown[] = [];
  for await (const event of rig.claw.events({ after: 0 })) {
    if (event.type === 'door.answered') inLog.push(event.body);
    if (inLog.length > 0) break;
  }
  expect(inLog).toMatchObject([{ client: 'tests', model: 'lab/scripted', messages: 1, calls: [], usage: { inputTokens: 1_000_000 } }]);
  expect(JSON.stringify(inLog)).not.toContain('Hello');
  expect(JSON.stringify(await rig.claw.op('usage.get', { by: 'model' }))).toContain('lab/scripted');
});

test('a client whose base address lacks /v1 gets a hint', async () => {
  const response = await rig.send('/chat/completions', say('Hi'));
  expect([response.status, await response.text()]).toEqual([
    404,
    expect.stringMatching(/Did you mean \/v1\/chat\/completions\?.* ends in \/v1\./),
  ]);
});

test('the list of tokens shows the last use and no token', async () => {
  const { tokens } = await rig.claw.op('door.list_tokens', {});
  expect(tokens.find(({ name }) => name === 'tests')?.lastUsedAtMs).toBeGreaterThan(0);
  expect(JSON.stringify(tokens)).not.toContain(rig.key);
});

const respond = async (input: string, more: object = {}): Promise<Record<string, unknown>> =>
  (await (await rig.send('/v1/responses', { model: pass, input, ...more })).json()) as Record<string, unknown>;

test('a response returns its format and whether its items are kept', async () => {
  const format = {
    type: 'json_schema',
    name: 'town',
    schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  };
  expect(await respond('a town', { text: { format } })).toMatchObject({ text: { format }, store: true });
  expect(await respond('Hi', { store: false })).toMatchObject({ text: { format: { type: 'text' } }, store: false });
});

test('the message of an incomplete response is incomplete, as one object and as a stream', async () => {
  expect(await respond('too long')).toMatchObject({ status: 'incomplete', output: [{ type: 'message', status: 'incomplete' }] });
  const stream = await (await rig.send('/v1/responses', { model: pass, input: 'too long', stream: true })).text();
  expect(eventsIn(stream).find(({ type }) => type === 'response.output_item.done')).toMatchObject({ item: { status: 'incomplete' } });
});

test('the events of a response that fails are numbered to the end', async () => {
  const stream = await (await rig.send('/v1/responses', { model: pass, input: 'breaks', stream: true })).text();
  const events = eventsIn(stream);
  expect(events.slice(-2).map(({ type }) => type)).toEqual(['response.failed', 'error']);
  expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, at) => at));
  const chunks = await (await chat({ ...say('breaks', { stream: true }), model: pass })).text();
  expect(Object.keys(eventsIn(chunks).at(-1) ?? {})).toEqual(['error']);
});

function eventsIn(stream: string): Record<string, unknown>[] {
  return [...stream.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Record<string, unknown>);
}
