import { createServer } from 'node:https';
import { expect, test } from 'vitest';
import { needs } from '../../../tests/needs.ts';
import { forgetAuthorities, ownAuthority } from '../../../tests/rigs/own-authority.ts';
import { OneOriginCheck } from '../safety/safety.ts';
import { limits } from '../../../tests/doubles/web/egress-rig.ts';
import { GuardedFetch, proxiedFetch } from './egress.ts';

test('an authority that only the operating system knows is trusted, and no other', needs('Linux'), async () => {
  let requests = 0;
  const ports = await ownAuthority((identity) => createServer(identity, (_request, response) => response.end(`${(requests += 1)}`)));
  const send = proxiedFetch(fetch, () => null);
  const clients = [
    async (url: string) => (await send(url, { method: 'POST', body: 'x', redirect: 'error', headers: { connection: 'close' } })).status,
    async (url: string) =>
      (await new GuardedFetch({ judge: new OneOriginCheck(url), limits }).fetch({ url }, new AbortController().signal)).status,
  ];
  for (const client of clients) {
    forgetAuthorities();
    await expect(client(`https://127.0.0.1:${ports.unknown}/`)).rejects.toThrow(/fetch failed|certificate .* NODE_EXTRA_CA_CERTS/);
    forgetAuthorities();
    expect(await client(`https://127.0.0.1:${ports.known}/`)).toBe(200);
  }
  expect(requests).toBe(2);
});
