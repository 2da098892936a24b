// The npm package outside the checkout: its content, its size, and that its types and programs work without anything else.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { externalPackages } from '../../build/vite.node.ts';
import { importsOf } from '../check/imports-of.ts';
import { readExample } from '../docs/documents.ts';
import { needs } from '../needs.ts';
import { findOlderNode } from '../older-node.ts';
import { isSoak } from '../soak.ts';
import { closure, filesBelow, projectRoot, readJson, run, Stranger } from './package-rig.ts';

const PACKED_BYTES_MAX = 5e6;
const INSTALLED_BYTES_MAX = 80e6;
const SETUP_WITHIN_MS = 300_000;

let stranger: Stranger;
let tarball: string;
let places: readonly string[];

beforeAll(async () => {
  stranger = new Stranger();
  tarball = await stranger.pack();
  places = await stranger.install(tarball);
  stranger.addTypesOfNode();
  copyFileSync(join(projectRoot, 'tests/fixtures/consumer/consumer.ts'), join(stranger.project, 'consumer.ts'));
  for (const name of ['library', 'agent']) stranger.write(`${name}.ts`, readExample(name));
}, SETUP_WITHIN_MS);

afterAll(() => stranger.dispose());

test('the package contains programs, the window, skills and types, and nothing else', () => {
  const paths = [...filesBelow(stranger.installed).keys()];
  const wanted =
    /^(?:package\.json|LICENSE|README\.md|CHANGELOG\.md|dist\/index\.d\.ts|dist\/licenses\.txt|dist\/(?:chunks\/)?[\w.-]+\.js|dist\/renderer\/[\w./-]+\.(?:js|css|html|svg|woff2)|skills\/[a-z0-9-]+\/(?:[\w./-]+\.(?:md|mjs)|evals\/cases\.yaml))$/;
  expect(paths.filter((path) => !wanted.test(path))).toEqual([]);
  // The command line knows the flags of the desktop app, which it starts if Electron is installed.
  expect(paths.filter((path) => /desktop(?!-flags)|preload|electron-updater|\.test\./.test(path))).toEqual([]);
  expect(paths).toEqual(expect.arrayContaining(['dist/cli.js', 'dist/daemon.js', 'dist/index.js', 'dist/renderer/index.html']));
});

test('packed files import only packed files or dependencies, and each chunk is used', () => {
  const files = filesBelow(stranger.installed);
  const { dependencies } = readJson(join(stranger.installed, 'package.json')) as { dependencies: Record<string, string> };
  // The types import zod; the programs contain their own copy in the bundle.
  expect(Object.keys(dependencies).sort()).toEqual([...externalPackages, 'zod'].sort());
  const outside = new Set<string>();
  const inside = new Set<string>();
  for (const path of files.keys()) {
    if (!/^dist\/(?:chunks\/)?[^/]+\.js$/.test(path)) continue;
    for (const specifier of importsOf(readFileSync(join(stranger.installed, path), 'utf8'))) {
      if (!specifier.startsWith('.')) outside.add(specifier);
      else inside.add(new URL(specifier, `file:///${path}`).pathname.slice(1));
    }
  }
  expect([...inside].filter((path) => !files.has(path))).toEqual([]);
  // Chunks of earlier builds stay in dist/ for programs that are still running.
  expect([...files.keys()].filter((path) => path.startsWith('dist/chunks/') && !inside.has(path))).toEqual([]);
  const modules = [...outside].filter((name) => !name.startsWith('node:') && !builtinModules.includes(name));
  expect(modules.sort()).toEqual([...externalPackages].sort());
});

test('the package is small, packed and installed', () => {
  const packedBytes = readFileSync(tarball).length;
  const own = [...filesBelow(stranger.installed).values()];
  const others = places.flatMap((place) => [...filesBelow(join(stranger.project, place))]);
  // A package inside another one counts separately.
  const othersBytes = others.filter(([path]) => !path.startsWith('node_modules/')).reduce((sum, [, size]) => sum + size, 0);
  const installedBytes = own.reduce((sum, size) => sum + size, 0) + othersBytes;
  const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  process.stdout.write(
    `npm package: ${mb(packedBytes)}, ${own.length} files; installed ${mb(installedBytes)}, ${places.length + 1} packages\n`,
  );
  expect(packedBytes).toBeLessThan(PACKED_BYTES_MAX);
  expect(installedBytes).toBeLessThan(INSTALLED_BYTES_MAX);
});

