// Schemas in the bundle, which build themselves when they are first used, mean the same as in the sources.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Rolldown } from 'vite';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { nodeBundle } from '../../build/vite.node.ts';
import * as config from '../../core/contracts/config.ts';
import * as events from '../../core/contracts/events.ts';
import * as ops from '../../core/contracts/ops.ts';
import { projectRoot } from './fixture-tree.ts';

type Schemas = Readonly<Record<string, z.core.$ZodType>>;

async function bundled(): Promise<{ readonly ops: typeof ops; readonly events: typeof events; readonly config: typeof config }> {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-lazy-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const names = ['ops', 'events', 'config'];
  const entries = Object.fromEntries(names.map((name) => [name, `core/contracts/${name}.ts`]));
  const bundle = nodeBundle(projectRoot, entries, 'es');
  const { output } = (await build({ ...bundle, build: { ...bundle.build, sourcemap: false } })) as Rolldown.RolldownOutput;
  mkdirSync(join(folder, 'chunks'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const part of output) if (part.type === 'chunk') writeFileSync(join(folder, part.fileName), part.code);
  const load = (name: string): Promise<unknown> => import(pathToFileURL(join(folder, `${name}.js`)).href);
  return { ops: await load('ops'), events: await load('events'), config: await load('config') } as Awaited<ReturnType<typeof bundled>>;
}

function formsOf(from: { readonly ops: typeof ops; readonly events: typeof events; readonly config: typeof config }): object {
  const json = (schema: z.core.$ZodType): object => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const bodies = Object.entries(from.events.anyBodySchemas as Schemas).map(([name, schema]) => [name, json(schema)]);
  const calls = Object.entries(from.ops.opSchemas).map(([name, { params, result }]) => [name, json(params), json(result)]);
  return { bodies, calls, config: json(from.config.configSchema) };
}

test('every operation, event and setting has the same schema in the bundle', { timeout: 60_000 }, async () => {
  const built = await bundled();
  expect(formsOf(built)).toEqual(formsOf({ ops, events, config }));
  for (const given of [{}, { models: { default: 'demo/offline' } }, { models: 1, channels: { telegram: { token: 2 } } }, { unknown: true }])
    expect(asText(built.config.configSchema.safeParse(given))).toEqual(asText(config.configSchema.safeParse(given)));
});

function asText({ data, error }: { readonly data?: unknown; readonly error?: z.ZodError | undefined }): string {
  return JSON.stringify([data, error?.issues]);
}
