// The code that a start of the program loads. Libraries used by only some features must load when first used.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { readStamp } from '../../build/freshness.mjs';
import { externalPackages } from '../../build/vite.node.ts';
import { cliFile } from '../program-file.ts';
import { projectRoot } from './fixture-tree.ts';
import { staticImportsOf } from './imports-of.ts';

const library = join(projectRoot, 'dist/index.js');

test('every start uses every library that it loads first', () => {
  const files = new Set<string>();
  const packages = new Set<string>();
  const read = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const specifier of staticImportsOf(readFileSync(file, 'utf8'))) {
      if (specifier.startsWith('.')) read(join(dirname(file), specifier));
      else if (!specifier.startsWith('node:')) packages.add(specifier);
    }
    // The bundler's own helpers have no source map.
    const map = `${file}.map`;
    const { sources } = (existsSync(map) ? JSON.parse(readFileSync(map, 'utf8')) : { sources: [] }) as { sources: string[] };
    for (const source of sources) {
      const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1];
      if (name !== undefined) packages.add(name);
    }
  };
  read(library);
  const bundled = ['croner', 'ignore', 'ipaddr.js', 'unbash', 'yaml', 'zod'];
  const native = externalPackages.filter((name) => packages.has(name));
  expect([...packages].sort()).toEqual([...bundled, ...native].sort());
  expect(native).toEqual(['better-sqlite3']);
});

test('a start does not load the parts of Node behind fetch', () => {
  const told = (code: string): string => execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  const loaded = "process.stdout.write(String(process.moduleLoadList.some((name) => name.endsWith('/undici'))))";
  expect(told(`import 'node:http'; ${loaded}`)).toBe('true');
  expect(told(`import ${JSON.stringify(pathToFileURL(library).href)}; ${loaded}`)).toBe('false');
});

test('the model client does not load HTTP/2', () => {
  const client = readStamp(projectRoot)?.files.find((name) => /^chunks\/undici-.*\.js$/.test(name)) ?? '';
  const code = `import client from ${JSON.stringify(pathToFileURL(join(projectRoot, 'dist', client)).href)};
    process.stdout.write(typeof client.Pool + ' ' + process.moduleLoadList.includes('NativeModule http2'));`;
  expect(execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })).toBe('function false');
});

/**
 * A preload that reports at exit how often code was generated from text, and what made Node load its time zone and language data, which
 * takes 8 MB and 15 ms.
 */
const watch = `
  import { writeFileSync } from 'node:fs';
  const seen = { made: 0, languages: [] };
  globalThis.Function = new Proxy(Function, {
    construct(target, args, newTarget) {
      seen.made += 1;
      return Reflect.construct(target, args, newTarget);
    },
  });
  const tell = (name) => seen.languages.push(name + new Error().stack.split('\\n')[3]);
  for (const name of ['Collator', 'DateTimeFormat', 'DisplayNames', 'ListFormat', 'NumberFormat', 'PluralRules', 'RelativeTimeFormat', 'Segmenter']) {
    Intl[name] = new Proxy(Intl[name], {
      construct: (...call) => (tell(name), Reflect.construct(...call)),
      apply: (...call) => (tell(name), Reflect.apply(...call)),
    });
  }
  for (const [kind, names] of [
    [String, ['localeCompare', 'toLocaleLowerCase', 'toLocaleUpperCase']],
    [Number, ['toLocaleString']],
    [Date, ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']],
  ])
    for (const name of names) {
      const original = kind.prototype[name];
      kind.prototype[name] = function (...args) {
        tell(name);
        return original.apply(this, args);
      };
    }
  process.on('exit', () => writeFileSync(process.env.SEEN_FILE, JSON.stringify(seen)));`;

