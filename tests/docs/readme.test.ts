// README.md against the program: every command, operation, tool and setting is in it, with the default that holds.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { isPlainObject } from '../../core/base/json.ts';
import { configSchema } from '../../core/contracts/config.ts';
import { opTable } from '../../core/contracts/ops.ts';
import { createTrayClaw } from '../../core/index.ts';
import { FakeClaw } from '../doubles/fake-claw.ts';
import { fakeParts, runCommand } from '../doubles/fake-terminal.ts';
import { codeWords, readDocument } from './documents.ts';

const readme = readDocument('README.md');
const words = new Set(codeWords(readme));

test('every operation is in the table, and nothing that is none', () => {
  const named = [...words].filter(
    (word) => /^[a-z]+\.[a-z]+$/.test(word) && Object.keys(opTable).some((op) => op.startsWith(family(word))),
  );
  const others = ['config.yaml', ...settingsOf(jsonSchemaOfConfig()).map(({ path }) => path)];
  expect(named.filter((word) => !others.includes(word)).sort()).toEqual(Object.keys(opTable).sort());
});

function family(word: string): string {
  return word.slice(0, word.indexOf('.') + 1);
}

test('every command is in the table, and every command of the table is one', async () => {
  const named = [...words].flatMap((word) => /^trayclaw ([a-z]+(?: [a-z]+)?)(?=$| )/.exec(word)?.[1] ?? []);
  const known = await commands();
  expect(known.length).toBeGreaterThan(100);
  expect(known.filter((command) => !named.includes(command))).toEqual([]);
  // A word in small letters after a plain command would be an argument.
  expect(named.filter((command) => !known.includes(command) && !known.includes(command.split(' ')[0] ?? ''))).toEqual([]);
});

/** As the help lists them; a command with commands of its own counts by those. */
async function commands(): Promise<string[]> {
  const top = await listed([]);
  const all = await Promise.all(top.map(async (name) => ({ name, own: await listed([name]) })));
  return all.flatMap(({ name, own }) => (own.length === 0 ? [name] : own.map((sub) => `${name} ${sub}`)));
}

async function listed(command: readonly string[]): Promise<string[]> {
  const { out } = await runCommand([...command, '--help'], fakeParts(new FakeClaw()));
  const groups = out.split(/\n(?=[A-Z][\w ]*:\n)/).filter((group) => !/^(?:Usage|Arguments|Options):/.test(group));
  const names = groups.flatMap((group) => [...group.matchAll(/^ {2}([a-z]+)/gm)].map((match) => match[1] ?? ''));
  return names.filter((name) => name !== 'help');
}

interface Setting {
  readonly path: string;
  readonly fallback: unknown;
}

test('every setting is in the table with the default that holds, and no other', () => {
  const settings = settingsOf(jsonSchemaOfConfig());
  const rows = new Map([...readme.matchAll(/^\| `([\w.]+)` +\| ([^|]*)\|/gm)].map((row) => [row[1] ?? '', (row[2] ?? '').trim()]));
  const shown = [...rows.keys()].filter((key) => Object.keys(configSchema.shape).includes(key.split('.')[0] ?? ''));
  expect(shown.sort()).toEqual(settings.map(({ path }) => path).sort());
  const numbers = settings.filter(({ fallback }) => typeof fallback === 'number');
  expect(numbers.map(({ path }) => [path, rows.get(path)])).toEqual(numbers.map(({ path, fallback }) => [path, String(fallback)]));
  expect(numbers.length).toBeGreaterThan(10);
});

function jsonSchemaOfConfig(): unknown {
  return z.toJSONSchema(configSchema, { io: 'input' });
}

/** The leaves of the schema by their dotted paths; keys of a person's own choice are NAME, and MODEL under prices. */
function settingsOf(schema: unknown, path = ''): Setting[] {
  if (!isPlainObject(schema)) return [];
  const below = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const variants = schema['oneOf'] ?? schema['anyOf'];
  if (Array.isArray(variants)) return unique(variants.flatMap((variant: unknown) => settingsOf(variant, path)));
  const { properties, additionalProperties } = schema as { properties?: unknown; additionalProperties?: unknown };
  if (isPlainObject(properties)) return Object.entries(properties).flatMap(([key, value]) => settingsOf(value, below(key)));
  if (isPlainObject(additionalProperties) && additionalProperties['type'] !== 'string')
    return settingsOf(additionalProperties, below(path.endsWith('prices') ? 'MODEL' : 'NAME'));
  return [{ path, fallback: schema['default'] }];
}

function unique(settings: readonly Setting[]): Setting[] {
  return [...new Map(settings.map((setting) => [setting.path, setting])).values()];
}

test('every built-in tool is named', async () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-docs-'));
  const claw = await createTrayClaw({ home, config: { models: { default: 'demo/offline' } } });
  try {
    const { tools } = await claw.op('tool.list', {});
    expect(tools.map((tool) => tool.name).filter((name) => !words.has(name))).toEqual([]);
  } finally {
    await claw.close();
    rmSync(home, { recursive: true, force: true });
  }
});
