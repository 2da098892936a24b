import { expect, test } from 'vitest';
import { boundedFetch } from './http-link.ts';

function linkTo(answer: () => Response, refusal: string | null = null) {
  const sent: { url: string; headers: Record<string, string>; redirect: unknown }[] = [];
  const send = boundedFetch({
    url: new URL('https://a.example/mcp'),
    headers: { 'x-key': 'k' },
    refusalOf: () => refusal,
    fetch: (given, init) => {
      sent.push({
        url: given instanceof Request ? given.url : given.toString(),
        headers: Object.fromEntries(new Headers(init?.headers)),
        redirect: init?.redirect,
      });
      return Promise.resolve(answer());
    },
  });
  return { send, sent };
}

test('sends the headers only to the origin of the server and follows no redirect', async () => {
  const { send, sent } = linkTo(() => new Response('ok'));
  await send('https://a.example/other');
  await send('https://b.example/token');
  await send('https://a.example.b.example/');
  await send('http://a.example/mcp');
  expect(sent.map(({ headers }) => headers['x-key'])).toEqual(['k', undefined, undefined, undefined]);
  expect(sent.map(({ redirect }) => redirect)).toEqual(['manual', 'manual', 'manual', 'manual']);
});

test('applies the URL rules to every other address', async () => {
  const { send, sent } = linkTo(() => new Response('ok'), 'it is private');
  await expect(send('http://169.254.169.254/latest')).rejects.toMatchObject({ code: 'address_refused' });
  expect(sent).toEqual([]);
});

test('aborts an endless answer', async () => {
  const piece = new Uint8Array(1024 * 1024);
  const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(piece) });
  const { send } = linkTo(() => new Response(endless));
  const response = await send('https://a.example/mcp');
  await expect(response.arrayBuffer()).rejects.toThrow('more than 64 MB');
});