test('a command-line question compiles no checks and loads no language data', () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-start-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, 'config.yaml'), 'models: { default: demo/offline }\n');
  const seen = join(home, 'seen.json');
  const env = { PATH: process.env['PATH'], HOME: home, TRAYCLAW_HOME: home, SEEN_FILE: seen };
  const hook = `data:text/javascript,${encodeURIComponent(watch)}`;
  execFileSync(process.execPath, ['--import', hook, cliFile, 'ask', 'hello'], { env, stdio: 'ignore' });
  expect(JSON.parse(readFileSync(seen, 'utf8'))).toEqual({ made: 0, languages: [] });
  const control = `(5000).toLocaleString(); 'a'.localeCompare('b'); Intl.DateTimeFormat(); new Function('');`;
  execFileSync(process.execPath, ['--import', hook, '-e', control], { env, stdio: 'ignore' });
  const { made, languages } = JSON.parse(readFileSync(seen, 'utf8')) as { made: number; languages: string[] };
  expect([made, languages.length]).toEqual([1, 3]);
});

/** A preload that counts the files of the program and the schemas of objects and lists that were built: such a schema asks for a memoizer. */
const count = `
  import { registerHooks } from 'node:module';
  import { writeFileSync } from 'node:fs';
  const seen = { files: 0, schemas: 0 };
  registerHooks({ load: (url, context, next) => (/[/]dist[/]/.test(url) && (seen.files += 1), next(url, context)) });
  const memoizer = { attach: () => (seen.schemas += 1), alloc: (schema, payload, empty) => empty, guard: () => {} };
  globalThis.__zod_globalConfig = Object.defineProperty({}, 'memoizer', { get: () => memoizer, set: () => {} });
  process.on('exit', () => writeFileSync(process.env.SEEN_FILE, JSON.stringify(seen)));`;

test('a start loads few files and builds few schemas', () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-start-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, 'config.yaml'), 'models: { default: demo/offline }\n');
  const env = { PATH: process.env['PATH'], HOME: home, TRAYCLAW_HOME: home, SEEN_FILE: join(home, 'seen.json') };
  const hook = `data:text/javascript,${encodeURIComponent(count)}`;
  execFileSync(process.execPath, ['--import', hook, cliFile, 'ask', 'hello'], { env, stdio: 'ignore' });
  const { files, schemas } = JSON.parse(readFileSync(env.SEEN_FILE, 'utf8')) as { files: number; schemas: number };
  expect(files).toBeLessThan(45);
  expect(schemas).toBeGreaterThan(20);
  expect(schemas).toBeLessThan(300);
});

test.each(['cli.js', 'daemon.js'])('%s starts on a Node without a compile cache, to report that it is too old', (entry) => {
  const text = readFileSync(join(projectRoot, 'dist', entry), 'utf8');
  // Loaded after the check of the version, because an old Node fails to link the import of a name that it does not have.
  expect(text).toMatch(/await import\(`\.\/chunks\/compile-cache-[^`]+`\)/);
  expect(text).not.toMatch(/\{[^}]*\}from"node:module"|from"\.\/chunks\/compile-cache/);
});

test('almost nothing is loaded before compiled code is read from the cache', () => {
  const chunk = /`(\.\/chunks\/compile-cache-[^`]+)`/.exec(readFileSync(join(projectRoot, 'dist/cli.js'), 'utf8'))?.[1] ?? '';
  const files = new Map<string, number>();
  const read = (file: string): void => {
    if (files.has(file)) return;
    const text = readFileSync(file, 'utf8');
    files.set(file, text.length);
    for (const specifier of staticImportsOf(text)) if (specifier.startsWith('.')) read(join(dirname(file), specifier));
  };
  read(join(projectRoot, 'dist', chunk));
  const characters = [...files.values()].reduce((sum, length) => sum + length, 0);
  // Code loaded earlier is compiled at every start.
  expect(characters).toBeGreaterThan(500);
  expect(characters).toBeLessThan(5_000);
});

test('a killed server has saved its compiled code', { timeout: 30_000 }, async () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-start-'));
  const env = { PATH: process.env['PATH'], HOME: home, TRAYCLAW_HOME: home, XDG_CACHE_HOME: join(home, 'cache'), LOCALAPPDATA: home };
  const child = spawn(process.execPath, [cliFile, 'serve'], { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(home, { recursive: true, force: true });
  });
  const kept = (): string[] =>
    readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((path) => /compiled[\\/]v[^\\/]+[\\/]\w+$/.test(path));
  // The chunks of a start are written one after the other.
  await expect.poll(() => kept().length, { timeout: 20_000 }).toBeGreaterThan(25);
});
