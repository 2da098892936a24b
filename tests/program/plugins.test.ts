// Features from an embedding program or an approved file: what they add, and that nothing of them runs before a person approved it.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { createTrayClaw, defineFeature, defineTool, type TrayClaw, type TrayClawOptions } from '../../core/index.ts';
import type { OpName } from '../../core/contracts/ops.ts';
import { runCli } from '../../core/doors/cli/cli.ts';
import { FakeTerminal, fakeParts } from '../doubles/fake-terminal.ts';
import { LoopbackChannel } from '../doubles/loopback-channel.ts';

const noted = z.object({ city: z.string(), degrees: z.number() });

/** A feature with a tool, an operation, a setting, an event and rows. */
const weather = defineFeature({
  name: 'weather',
  settings: z.strictObject({ unit: z.enum(['celsius', 'fahrenheit']).default('celsius') }),
  events: { noted },
  operations: {
    report: {
      about: 'Reports.',
      params: z.strictObject({ city: z.string() }),
      result: z.object({ degrees: z.number().nullable(), unit: z.string() }),
    },
  },
  migrations: [
    { id: 'weather-001', up: (db) => db.exec('CREATE TABLE IF NOT EXISTS weather_cities (city TEXT PRIMARY KEY, degrees REAL) STRICT') },
  ],
  rows: (db) => ({
    apply: ({ body }: { body: unknown }) => {
      const { city, degrees } = noted.parse(body);
      db.run('INSERT INTO weather_cities VALUES (?, ?) ON CONFLICT (city) DO UPDATE SET degrees = excluded.degrees', city, degrees);
    },
    in: (city: string) =>
      z.array(z.object({ degrees: z.number() })).parse(db.all('SELECT degrees FROM weather_cities WHERE city = ?', city))[0]?.degrees ??
      null,
  }),
  create: ({ settings, record }, rows) => ({
    handlers: { report: ({ city }: { city: string }) => ({ degrees: rows.in(city), unit: settings.unit }) },
    tools: [
      defineTool({
        name: 'note_weather',
        description: 'Notes the weather.',
        input: noted,
        class: 'write',
        idempotency: () => 'idempotent',
        facts: () => ({ class: 'write', paths: [], command: null, hosts: [] }),
        summarize: ({ city }) => `note the weather in ${city}`,
        run: (args) => {
          record('noted', args);
          return Promise.resolve({ forModel: 'Noted.' });
        },
      }),
    ],
  }),
});

class Place {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-plugins-')));
  readonly home = join(this.folder, 'home');
  readonly file = join(this.folder, 'greeter.mjs');
  readonly #open: TrayClaw[] = [];

