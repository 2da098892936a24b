import { createServer } from 'node:https';
import { expect, test } from 'vitest';
import { needs } from '../../../tests/needs.ts';
import { forgetAuthorities, ownAuthority } from '../../../tests/rigs/own-authority.ts';
import { HttpTransport } from './http-transport.ts';
import { requestOnce } from './single-request.ts';

const { signal } = new AbortController();

async function askModel(url: string): Promise<unknown> {
  const transport = new HttpTransport({ provider: 'lab', origin: new URL(url).origin, connectTimeoutMs: 9_000 });
  const reader = { head: () => undefined, data: () => true, end: () => undefined };
  try {
    return await transport.post({ path: '/', headers: [], body: Buffer.from('x') }, reader, signal);
  } finally {
    await transport.close();
  }
}

test('model servers of an authority that only the operating system knows are trusted, and no others', needs('Linux'), async () => {
  let requests = 0;
  const ports = await ownAuthority((identity) => createServer(identity, (_request, response) => response.end(`${(requests += 1)}`)));
  for (const client of [askModel, (url: string) => requestOnce(new URL(url), { bytesMax: 1_000, signal })]) {
    forgetAuthorities();
    await expect(client(`https://127.0.0.1:${ports.unknown}/`)).rejects.toThrow(/certificate/);
    forgetAuthorities();
    await client(`https://127.0.0.1:${ports.known}/`);
  }
  expect(requests).toBe(2);
});
