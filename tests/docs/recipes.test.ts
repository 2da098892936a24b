// Follows the recipes of CONTRIBUTING.md literally in a copy of the checkout: what they add must run, and each may change only the stated
// number of files. `npm run soak -- recipes` also runs the compilers and the suites that the recipes name.

import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { parseJson } from '../../core/base/json.ts';
import { createTrayClaw } from '../../core/index.ts';
import { compileCache } from '../compile-cache.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';
import { TreeCopy } from '../gates/tree-copy.ts';
import { isSoak } from '../soak.ts';
import { projectRoot, readDocument } from './documents.ts';
import { followRecipe, recipeBlocks, type Followed } from './recipe-blocks.ts';

let copy: TreeCopy;
let model: ScriptedModel;
let followed: Readonly<Record<string, Followed>>;

const sentSchema = z.object({ turnId: z.string(), sessionId: z.string() });
const shownSchema = z.object({ events: z.array(z.object({ type: z.string(), body: z.unknown() })) });
const names = ['A tool', 'An operation', 'A model provider', 'A view in the window', 'A channel'];

beforeAll(async () => {
  copy = new TreeCopy(projectRoot);
  model = await ScriptedModel.start();
  const document = readDocument('CONTRIBUTING.md');
  followed = Object.fromEntries(names.map((name) => [name, followRecipe(copy.path, recipeBlocks(document, name))]));
  mkdirSync(join(home(), 'workspace'), { recursive: true });
  const settings = { ...model.config('openai'), plugins: { files: [join(copy.path, 'plugins/letterbox/letterbox.mjs')] } };
  writeFileSync(join(home(), 'config.yaml'), JSON.stringify(settings));
});

afterAll(async () => {
  await model.close();
  copy.remove();
});

const home = (): string => join(copy.path, 'recipes-home');
const announcedSchema = z.object({ url: z.string(), token: z.string() });

function startCli(...args: readonly string[]): ChildProcessWithoutNullStreams {
  const env = { PATH: process.env['PATH'] ?? '', HOME: copy.path, TRAYCLAW_HOME: home(), ...compileCache };
  return spawn(process.execPath, ['main/cli.ts', ...args, '--json'], { cwd: copy.path, env });
}

/** Starts the copy's program and calls it over HTTP; a process for each call would take most of the time. */
async function withProgram<T>(work: (op: (name: string, params: object) => Promise<unknown>) => Promise<T>): Promise<T> {
  const child = startCli('serve');
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    const line = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), gone.then(() => [stderr])]);
    const { url, token } = announcedSchema.parse(JSON.parse(String(line[0])));
    return await work(async (name, params) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(new URL(`/api/ops/${name}`, url), { method: 'POST', headers, body: JSON.stringify(params) });
      const answer: unknown = await response.json();
      expect({ status: response.status, answer }).toMatchObject({ status: 200 });
      return z.object({ result: z.unknown() }).parse(answer).result;
    });
  } finally {
    child.kill('SIGTERM');
    await gone;
  }
}

/** Approves as a person would in the window or a terminal: neither HTTP nor a command line without a terminal may approve. */
async function approveAsPerson(): Promise<void> {
  const claw = await createTrayClaw({ home: home(), environment: {} });
  const [letterbox] = (await claw.op('plugin.list', {})).plugins;
  expect(letterbox).toMatchObject({ state: 'waiting' });
  await claw.op('plugin.approve', { path: letterbox?.path ?? '', sha256: letterbox?.sha256 ?? '' });
  await claw.close();
}

async function cli(...args: readonly string[]): Promise<unknown> {
  const child = startCli(...args);
  child.stdin.end();
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk: Buffer) => (said[name] += chunk.toString()));
  await once(child, 'close');
  // On a busy machine the program may say that it waits for the server.
  const parsed = parseJson(said.stdout);
  return parsed.ok ? parsed.value : said;
}

