// The public price list in the whole program: nothing is downloaded unless a person asks, the difference is shown first, and the accepted
// list is used at once and after a restart.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import { TestHome } from '../faults/test-home.ts';

interface List {
  body: string;
  status: number;
  asked: number;
}

const listOf = (input: number): string =>
  JSON.stringify({ openai: { models: { 'gpt-5': { cost: { input, output: 10, cache_read: 0.125 }, limit: { context: 500_000 } } } } });

async function open(): Promise<{ home: TestHome; list: List; start: () => Promise<TrayClaw> }> {
  const list: List = { body: listOf(3), status: 200, asked: 0 };
  const server = createServer((_request, response) => {
    list.asked += 1;
    response.writeHead(list.status, { 'content-type': 'application/json' }).end(list.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const home = new TestHome();
  onTestFinished(async () => {
    await home.dispose();
    await new Promise((resolve) => server.close(resolve));
  });
  home.configure({ providers: { open: { kind: 'openai', apiKey: 'env:KEY' } }, models: { default: 'open/gpt-5' } });
  const priceListUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api.json`;
  return { home, list, start: () => home.open({ priceListUrl }) };
}

async function priceOf(claw: TrayClaw) {
  const { models } = await claw.op('model.list', {});
  const found = models.find(({ ref }) => ref === 'open/gpt-5');
  return [found?.inputUsdPerMillion, found?.contextTokens];
}

test('a list is shown first, used once a person accepts it, and stored', async () => {
  const { home, list, start } = await open();
  const claw = await start();
  expect(await priceOf(claw)).toEqual([1.25, 400_000]);
  expect(await claw.op('prices.get', {})).toMatchObject({ loaded: null });
  expect(list.asked).toBe(0);
  const checked = await claw.op('prices.check', {});
  expect(checked).toMatchObject({
    models: 1,
    changed: 1,
    added: 0,
    changes: [{ vendor: 'openai', model: 'gpt-5', after: { inputUsdPerMillion: 3 } }],
  });
  expect(await priceOf(claw)).toEqual([1.25, 400_000]);
  await expect(claw.op('prices.use', { id: 'another' })).rejects.toMatchObject({ code: 'conflict' });
  await claw.op('prices.use', { id: checked.id });
  expect(await priceOf(claw)).toEqual([3, 500_000]);
  await home.close(claw);
  const again = await start();
  expect(await priceOf(again)).toEqual([3, 500_000]);
  expect(await again.op('prices.check', {})).toMatchObject({ changed: 0, added: 0 });
  await again.op('prices.forget', {});
  expect(await priceOf(again)).toEqual([1.25, 400_000]);
  expect(list.asked).toBe(2);
});

test('an invalid list, an error page and the panic stop change nothing', async () => {
  const { list, start } = await open();
  const claw = await start();
  list.body = listOf(-3);
  await expect(claw.op('prices.check', {})).rejects.toMatchObject({
    code: 'fetch_failed',
    message: expect.stringContaining('openai/gpt-5: input') as string,
  });
  list.status = 500;
  await expect(claw.op('prices.check', {})).rejects.toMatchObject({
    code: 'fetch_failed',
    message: expect.stringContaining('500') as string,
  });
  await claw.op('panic.engage', {});
  await expect(claw.op('prices.check', {})).rejects.toMatchObject({ code: 'panic_engaged' });
  expect([list.asked, await priceOf(claw)]).toEqual([2, [1.25, 400_000]]);
});

test('a command line started by a tool can neither download nor accept a list', async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  home.env['TRAYCLAW_CALL'] = 'call_1';
  expect(await home.command(['model', 'refresh-prices', '--yes'])).toMatchObject({ code: 1, json: { error: { code: 'forbidden' } } });
});
