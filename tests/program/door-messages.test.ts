// Messages at the doors for other programs: what counts as one, what a refused one leaves behind, and under which door it is recorded.

import { expect, onTestFinished, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { AnyEvent } from '../../core/contracts/events.ts';
import { OpenAiDoorRig } from '../doubles/openai-door.ts';
import { until } from '../until.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };

async function open(config: ConfigInput = {}): Promise<OpenAiDoorRig> {
  const rig = await OpenAiDoorRig.start(
    [{ user: /slow/, answer: { text: 'one two three', pieceChars: 4, delayMs: 60 } }, { answer: { text: 'Hello' } }],
    {
      models: { default: 'lab/scripted', retries: 0 },
      doors: { ollama: { enabled: true }, a2a: { enabled: true } },
      ...config,
    },
  );
  onTestFinished(() => rig.dispose());
  return rig;
}

async function eventsOf<T extends AnyEvent['type']>(rig: OpenAiDoorRig, type: T): Promise<Extract<AnyEvent, { type: T }>[]> {
  const { events } = await rig.claw.op('audit.verify', {});
  const found: AnyEvent[] = [];
  let seen = 0;
  for await (const event of rig.claw.events({ after: 0 })) {
    if (event.type === type) found.push(event);
    seen += 1;
    if (seen === events) break;
  }
  return found as Extract<AnyEvent, { type: T }>[];
}

const rpc = (parts: object[]) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'SendMessage',
  params: { message: { messageId: `m${JSON.stringify(parts).length}`, role: 'ROLE_USER', parts } },
});

test('a file needs no text at any door, and a message of neither is refused at every door', async () => {
  const rig = await open();
  const { key } = await rig.token({ door: 'a2a', name: 'far' });
  const a2a = async (parts: object[]) => {
    const response = await rig.send('/a2a', rpc(parts), { authorization: `Bearer ${key}`, 'a2a-version': '1.0' });
    return (await response.json()) as { error?: { message: string }; result?: object };
  };
  const chat = (content: unknown) => rig.send('/v1/chat/completions', { model: 'trayclaw', messages: [{ role: 'user', content }] });
  const file = { name: 'a.png', base64: PNG };
  const { turnId } = await rig.claw.op('message.send', { text: '', attachments: [file] });
  expect((await rig.claw.op('turn.wait', { turnId })).status).toBe('done');
  expect((await chat([image])).status).toBe(200);
  expect((await a2a([{ raw: PNG, filename: 'a.png', mediaType: 'image/png' }])).error).toBeUndefined();
  const messages = await eventsOf(rig, 'user.message');
  expect(messages.map(({ body }) => [body.channel, body.text, body.attachments?.length])).toEqual([
    ['library', '', 1],
    ['openai', '', 1],
    ['a2a', '', 1],
  ]);
  for (const text of ['', ' \n'])
    await expect(rig.claw.op('message.send', { text })).rejects.toMatchObject({
      code: 'invalid_params',
      message: expect.stringContaining('empty'),
    });
  expect((await chat(' ')).status).toBe(400);
  expect((await a2a([{ text: ' ' }])).error?.message).toContain('no text and no file');
});

test('instructions of a message that was refused are sent with the next one', async () => {
  const rig = await open({ limits: { queuedMessages: 1 } });
  const headers = { 'x-trayclaw-session': 'mine' };
  const say = (content: string, system?: string) => {
    const messages = [...(system === undefined ? [] : [{ role: 'system', content: system }]), { role: 'user', content }];
    return rig.send('/v1/chat/completions', { model: 'trayclaw', messages }, headers);
  };
  const running = [say('slow one')];
  await until(async () => (await rig.claw.op('running.list', {})).turns.length === 1, 'the first turn runs');
  running.push(say('slow two'));
  await until(async () => (await eventsOf(rig, 'user.message')).length === 2, 'the second message waits');
  expect((await say('three', 'Answer in Latin.')).status).toBe(429);
  await Promise.all(running);
  expect((await say('three', 'Answer in Latin.')).status).toBe(200);
  expect(rig.model.requests.at(-1)?.userText).toContain('Answer in Latin.');
  // Those of an accepted message are not repeated.
  expect((await say('four', 'Answer in Latin.')).status).toBe(200);
  expect(rig.model.requests.at(-1)?.userText).not.toContain('Answer in Latin.');
});

test("the log names the door of a program: OpenAI's or Ollama's", async () => {
  const rig = await open();
  const { key } = await rig.token({ door: 'ollama', name: 'chat-window', scope: ['all'] });
  for (const model of ['trayclaw', 'passthrough/lab/scripted']) {
    const body = { model, messages: [{ role: 'user', content: 'Hi' }], stream: false };
    expect((await rig.send('/api/chat', body, { authorization: `Bearer ${key}` })).status).toBe(200);
  }
  expect((await eventsOf(rig, 'door.answered')).map(({ body }) => [body.door, body.client])).toEqual([['ollama', 'chat-window']]);
  expect((await eventsOf(rig, 'user.message')).map(({ body }) => [body.channel, body.sender])).toEqual([['ollama', 'ollama:chat-window']]);
});

test('the list of doors has exactly the addresses that their routes answer', async () => {
  const rig = await open();
  const { doors } = await rig.claw.op('door.list', {});
  const paths = Object.fromEntries(doors.map((one) => [one.door, one.paths]));
  expect(Object.keys(paths)).toEqual(['openai', 'ollama', 'a2a', 'mcp']);
  expect(paths['ollama']).toEqual(expect.arrayContaining(['/api/ps', '/api/embeddings']));
  expect(paths['a2a']).toContain('/.well-known/agent.json');
  for (const { door, paths: listed } of doors)
    for (const path of listed) {
      const owners = rig.claw.routes.filter((route) => route.owns(path)).map((route) => route.door);
      expect(owners).toEqual([door]);
      // The door answers, not the assets of the window.
      expect((await fetch(`http://127.0.0.1:${rig.port}${path}`)).status).toBe(401);
    }
});
