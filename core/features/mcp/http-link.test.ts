import { expect, test } from 'vitest';
import { boundedFetch } from './http-link.ts';

function linkTo(answer: () => Response) {
  const sent: { url: string; headers: Record<string, string>; redirect: unknown }[] = [];
  const elsewhere: string[] = [];
  const send = boundedFetch({
    url: new URL('https://a.example/mcp'),
    headers: { 'x-key': 'k' },
    sendElsewhere: (url, init) => {
      elsewhere.push(`${url.href} ${new Headers(init.headers).get('x-key') ?? 'no key'}`);
      return Promise.resolve(answer());
    },
    fetch: (given, init) => {
      sent.push({
        url: given instanceof Request ? given.url : given.toString(),
        headers: Object.fromEntries(new Headers(init?.headers)),
        redirect: init?.redirect,
      });
      return Promise.resolve(answer());
    },
  });
  return { send, sent, elsewhere };
}

test('sends headers to the origin of the server only, every other origin another way, and follows no redirect', async () => {
  const { send, sent, elsewhere } = linkTo(() => new Response('ok'));
  await send('https://a.example/other');
  for (const url of ['https://b.example/token', 'https://a.example.b.example/', 'http://a.example/mcp']) await send(url);
  expect(sent).toEqual([{ url: 'https://a.example/other', headers: { 'x-key': 'k' }, redirect: 'manual' }]);
  expect(elsewhere).toEqual(['https://b.example/token no key', 'https://a.example.b.example/ no key', 'http://a.example/mcp no key']);
});

test('aborts an endless answer', async () => {
  const piece = new Uint8Array(1024 * 1024);
  const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(piece) });
  const { send } = linkTo(() => new Response(endless));
  const response = await send('https://a.example/mcp');
  await expect(response.arrayBuffer()).rejects.toThrow('more than 64 MB');
});