test('publint and arethetypeswrong find nothing', async () => {
  const { messages } = await publint({ pkgDir: stranger.installed, strict: true, pack: false });
  expect(messages).toEqual([]);
  const analysis = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
  // The package contains only ES modules, so for CommonJS exactly that is reported. Node can still `require` it.
  const expected = [{ kind: 'CJSResolvesToESM', entrypoint: '.', resolutionKind: 'node16-cjs' }];
  expect('problems' in analysis ? analysis.problems : analysis).toEqual(expected);
});

const nodenext = { module: 'nodenext', types: [] };
const bundler = { module: 'esnext', moduleResolution: 'bundler', types: [] };
/** The first two settings contain each value of each option; the long run takes every combination. */
const settings = {
  'nodenext without types of Node': { ...nodenext, exactOptionalPropertyTypes: true },
  'bundler with types of Node': { ...bundler, types: ['node'], exactOptionalPropertyTypes: false },
  'nodenext with types of Node': { ...nodenext, types: ['node'], exactOptionalPropertyTypes: false },
  'bundler without types of Node': { ...bundler, exactOptionalPropertyTypes: true },
};

test('programs compile in every setting, and wrong ones do not', { timeout: 480_000 }, async () => {
  const strict = { target: 'es2022', strict: true, skipLibCheck: false, noEmit: true, noUncheckedIndexedAccess: true };
  const all = Object.entries(settings)
    .slice(0, isSoak ? undefined : 2)
    .map(([name, more]) => [name, { ...strict, ...more }]);
  stranger.write('wrong.ts', "export const count: number = 'none';");
  const files = ['consumer.ts', 'library.ts', 'agent.ts'];
  const asked = [...all.map((setting) => [...setting, files]), ['wrong', { skipLibCheck: true, types: [] }, ['wrong.ts']]];
  // A compiler keeps everything it allocates: with the default initial size it would be copied several times before it is promoted.
  const compiler = ['--max-semi-space-size=64', fileURLToPath(new URL('compile.ts', import.meta.url))];
  const env: Record<string, string> = isSoak ? { TRAYCLAW_SOAK: '1' } : {};
  const told = await run(process.execPath, [...compiler, JSON.stringify(asked)], stranger.project, env);
  const expected = "wrong: wrong.ts:1 Type 'string' is not assignable to type 'number'.\n";
  expect(told).toEqual({ code: 1, stdout: expected, stderr: '' });
});

test('a program that uses the library runs', async () => {
  const { code, stdout, stderr } = await run(process.execPath, ['consumer.ts'], stranger.project);
  expect([code, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toEqual({
    counted: '3',
    recalled: ['Otto repairs the bikes.'],
    answered: 'done',
    written: 'done',
    sessions: 3,
    began: true,
    missing: 'not_found',
    denied: 'denied',
    told: ['count_words', 'count_words'],
  });
});

const examples: Readonly<Record<string, (lines: readonly string[]) => void>> = {
  library: (lines) => {
    expect(lines.slice(0, 3)).toEqual([
      '3',
      expect.stringMatching(/^Wants to write notes\.md \(\d+ bytes\)$/),
      'done [Offline demo, no language model] Done. I listed . and wrote notes.md:',
    ]);
  },
  agent: (lines) => {
    expect(lines[0]).toBe('done');
    expect(lines).toContain('turn.started');
    expect(lines.slice(-3)).toEqual(['turn.finished', 'done', '']);
  },
};

test.each(Object.keys(examples))('the example of the %s in its guide runs', async (name) => {
  const { code, stdout, stderr } = await run(process.execPath, [`${name}.ts`], stranger.project);
  expect([code, stderr]).toEqual([0, '']);
  examples[name]?.(stdout.split('\n'));
});

test(
  'a Node that is too old gets one sentence from the command and the library',
  needs('a Node on the path that is too old for the package'),
  async () => {
    const old = findOlderNode() ?? '';
    const sentence = /^(?:AppError: )?TrayClaw needs Node [\d.]+ or newer; this is [\d.]+\./m;
    const command = await run(old, [join(stranger.installed, 'dist/cli.js'), 'calc', '1+1'], stranger.project);
    expect([command.code, command.stdout, command.stderr]).toEqual([expect.any(Number), '', expect.stringMatching(sentence)]);
    const library = ['--input-type=module', '--eval', "import { createTrayClaw } from 'trayclaw'; await createTrayClaw({ home: 'old' });"];
    const { code, stderr } = await run(old, library, stranger.project);
    expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)]);
  },
);

