import { expect, test } from 'vitest';
import { peerFetch } from './peer-fetch.ts';

interface Sent {
  readonly url: string;
  readonly authorization: string | null;
  readonly redirect: RequestInit['redirect'];
}

function askedWith(answer: () => Response | Promise<Response>): { readonly sent: Sent[]; readonly fetch: typeof globalThis.fetch } {
  const sent: Sent[] = [];
  const inner: typeof globalThis.fetch = async (input, init) => {
    sent.push({
      url: input instanceof Request ? input.url : input.toString(),
      authorization: new Headers(init?.headers).get('authorization'),
      redirect: init?.redirect,
    });
    return answer();
  };
  return { sent, fetch: peerFetch({ peer: 'other', url: 'http://127.0.0.1:9/x', token: 'secret' }, inner) };
}

test('sends the token only to the configured address and follows no redirect', async () => {
  const { sent, fetch } = askedWith(() => new Response('{}'));
  await (await fetch('http://127.0.0.1:9/a2a')).text();
  expect(sent).toEqual([{ url: 'http://127.0.0.1:9/a2a', authorization: 'Bearer secret', redirect: 'error' }]);
  for (const url of ['http://127.0.0.1:10/a2a', 'http://example.org/', 'https://127.0.0.1:9/'])
    await expect(fetch(url)).rejects.toMatchObject({ code: 'model_rejected' });
  expect(sent).toHaveLength(1);
});

test.each([
  [401, 'model_auth'],
  [403, 'model_auth'],
  [404, 'model_rejected'],
  [429, 'model_unavailable'],
  [503, 'model_unavailable'],
])('HTTP %i is the error %s', async (status, code) => {
  await expect(askedWith(() => new Response('', { status })).fetch('http://127.0.0.1:9/')).rejects.toMatchObject({ code });
});

test.each([
  [() => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })), 'Nothing answers at the agent other.'],
  [() => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ENOTFOUND' } })), 'The host of the agent other cannot be found.'],
  [() => Promise.reject(new DOMException('', 'TimeoutError')), 'The agent other did not answer in time.'],
  [() => new Response('', { status: 502 }), 'The agent other answered with HTTP 502.'],
])('says why a peer cannot be used: %s', async (answer, message) => {
  await expect(askedWith(answer).fetch('http://127.0.0.1:9/')).rejects.toMatchObject({ code: 'model_unavailable', message });
});

test('reports an unreachable peer and aborts an endless response', async () => {
  const away = askedWith(() => Promise.reject(new TypeError('fetch failed')));
  await expect(away.fetch('http://127.0.0.1:9/')).rejects.toMatchObject({ code: 'model_unavailable', isRetryable: true });
  const piece = new Uint8Array(1024 * 1024);
  const endless = askedWith(() => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(piece) })));
  await expect((await endless.fetch('http://127.0.0.1:9/')).text()).rejects.toMatchObject({ code: 'model_rejected' });
});
