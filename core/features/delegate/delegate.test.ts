// The tool `delegate` against a strict double of a router: its requests, its facts for the gate, and that only a spend call pays.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { configSchema } from '../../contracts/config.ts';
import type { ToolContext, ToolDefinition } from '../../contracts/tools.ts';
import { Cortensor } from '../../../tests/doubles/cortensor.ts';
import { delegate } from './delegate.ts';

let double: Cortensor;
beforeEach(async () => {
  double = await Cortensor.start();
});
afterEach(() => double.close());

function toolOf(payment?: string): ToolDefinition {
  const cor = {
    kind: 'cortensor' as const,
    baseUrl: double.baseUrl,
    apiKey: 'env:COR_KEY',
    sessionId: 1,
    ...(payment === undefined ? {} : { payment }),
  };
  const config = configSchema.parse({ providers: { cor } });
  const secrets = { resolve: (ref: string) => Promise.resolve(ref === 'env:COR_KEY' ? 'default-dev-token' : 'proof') };
  const [tool] = delegate.create({ config, clock: systemClock, secrets }, null).tools;
  if (tool === undefined) throw new Error('there is no tool');
  return tool;
}

function run(tool: ToolDefinition, given: object) {
  return tool.run(tool.input.parse(given), { signal: new AbortController().signal } as ToolContext);
}

const facts = (tool: ToolDefinition, given: object) =>
  tool.facts(tool.input.parse(given), { workspace: '/w', home: '/h', extraFolders: [] });

test.each(['v1', 'v2', 'v3'] as const)('%s sends the documented request, and the result is untrusted', async (version) => {
  const { forModel, untrusted } = await run(toolOf(), { objective: 'Sum up', input: 'a text', version });
  expect(forModel).toContain('"answer":"done"');
  expect(untrusted).toEqual([{ kind: 'web', where: '127.0.0.1' }]);
  expect(double.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([`POST /api/${version}/delegate`]);
});

test('explains a 402 without paying; paying is a call of class spend', async () => {
  double.knobs = { payment: 'proof' };
  const tool = toolOf('env:PROOF');
  await expect(run(tool, { objective: 'Sum up' })).rejects.toMatchObject({ message: expect.stringContaining('25000 of COR on arbitrum') });
  expect([double.paid, double.seen.map(({ payment }) => payment)]).toEqual([0, [undefined]]);
  expect([facts(tool, { objective: 'x' }).class, facts(tool, { objective: 'x', pay: true }).class]).toEqual(['network', 'spend']);
  await run(tool, { objective: 'Sum up', pay: true });
  expect([double.paid, double.seen.at(-1)?.payment]).toEqual([1, 'proof']);
});

test('paying without a proof fails before a person is asked', () => {
  expect(() => facts(toolOf(), { objective: 'x', pay: true })).toThrow('There is no proof of payment');
  expect(double.seen).toEqual([]);
});

test('polls for a pending result and pays once', async () => {
  double.knobs = { pending: 2 };
  await run(toolOf(), { objective: 'Sum up' });
  expect([double.seen.map(({ method }) => method), double.paid]).toEqual([['POST', 'GET', 'GET'], 1]);
});

test('adds no tool if no router is configured', () => {
  const config = configSchema.parse({ providers: { cor: { kind: 'cortensor' } } });
  expect(delegate.create({ config, clock: systemClock, secrets: { resolve: () => Promise.resolve('') } }, null).tools).toEqual([]);
});