test('the installed command prints its version, runs the doctor and answers', async () => {
  const env = { TRAYCLAW_HOME: join(stranger.folder, 'home'), PATH: `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}` };
  const trayclaw = (...args: string[]) => run(join(stranger.project, 'node_modules/.bin/trayclaw'), args, stranger.project, env);
  const { version } = readJson(join(projectRoot, 'package.json')) as { version: string };
  expect(await trayclaw('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  const asked = await trayclaw('ask', 'hello');
  expect([asked.code, asked.stdout.split(']')[0]]).toEqual([0, '[Offline demo, no language model']);
  const { checks } = JSON.parse((await trayclaw('doctor', '--json')).stdout) as { checks: { id: string; ok: boolean }[] };
  expect(checks.filter(({ id, ok }) => ok && ['storage', 'chain', 'search'].includes(id))).toHaveLength(3);
});

test('the sample plugin loads after its approval, and its call asks like any other', { timeout: 240_000 }, async () => {
  const home = join(stranger.folder, 'plugin-home');
  const file = join(stranger.project, 'weather.mjs');
  const source = readFileSync(join(projectRoot, 'examples/weather/weather.mjs'), 'utf8');
  stranger.write('weather.mjs', source);
  mkdirSync(home);
  writeFileSync(join(home, 'config.yaml'), JSON.stringify({ plugins: { files: [file], settings: { weather: { unit: 'fahrenheit' } } } }));
  const env = { TRAYCLAW_HOME: home, PATH: `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}` };
  const trayclaw = (...args: string[]) => run(join(stranger.project, 'node_modules/.bin/trayclaw'), args, stranger.project, env);
  const listed = async () =>
    (JSON.parse((await trayclaw('plugins', 'list', '--json')).stdout) as { path: string; sha256: string; state: string }[])[0];
  const report = () => trayclaw('plugins', 'call', 'weather.report', '{"city":"Oslo"}', '--json');

  const found = await listed();
  expect(found).toMatchObject({ state: 'waiting', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
  expect((await report()).code).not.toBe(0);
  expect(await trayclaw('plugins', 'approve', file, found?.sha256 ?? '')).toMatchObject({ code: 0, stderr: '' });
  expect(await listed()).toMatchObject({ state: 'loaded' });
  expect(JSON.parse((await report()).stdout)).toEqual({ city: 'Oslo', degrees: null, unit: 'fahrenheit' });

  const asked = await trayclaw('tool', 'note_weather', '{"city":"Oslo","degrees":10}', '--json');
  expect(asked.code).toBe(3);
  const [approval] = JSON.parse((await trayclaw('approvals', 'list', '--json')).stdout) as { approvalId: string }[];
  expect((await trayclaw('approvals', 'approve', approval?.approvalId ?? '')).code).toBe(0);
  expect(JSON.parse((await report()).stdout)).toEqual({ city: 'Oslo', degrees: 50, unit: 'fahrenheit' });

  stranger.write('weather.mjs', `${source}\n`);
  const changed = await listed();
  expect([changed?.state, changed?.sha256 === found?.sha256]).toEqual(['waiting', false]);
  expect((await report()).code).not.toBe(0);
});

test('a separate program passes the same plugin to the library', async () => {
  stranger.write('weather.mjs', readFileSync(join(projectRoot, 'examples/weather/weather.mjs'), 'utf8'));
  stranger.write(
    'with-plugin.mjs',
    `import { createTrayClaw } from 'trayclaw';
import { feature } from './weather.mjs';
const claw = await createTrayClaw({ home: ${JSON.stringify(join(stranger.folder, 'program-home'))}, features: [feature] });
console.log(JSON.stringify(await claw.call('weather.report', { city: 'Oslo' })));
await claw.close();
`,
  );
  expect(await run(process.execPath, ['with-plugin.mjs'], stranger.project)).toEqual({
    code: 0,
    stdout: '{"city":"Oslo","degrees":null,"unit":"celsius"}\n',
    stderr: '',
  });
});

test('the closure has the nearest folders and required peers, but nothing optional', () => {
  const packages = {
    'node_modules/a': { dependencies: { b: '2' }, peerDependencies: { p: '1', q: '1' }, peerDependenciesMeta: { q: { optional: true } } },
    'node_modules/a/node_modules/b': { dependencies: { c: '1' } },
    'node_modules/b': {},
    'node_modules/c': { optionalDependencies: { b: '1' } },
    'node_modules/p': {},
    'node_modules/q': {},
  };
  const expected = ['node_modules/a', 'node_modules/a/node_modules/b', 'node_modules/b', 'node_modules/c', 'node_modules/p'];
  expect(closure(packages, ['a'])).toEqual(expected);
  expect(() => closure({ 'node_modules/a': { dependencies: { z: '1' } } }, ['a'])).toThrow('has no z');
});
