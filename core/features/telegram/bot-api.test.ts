// The client on real sockets: how each way a connection can end is interpreted, and that Node prints no warnings.

import { execFile } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { readFailure, type ApiFailure } from './api-failure.ts';
import { createBotApi, type BotApi } from './bot-api.ts';

const token = '7000001:token-for-tests-only';

async function serve(answer: RequestListener): Promise<{ api: BotApi; root: string; close: () => Promise<void> }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  onTestFinished(close);
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { api: await createBotApi(token, root, fetch), root, close };
}

const never = new AbortController().signal;
const send = (api: BotApi, signal: AbortSignal): Promise<string> => api.sendText({ chatId: '1', text: 'hi', isHtml: false }, signal);

async function failureOf(api: BotApi, signal = never): Promise<ApiFailure> {
  try {
    await send(api, signal);
  } catch (cause) {
    return readFailure(cause, signal);
  }
  throw new Error('it went well');
}

test('no listener: certainly not sent', async () => {
  const { api, close } = await serve((_request, response) => void response.end());
  await close();
  const failure = await failureOf(api);
  expect(failure).toEqual({ kind: 'unreachable', words: 'Nothing answers at the server of Telegram.' });
});

test('an unknown address: certainly not sent', async () => {
  const api = await createBotApi(token, 'http://nowhere.invalid', fetch);
  expect((await failureOf(api)).kind).toBe('unreachable');
});

test('cut off, or answered without JSON: the outcome is unknown', async () => {
  const answers: RequestListener[] = [
    (request) => void request.socket.destroy(),
    (request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"ok":');
      request.socket.destroy();
    },
    (_request, response) => void response.writeHead(502).end('<html>Bad Gateway</html>'),
  ];
  for (const answer of answers) {
    const { api } = await serve(answer);
    const failure = await failureOf(api);
    expect(failure).toMatchObject({ kind: 'unknown' });
    expect(JSON.stringify(failure)).not.toContain(token);
  }
});

test('an abort during the wait, and one before the call', async () => {
  const giveUp = new AbortController();
  const { api } = await serve(() => giveUp.abort());
  expect(await failureOf(api, giveUp.signal)).toEqual({ kind: 'aborted' });
  expect(await failureOf(api, AbortSignal.abort())).toEqual({ kind: 'aborted' });
});

test('a file is sent completely, with a name that does not end the header', async () => {
  const bytes = Buffer.alloc(3_000_000, 'ab');
  const got: { name: string; bytes: Buffer }[] = [];
  const { api } = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void new Response(Buffer.concat(chunks), { headers: { 'content-type': request.headers['content-type'] ?? '' } })
        .formData()
        .then(async (form) => {
          for (const value of form.values()) {
            if (typeof value !== 'string') got.push({ name: value.name, bytes: Buffer.from(await value.arrayBuffer()) });
          }
          response.end(JSON.stringify({ ok: true, result: { message_id: 7 } }));
        });
    });
  });
  expect(await api.sendFile({ chatId: '1', name: 'a "b"; c\r\n.bin', bytes, isPhoto: false, caption: '' }, never)).toBe('7');
  expect(got.map(({ name }) => name)).toEqual(['a _b_; c__.bin']);
  expect(got[0]?.bytes.equals(bytes)).toBe(true);
});

test('using a bot causes no warnings of Node', async () => {
  const { root } = await serve((_request, response) => void response.end(JSON.stringify({ ok: true, result: { id: 7, username: 'b' } })));
  const client = new URL('bot-api.ts', import.meta.url).href;
  const source = `const { createBotApi } = await import(${JSON.stringify(client)});
    const api = await createBotApi(${JSON.stringify(token)}, ${JSON.stringify(root)}, fetch);
    console.log((await api.getMe(new AbortController().signal)).id);`;
  const told = await promisify(execFile)(process.execPath, ['--input-type=module', '--trace-deprecation', '-e', source], {
    timeout: 60_000,
  });
  expect(told).toEqual({ stdout: '7\n', stderr: '' });
});
