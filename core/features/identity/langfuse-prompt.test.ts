// A prompt in Langfuse, against a server that refuses the same requests as the real one: other paths, other keys, unknown names and labels.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { langfusePrompt } from './langfuse-prompt.ts';

const limits = { connectMs: 5_000, headersMs: 5_000, idleMs: 5_000, totalMs: 5_000, bytesMax: 100_000 };

test('fetches the text of the label with the configured keys, or fails', async () => {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const say = (status: number, body: unknown): void => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)); // prettier-ignore
    if (request.headers.authorization !== `Basic ${Buffer.from('pk:sk').toString('base64')}`)
      return say(401, { message: 'Invalid credentials' });
    const name = /^\/api\/public\/v2\/prompts\/([^/]+)$/.exec(pathname)?.[1];
    if (name === undefined || searchParams.get('label') !== 'production') return say(404, { error: 'LangfuseNotFoundError' });
    const known = {
      'team%2Fstyle': { type: 'text', prompt: 'Write short.' },
      chat: { type: 'chat', prompt: [{ role: 'system', content: 'x' }] },
    };
    const found = Object.entries(known).find(([one]) => one === name)?.[1];
    return found === undefined ? say(404, {}) : say(200, { name, version: 3, labels: ['production'], config: {}, tags: [], ...found });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const ask = (name: string, label = 'production', secret = 'sk'): Promise<string> =>
    langfusePrompt({ name, label }, { baseUrl, publicKey: 'pk', secretKey: 'env:KEY' }, { resolve: () => Promise.resolve(secret), limits }, AbortSignal.timeout(5_000)); // prettier-ignore
  expect(await ask('team/style')).toBe('Write short.');
  await expect(ask('team/style', 'staging')).rejects.toMatchObject({ code: 'fetch_failed' });
  await expect(ask('chat')).rejects.toMatchObject({ message: expect.stringContaining('messages') as string });
  await expect(ask('team/style', 'production', 'wrong')).rejects.toMatchObject({ message: expect.stringContaining('401') as string });
});