test.each([
  ['A tool', ['core/hands/tools/built-in-tools.ts', 'core/hands/tools/tools.test.ts']],
  ['An operation', ['core/contracts/session-ops.ts', 'core/doors/ops/session-ops.ts']],
  ['A model provider', ['core/mind/llm/provider-presets.ts']],
  ['A view in the window', ['core/contracts/views.ts', 'renderer/lib/i18n/english/frame.ts']],
  ['A channel', []],
])('%s changes no more than these files', (recipe, changed) => {
  expect(followed[recipe]?.changed).toEqual(changed);
});

// Programs run from the sources here, which takes time to load on a busy machine.
const patient = { timeout: 240_000 };

test('the tool is called through the gate; operation and provider exist', patient, async () => {
  model.script([
    { user: 'how many', results: 0, answer: { calls: [{ tool: 'count_words', args: { text: 'one two three' } }] } },
    { user: 'how many', results: 1, answer: ({ toolResults }) => ({ text: `There are ${toolResults[0]?.text ?? 'none'}.` }) },
  ]);
  await withProgram(async (op) => {
    const { turnId, sessionId } = sentSchema.parse(await op('message.send', { text: 'how many words?' }));
    expect(await op('turn.wait', { turnId })).toMatchObject({ status: 'done', text: expect.stringContaining('There are 3') });
    const { events } = shownSchema.parse(await op('session.get', { sessionId }));
    expect(events.find(({ type }) => type === 'policy.decided')?.body).toMatchObject({ decision: 'allow' });
    expect(await cli('sessions', 'size', sessionId)).toEqual({ events: events.length });
    expect(JSON.stringify(await op('model.presets', {}))).toContain('"https://api.example.com/v1"');
  });
});

test('the channel waits for approval, then receives and sends', patient, async () => {
  model.script([{ answer: ({ userText }) => ({ text: `You wrote: ${userText}` }) }]);
  await approveAsPerson();
  const out = join(home(), 'workspace/out.txt');
  writeFileSync(join(home(), 'workspace/in.txt'), 'hello\n');
  expect(existsSync(out)).toBe(false);
  await withProgram(() => until(() => existsSync(out), 'the answer is in the letterbox'));
  expect(readFileSync(out, 'utf8')).toBe('You wrote: hello\n');
});

test('the view has a route, a deep link and a command', () => {
  const script = `
    import { viewNames } from './core/contracts/views.ts';
    import { placeOfLink } from './main/desktop/deep-link.ts';
    import { english } from './renderer/lib/i18n/english/whole.ts';
    console.log(JSON.stringify([viewNames.at(-1), placeOfLink('trayclaw://clock'), english.commands.goTo.clock]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', script], {
    cwd: copy.path,
    encoding: 'utf8',
  });
  expect({ said: parseJson(stdout), stderr }).toEqual({
    said: { ok: true, value: ['clock', { kind: 'show', view: 'clock' }, 'Go to Time'] },
    stderr: '',
  });
});

test('detects a recipe that is out of date', () => {
  const document = readDocument('CONTRIBUTING.md');
  expect(() => followRecipe(copy.path, recipeBlocks(document, 'A tool'))).toThrow(/is there already/);
  const moved = document.replace('     createCalc(),', '     createSum(),');
  const blocks = recipeBlocks(moved, 'A tool').filter(({ kind }) => kind === 'diff');
  expect(() => followRecipe(copy.path, blocks)).toThrow(/0 times, not once/);
  expect(() => recipeBlocks(document, 'A dream')).toThrow(/no recipe/);
});

const compilers: readonly (readonly string[])[] = [
  ['typescript/bin/tsc', '-p', 'tsconfig.json', '--pretty', 'false'],
  ['svelte-check/bin/svelte-check', '--tsconfig', 'renderer/tsconfig.json', '--fail-on-warnings', '--output', 'human'],
  ['vitest/vitest.mjs', 'run', '--config', 'build/vitest.config.ts', '--project', 'unit', 'core/hands/tools/tools.test.ts', 'count-words'],
];

test.each(isSoak ? compilers : [])('the additions satisfy %s', { timeout: 900_000 }, (program, ...args) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`node_modules/${program}`, ...args], {
    cwd: copy.path,
    encoding: 'utf8',
  });
  expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
});