  constructor() {
    mkdirSync(join(this.home, 'workspace'), { recursive: true });
    onTestFinished(async () => {
      for (const claw of this.#open) await claw.close();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  async start(files: readonly string[], more: Partial<TrayClawOptions> = {}): Promise<TrayClaw> {
    for (const claw of this.#open.splice(0)) await claw.close();
    const claw = await createTrayClaw({ home: this.home, environment: {}, config: { plugins: { files: [...files] } }, ...more });
    this.#open.push(claw);
    return claw;
  }

  /** The source leaves a mark in the process when it runs. */
  write(mark: string, file = this.file): void {
    const source = `globalThis.trayclawTestMarks = [...(globalThis.trayclawTestMarks ?? []), ${JSON.stringify(mark)}];
      export const feature = { name: 'greeter', create: () => ({ tools: [] }) };`;
    writeFileSync(file, source);
  }
}

const marks = (): readonly string[] => (globalThis as { trayclawTestMarks?: readonly string[] }).trayclawTestMarks ?? [];
const only = async (claw: TrayClaw) => (await claw.op('plugin.list', {})).plugins[0];

test('a feature adds an operation, a tool behind the gate, an event, rows, a setting', async () => {
  const place = new Place();
  const options = { features: [weather], config: { plugins: { settings: { weather: { unit: 'fahrenheit' } } } } };
  const claw = await place.start([], options);
  expect(await claw.call('weather.report', { city: 'Oslo' })).toEqual({ degrees: null, unit: 'fahrenheit' });
  const asked = await claw.op('tool.run', { tool: 'note_weather', args: { city: 'Oslo', degrees: 21 }, wait: false });
  // There is no grant yet, so it needs approval like every tool that writes.
  expect([asked.outcome, asked.pending?.length]).toEqual(['waiting', 1]);
  await claw.op('approval.decide', { approvalId: asked.pending?.[0]?.approvalId ?? '', decision: 'approve' });
  await claw.whenIdle();
  expect(await claw.call('weather.report', { city: 'Oslo' })).toMatchObject({ degrees: 21 });
  for await (const event of claw.events({ after: 0, sessionId: 'system' })) {
    if (event.type !== 'plugin.recorded') continue;
    expect(event.body).toEqual({ plugin: 'weather', name: 'noted', body: { city: 'Oslo', degrees: 21 } });
    break;
  }
  expect(await claw.op('audit.verify', {})).toMatchObject({ ok: true });
  const again = await place.start([], options);
  expect(await again.call('weather.report', { city: 'Oslo' })).toMatchObject({ degrees: 21 });
});

test('invalid parameters, operations, settings and names are rejected by name', async () => {
  const place = new Place();
  const claw = await place.start([], { features: [weather] });
  await expect(claw.call('weather.report', { town: 'Oslo' })).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(claw.call('weather.forecast', {})).rejects.toMatchObject({ code: 'unknown_op' });
  await expect(claw.op('weather.report' as OpName, {})).rejects.toMatchObject({ code: 'unknown_op' });
  const unfit = { features: [weather], config: { plugins: { settings: { weather: { unit: 'kelvin' } } } } };
  await expect(place.start([], unfit)).rejects.toMatchObject({ code: 'invalid_config' });
  await expect(place.start([], { features: [{ ...weather, name: 'session' }] })).rejects.toMatchObject({ code: 'invalid_config' });
  const stranger = [{ id: 'policy-9', up: () => undefined }];
  await expect(place.start([], { features: [{ ...weather, migrations: stranger }] })).rejects.toMatchObject({ code: 'invalid_config' });
});

test('a file runs only once a person approved it, and not after it changed', async () => {
  const place = new Place();
  place.write('first');
  const claw = await place.start([place.file]);
  const seen = await only(claw);
  expect([seen?.state, marks()]).toEqual(['waiting', []]);
  const shown = { path: place.file, sha256: seen?.sha256 ?? '' };
  await expect(claw.op('plugin.approve', { ...shown, sha256: '0'.repeat(64) })).rejects.toMatchObject({ code: 'conflict' });
  await claw.op('plugin.approve', shown);
  const second = await place.start([place.file]);
  expect([(await only(second))?.state, marks()]).toEqual(['loaded', ['first']]);
  place.write('changed');
  const third = await place.start([place.file]);
  expect(await only(third)).toMatchObject({ state: 'waiting', problem: expect.stringContaining('changed') as string });
  expect(marks()).toEqual(['first']);
});

test('a revoked approval is gone at the next start, by path or name; config.yaml may list the files alone', async () => {
  const place = new Place();
  place.write('listed');
  const start = (): Promise<TrayClaw> => place.start([], { config: { plugins: [place.file] } });
  const claw = await start();
  const hash = (await only(claw))?.hash ?? '';
  const there = { path: place.file, hash };
  expect(await claw.op('plugin.approve', { path: place.file, sha256: hash })).toMatchObject({ ...there, state: 'approved' });
  const second = await start();
  expect(await only(second)).toMatchObject({ name: 'greeter', ...there, state: 'loaded' });
  await expect(second.op('plugin.revoke', { path: place.file }, { channel: 'http', actor: 'http' })).rejects.toMatchObject({
    code: 'forbidden',
  });
  expect(await second.op('plugin.revoke', { path: join(place.folder, 'greeter') })).toEqual({
    name: 'greeter',
    ...there,
    state: 'revoked',
  });
  await expect(second.op('plugin.revoke', { path: place.file })).rejects.toMatchObject({ code: 'not_found' });
  const third = await start();
  expect(await only(third)).toMatchObject({ ...there, state: 'waiting' });
  expect(marks().filter((mark) => mark === 'listed')).toEqual(['listed']);
  await third.op('plugin.approve', { path: place.file, sha256: hash });
  await third.op('plugin.revoke', { path: place.file });
  expect((await only(await start()))?.state).toBe('waiting');
});

test('nothing is loaded from where the agent may write, approved or not', async () => {
  const place = new Place();
  const file = join(place.home, 'workspace', 'greeter.mjs');
  place.write('workspace', file);
  const claw = await place.start([file]);
  const seen = await only(claw);
  await claw.op('plugin.approve', { path: file, sha256: seen?.sha256 ?? '' });
  const again = await place.start([file]);
  expect([(await only(again))?.state, marks().includes('workspace')]).toEqual(['refused', false]);
});

test('no door without a person behind it approves a plugin', async () => {
  const place = new Place();
  place.write('remote');
  const claw = await place.start([place.file]);
  const shown = { path: place.file, sha256: (await only(claw))?.sha256 ?? '' };
  for (const channel of ['http', 'telegram'] as const) {
    await expect(claw.op('plugin.approve', shown, { channel, actor: channel })).rejects.toMatchObject({ code: 'forbidden' });
  }
  await claw.op('panic.engage', {});
  await expect(claw.op('plugin.approve', shown)).rejects.toMatchObject({ code: 'panic_engaged' });
});

test('a command line started by a tool can neither approve nor call a plugin', async () => {
  const place = new Place();
  place.write('by a tool');
  const claw = await place.start([place.file]);
  const sha256 = (await only(claw))?.sha256 ?? '';
  const run = async (env: Record<string, string>, ...argv: string[]): Promise<number> => {
    const terminal = new FakeTerminal({ env });
    return runCli([...argv, '--json'], terminal.io, fakeParts({ ...claw, close: () => Promise.resolve() }));
  };
  expect(await run({ TRAYCLAW_CALL: 'call_1' }, 'plugins', 'approve', place.file, sha256)).not.toBe(0);
  expect(await run({ TRAYCLAW_CALL: 'call_1' }, 'plugins', 'call', 'greeter.hello')).not.toBe(0);
  expect((await only(await place.start([place.file])))?.state).toBe('waiting');
});

test('a file that imports others is not loaded, and a broken one stops nothing', async () => {
  const place = new Place();
  writeFileSync(place.file, "import './other.mjs';\nexport const feature = {};\n");
  const broken = join(place.folder, 'broken.mjs');
  writeFileSync(broken, 'export const feature = { name: "Broken" };\n');
  const missing = await place.start([join(place.folder, 'gone.mjs')]);
  expect((await only(missing))?.problem).toBe('It cannot be read: there is nothing at this path.');
  await missing.close();
  const first = await place.start([place.file, broken]);
  const listed = (await first.op('plugin.list', {})).plugins;
  expect(listed.map(({ state }) => state)).toEqual(['failed', 'waiting']);
  await first.op('plugin.approve', { path: broken, sha256: listed[1]?.sha256 ?? '' });
  const second = await place.start([place.file, broken]);
  expect((await second.op('plugin.list', {})).plugins.map(({ state }) => state)).toEqual(['failed', 'failed']);
  expect((await second.op('health.check', {})).checks.find(({ id }) => id === 'plugins')).toMatchObject({ ok: false });
});

test('a folder is loaded only if its scripts import nothing outside of it', async () => {
  const place = new Place();
  const folder = join(place.folder, 'wide');
  mkdirSync(join(folder, 'parts'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'index.js'), "import './parts/inner.js';\nexport const feature = {};\n");
  const states = async (inner: string) => {
    writeFileSync(join(folder, 'parts', 'inner.js'), inner);
    return (await (await place.start([folder])).op('plugin.list', {})).plugins.map(({ state }) => state);
  };
  expect(await states("import '../index.js';\n")).toEqual(['waiting']);
  for (const named of ['../../x.js', '../../wide-x/a.js', '/etc/x.js', 'file:///etc/x.js'])
    expect(await states(`const x = await import('${named}');\n`)).toEqual(['failed']);
});

/** A package with files that its operation imports when it is called; approved, and running. */
async function lateImports(place: Place, files: Readonly<Record<string, string>>) {
  Object.assign(globalThis, { trayclawTestZod: z });
  // Below node_modules, Node itself imports the files; elsewhere the test runner does.
  const folder = join(place.folder, 'node_modules', 'late');
  mkdirSync(folder, { recursive: true });
  const sources = { 'package.json': '{"type":"module"}', 'index.js': lateIndex, ...files };
  for (const [name, source] of Object.entries(sources)) writeFileSync(join(folder, name), source);
  const sha256 = (await only(await place.start([folder])))?.sha256 ?? '';
  await place.start([folder]).then((claw) => claw.op('plugin.approve', { path: folder, sha256 }));
  const claw = await place.start([folder]);
  expect(await only(claw)).toMatchObject({ state: 'loaded', problem: null });
  return { folder, load: (name: string) => claw.call('late.load', { name }) };
}
const lateIndex = `import { createRequire } from 'node:module';
  const z = globalThis.trayclawTestZod;
  const load = async ({ name }) => /node$|cjs$/.test(name) ? createRequire(import.meta.url)(name).said : (await import(name)).said;
  export const feature = {
    name: 'late',
    operations: { load: { about: 'Loads.', params: z.strictObject({ name: z.string() }), result: z.string() } },
    create: () => ({ handlers: { load } }),
  };`;

test('a file that an approved plugin imports later has the approved content', async () => {
  const place = new Place();
  const files = { 'a.js': "export const said = 'a';", 'b.js': '', 'c.cjs': "exports.said = 'c';", 'd.cjs': '', 'e.node': 'no program' };
  const { folder, load } = await lateImports(place, files);
  expect([await load('./a.js'), await load('./c.cjs')]).toEqual(['a', 'c']);
  for (const name of ['b.js', 'd.cjs', 'e.node', 'new.js', 'new.cjs']) {
    writeFileSync(join(folder, name), name.endsWith('.cjs') ? "exports.said = 'evil';" : "export const said = 'evil';");
    await expect(load(`./${name}`)).rejects.toThrow('is not as it was when the plugin was approved');
  }
});

test('an approved plugin imports by path only what was approved', async () => {
  const place = new Place();
  const { folder, load } = await lateImports(place, { 'a.js': '' });
  const outside = join(folder, '..', 'outside.js');
  writeFileSync(outside, "export const said = 'evil';");
  rmSync(join(folder, 'a.js'));
  symlinkSync(outside, join(folder, 'a.js'));
  for (const name of ['./a.js', '../outside.js', outside, pathToFileURL(outside).href])
    await expect(load(name)).rejects.toThrow('is not part of what was approved');
});

/** A feature whose only part is a channel. */
const chatService = (channel: LoopbackChannel, name = channel.name) => defineFeature({ name, create: () => ({ channel }) });

test('a plugin that is a channel receives and sends; one under another name is refused', async () => {
  const place = new Place();
  const channel = new LoopbackChannel();
  const config = { models: { default: 'demo/offline' } };
  const claw = await place.start([], { features: [chatService(channel)], config });
  expect(channel.write('hello')).toMatchObject({ kind: 'accepted' });
  await vi.waitFor(() => expect(channel.shown.length).toBeGreaterThan(0), { timeout: 20_000 });
  expect(channel.shown[0]?.item).toMatchObject({ kind: 'reply', to: { channel: 'loopback', chatId: '7' } });
  expect((await claw.op('tool.list', {})).tools.map(({ name }) => name)).toContain('message');
  await expect(place.start([], { features: [chatService(new LoopbackChannel(), 'other')], config })).rejects.toMatchObject({
    code: 'invalid_config',
    message: 'The channel of the plugin other calls itself loopback; name it other.',
  });
});

/** The source of a plugin with a tool and an operation, one part of which is broken. */
const withBroken = (part: string): string => `const z = globalThis.trayclawTestZod;
  export const feature = {
    name: 'broken',
    settings: z.strictObject({ unit: z.enum(['celsius']).optional() }),
    operations: { hello: { about: 'Greets.', params: z.strictObject({}), result: z.string() } },
    create: () => ({ handlers: { hello: () => 'hello' }, tools: [tool] }),
    ${part}
  };
  const tool = {
    name: 'broken_tool', description: 'Notes.', input: z.strictObject({}), class: 'write', idempotency: () => 'idempotent',
    facts: () => ({ class: 'write', paths: [], command: null, hosts: [] }), summarize: () => 'note', run: async () => ({ forModel: '' }),
  };`;

test.for([
  ['its create fails', "create: () => { throw new Error('out of paper'); },", 'out of paper'],
  ['its create makes nothing', 'create: () => null,', 'create'],
  ['its rows fail', "rows: () => { throw new Error('no rows today'); },", 'no rows today'],
  ['a migration fails', "migrations: [{ id: 'broken-1', up: (db) => db.exec('CREATE NONSENSE') }],", 'NONSENSE'],
  ['its settings do not fit', "settings: z.strictObject({ unit: z.enum(['kelvin']) }),", 'unit'],
  ['the name of a tool does not fit', "create: () => ({ tools: [tool, { ...tool, name: 'two words' }] }),", 'two words'],
  ['the input of a tool is not a schema', 'create: () => ({ tools: [tool, { ...tool, input: {} }] }),', 'schema'],
  ['an operation has no schema', "operations: { hello: { about: 'Greets.', params: {}, result: {} } },", 'schema'],
  ['its begin fails', "create: () => ({ tools: [tool], begin: () => { throw new Error('no power'); } }),", 'no power'],
] as const)('a plugin is reported as failed and nothing of it is there: %s', async ([, part, problem]) => {
  Object.assign(globalThis, { trayclawTestZod: z });
  const place = new Place();
  const broken = join(place.folder, 'broken.mjs');
  place.write('beside a broken one');
  writeFileSync(broken, withBroken(part));
  const files = [broken, place.file];
  const more = { config: { plugins: { files, settings: { broken: { unit: 'celsius' } } } } };
  const first = await place.start(files, more);
  for (const { path, sha256 } of (await first.op('plugin.list', {})).plugins) {
    await first.op('plugin.approve', { path: path ?? '', sha256: sha256 ?? '' });
  }
  const claw = await place.start(files, more);
  const [failed, sound] = (await claw.op('plugin.list', {})).plugins;
  expect(failed).toMatchObject({ state: 'failed', problem: expect.stringContaining(problem) as string, operations: [], tools: [] });
  expect(sound).toMatchObject({ name: 'greeter', state: 'loaded', problem: null });
  expect((await claw.op('health.check', {})).checks.find(({ id }) => id === 'plugins')).toMatchObject({ ok: false });
  expect((await claw.op('tool.list', {})).tools.map(({ name }) => name)).not.toContain('broken_tool');
  await expect(claw.call('broken.hello', {})).rejects.toMatchObject({ code: 'unknown_op' });
});
