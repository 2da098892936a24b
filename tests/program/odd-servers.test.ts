// Model servers as found on people's machines, in the whole program: a small context window, an answer that never ends.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { toolPriority } from '../../core/mind/context/context.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

const WINDOW = 4_096;

async function open(config: object) {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  return home.open({ config });
}

test('an unstated window of 4,096 tokens works from the first "hi", as in LM Studio', { timeout: 60_000 }, async () => {
  const tooLong = (tokens: number) =>
    `The number of tokens to keep from the initial prompt is greater than the context length (n_keep: ${tokens}>= n_ctx: ${WINDOW}).`;
  const model = await ScriptedModel.start([
    {
      answer: ({ bodyBytes }) => {
        const tokens = Math.ceil(bodyBytes / 3);
        if (tokens >= WINDOW)
          return { raw: JSON.stringify({ error: tooLong(tokens) }), status: 400, headers: { 'content-type': 'application/json' } };
        return { text: 'hello' };
      },
    },
  ]);
  onTestFinished(() => model.close());
  const claw = await open(model.config('openai'));
  const turnIds: string[] = [];
  for (const text of ['hi', 'and again']) {
    const { turnId } = await claw.op('message.send', { text, sessionId: 's' });
    turnIds.push(turnId);
    expect(await claw.op('turn.wait', { turnId })).toMatchObject({ status: 'done', text: 'hello' });
  }
  // The first request is refused and shortened; for the second the window is known.
  expect(model.requests).toHaveLength(3);
  expect(model.requests[1]?.toolNames).toEqual(expect.arrayContaining(['read_file', 'list_dir']));
  // The pack that was sent is recorded like any other.
  const pack = await claw.op('pack.get', { packId: `${turnIds[0]}-p2` });
  expect(JSON.stringify(pack)).toContain('the window of this model is too small for all tools');
});

test('every tool in the priority list exists', async () => {
  const claw = await open({});
  const names = new Set((await claw.op('tool.list', {})).tools.map(({ name }) => name));
  // Offered only if there is something for them to use.
  const optional = ['web_search', 'knowledge_search', 'message'];
  expect(toolPriority.filter((name) => !names.has(name) && !optional.includes(name))).toEqual([]);
});

test('an endless answer ends the turn with a clear error, and little of it is kept', { timeout: 60_000 }, async () => {
  const frame = Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(4_096) } }] })}\n\n`);
  let sentBytes = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (request.method !== 'POST') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const write = (): void => {
      while (!response.destroyed && sentBytes < 200_000_000) {
        sentBytes += frame.length;
        if (!response.write(frame)) return void response.once('drain', write);
      }
    };
    write();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const claw = await open({ providers: { lab: { kind: 'openai-compatible', baseUrl } }, models: { default: 'lab/m' } });
  const { turnId } = await claw.op('message.send', { text: 'hi', sessionId: 's' });
  const ended = await claw.op('turn.wait', { turnId });
  expect(ended).toMatchObject({ status: 'failed', error: { code: 'model_bad_reply', data: { limitBytes: 2 * 1024 * 1024 } } });
  expect(sentBytes).toBeLessThan(20_000_000);
  expect(ended.text.length).toBeLessThan(300_000);
});
