// The package of the desktop app, without Electron: electron-builder's own schema accepts the configuration, and its own matchers determine
// the content.

import { readFileSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { validateConfiguration } from 'app-builder-lib/out/util/config/config.js';
import type { Configuration } from 'app-builder-lib';
import { expect, test } from 'vitest';
import { packagingConfig, removeEmptySecrets, withPluginEntitlements } from '../../build/electron-builder.mjs';
import { fuses, setLastFuse } from '../../build/fuses.ts';
import { missingNativeFiles, type PackedPlatform } from '../../build/packed-files.ts';
import { createTree, projectRoot, runCheck } from './fixture-tree.ts';
import { importsOf } from './imports-of.ts';
import { packedList } from './packed-list.ts';

const quiet = { isEnabled: false } as Parameters<typeof validateConfiguration>[1];
const targets: readonly (readonly [PackedPlatform, string])[] = (['linux', 'darwin', 'win32'] as const).flatMap((platform) =>
  ['x64', 'arm64'].map((arch) => [platform, arch] as const),
);

test("electron-builder's schema accepts the configuration, but no unknown name", async () => {
  const signed = { CSC_LINK: 'certificate.p12', APPLE_API_KEY: 'key.p8' };
  for (const env of [{}, signed]) await validateConfiguration(packagingConfig(projectRoot, env), quiet);
  await expect(validateConfiguration({ ...packagingConfig(projectRoot, {}), asarUnpacked: [] } as Configuration, quiet)).rejects.toThrow(
    'asarUnpacked',
  );
});

test('every fuse is set explicitly', () => {
  expect(fuses).toEqual({
    runAsNode: false,
    enableCookieEncryption: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    loadBrowserProcessSpecificV8Snapshot: false,
    grantFileProtocolExtraPrivileges: false,
    resetAdHocDarwinSignature: false,
  });
});

test('a binary with an extra fuse, and one without fuses, are rejected', () => {
  const binary = (count: number): string =>
    join(
      createTree({ electron: `code dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX\u0001${String.fromCharCode(count)}${'0'.repeat(count)} code` }),
      'electron',
    );
  const known = binary(9);
  setLastFuse(known);
  expect(readFileSync(known, 'latin1').slice(-14)).toBe('000000001 code');
  expect(() => setLastFuse(binary(10))).toThrow('has 10 fuses where 9 are decided on');
  writeFileSync(known, 'code');
  expect(() => setLastFuse(known)).toThrow('no fuses of a known layout');
});

test('nothing is signed, hardened or notarized unless the environment asks', () => {
  const decisions = (env: Record<string, string>): unknown => {
    const { mac } = packagingConfig(projectRoot, env);
    return [mac?.identity, typeof mac?.sign, mac?.hardenedRuntime, mac?.notarize];
  };
  expect(decisions({})).toEqual(['-', 'undefined', false, false]);
  expect(decisions({ CSC_LINK: 'a.p12' })).toEqual([undefined, 'function', true, false]);
  expect(decisions({ APPLE_ID: 'a' })).toEqual(['-', 'undefined', false, false]);
  expect(decisions({ CSC_NAME: 'a', APPLE_ID: 'a' })).toEqual([undefined, 'function', true, true]);
});

test('a secret that a workflow passes without a value counts as absent', () => {
  const env = { CSC_LINK: '', WIN_CSC_LINK: '', CSC_KEY_PASSWORD: '', APPLE_ID: '', APPLE_TEAM_ID: 'T', PATH: '' };
  removeEmptySecrets(env);
  expect(env).toEqual({ APPLE_TEAM_ID: 'T', PATH: '' });
});

test('each secret that a package needs reaches it from a release', () => {
  const workflow = (name: string): string => readFileSync(join(projectRoot, '.github/workflows', name), 'utf8');
  const names = (text: string): string[] =>
    [...new Set([...text.matchAll(/secrets\.((?:WIN_)?CSC_\w+|APPLE_\w+)/g)].map(([, name = '']) => name))].sort();
  const used = names(workflow('dist.yml'));
  expect(used).toEqual([
    'APPLE_APP_SPECIFIC_PASSWORD',
    'APPLE_ID',
    'APPLE_TEAM_ID',
    'CSC_KEY_PASSWORD',
    'CSC_LINK',
    'WIN_CSC_KEY_PASSWORD',
    'WIN_CSC_LINK',
  ]);
  expect(names(workflow('release.yml'))).toEqual(used);
  expect(used.filter((name) => !workflow('dist.yml').includes(`      ${name}:\n        required: false\n`))).toEqual([]);
});

test('an AppImage needs no libfuse2, and its entry keeps the sandbox', () => {
  const { toolsets, appImage } = packagingConfig(projectRoot, {});
  expect([toolsets?.appimage, appImage?.executableArgs]).toEqual(['1.0.3', undefined]);
  // An update keeps the file's name, which the entry that starts it at login names.
  expect(appImage?.artifactName).toBe('${productName}-${os}-${arch}.${ext}');
});

test('on macOS only the helper of utility processes may load libraries of others', () => {
  const own = { entitlements: 'own.plist', hardenedRuntime: true };
  const { optionsForFile } = withPluginEntitlements({ optionsForFile: (_file: string) => own });
  const helper = (kind: string): string =>
    `/release/TrayClaw.app/Contents/Frameworks/TrayClaw Helper${kind}.app/Contents/MacOS/TrayClaw Helper${kind}`;
  const given = [helper(''), helper(' (GPU)'), helper(' (Renderer)'), '/release/TrayClaw.app'].map((file) => optionsForFile(file));
  expect(given).toEqual([own, own, own, own]);
  const { entitlements, ...others } = optionsForFile(helper(' (Plugin)'));
  expect(others).toEqual({ hardenedRuntime: true });
  const rights = (file: string): string[] =>
    [...readFileSync(join(projectRoot, file), 'utf8').matchAll(/security\.(?:cs\.)?([\w.-]+)/g)].map(([, name = '']) => name);
  expect(rights(entitlements)).toEqual(['allow-jit', 'allow-unsigned-executable-memory', 'disable-library-validation']);
  expect(rights('build/entitlements.mac.plist')).toEqual(['allow-jit']);
  // Only the app itself may ask to control others, and says why.
  const { mac } = packagingConfig(projectRoot, {});
  expect([rights(mac?.entitlements ?? ''), mac?.entitlementsInherit]).toEqual([
    ['allow-jit', 'automation.apple-events'],
    'build/entitlements.mac.plist',
  ]);
  expect(mac?.extendInfo).toHaveProperty('NSAppleEventsUsageDescription');
});

test('a package comes with the feed that a release merges and uploads', () => {
  expect(packagingConfig(projectRoot, {}).publish).toEqual({ provider: 'generic', url: 'https://trayclaw.invalid/' });
  const workflow = (name: string): string => readFileSync(join(projectRoot, '.github/workflows', name), 'utf8');
  expect(workflow('dist.yml')).toContain('release/latest*.yml');
  expect(workflow('release.yml')).toContain('artifacts/macos-15/latest-mac.yml artifacts/macos-15-intel/latest-mac.yml');
});

test.each(targets)('the package for %s on %s contains the app and no build files', (platform, arch) => {
  const packed = packedList(platform, arch);
  const paths = [...packed.keys()];
  const foreign = paths.filter(
    (path) =>
      !/^(?:package\.json|LICENSE|build\/icons\/icon\.png|build\/tray-icons\/[\w/-]+\.png|dist\/[\w./-]+\.(?:js|cjs|css|html|svg|txt)|node_modules\/.+|skills\/[a-z0-9-]+\/(?:[\w./-]+\.(?:md|mjs)|evals\/cases\.yaml))$/.test(
        path,
      ),
  );
  const kinds = paths.filter(
    (path) => !path.startsWith('skills/') && /(?<!LICENSE)\.(?:map|ts|mts|md|c|cc|cpp|h|gyp|sh|ps1)$|\btests?\//.test(path),
  );
  expect({ foreign, kinds }).toEqual({ foreign: [], kinds: [] });
  expect(paths).toEqual(
    expect.arrayContaining([
      'package.json',
      'dist/desktop.js',
      'dist/preload.cjs',
      'dist/page-worker.js',
      'dist/document-worker.js',
      'dist/engine-child.js',
      'dist/renderer/index.html',
      'dist/licenses.txt',
      'skills/csv-summary/scripts/summarize.mjs',
    ]),
  );
  expect(paths).not.toContain('dist/cli.js');
  // npm installs the terminal's addon only for this machine.
  const native = paths.filter((path) => path.endsWith('.node') && !path.includes('node-pty-')).sort();
  expect(native).toEqual([
    `node_modules/better-sqlite3/prebuilds/${platform}-${arch}.node`,
    `node_modules/keytar/prebuilds/${platform}-${arch}/keytar.node`,
  ]);
  const sizeBytes = [...packed.values()].reduce((sum, size) => sum + size, 0);
  process.stdout.write(`package for ${platform} ${arch}: ${paths.length} files, ${(sizeBytes / 1e6).toFixed(1)} MB before Electron\n`);
  // Loaded when first used: the PDF reader and a tokenizer's vocabulary, which are mostly data, and the clients of ssh, NATS, A2A, mail,
  // Discord and signatures.
  const onDemand = [...packed]
    .filter(([path]) =>
      /renderer\/pdfjs\.js$|chunks\/(?:gpt-tokenizer|ssh2|nats-group|peer-client|imapflow|nodemailer|discordjs-\w+|sapphire-async-queue|sigstore)-/.test(
        path,
      ),
    )
    .reduce((sum, [, size]) => sum + size, 0);
  expect(sizeBytes - onDemand).toBeLessThan(16e6);
  expect(onDemand).toBeLessThan(6.5e6);
});

test('the terminal addon of this machine is included, and no other', () => {
  const addons = [...packedList(process.platform as PackedPlatform, process.arch).keys()].filter((path) => path.includes('node-pty-'));
  const folder = `node_modules/@lydell/node-pty-${process.platform}-${process.arch}/`;
  expect(addons.length).toBeGreaterThan(1);
  expect(addons.filter((path) => !path.startsWith(folder))).toEqual([]);
});

test('every import of a built file is built in, Electron, or a packed module', () => {
  const packed = packedList(process.platform as PackedPlatform, process.arch);
  const outside = new Set<string>();
  const dangling: string[] = [];
  for (const path of packed.keys()) {
    if (!/^dist\/(?:chunks\/)?[^/]+\.c?js$/.test(path)) continue;
    for (const specifier of importsOf(readFileSync(join(projectRoot, path), 'utf8'))) {
      if (!specifier.startsWith('.')) outside.add(specifier);
      else if (!packed.has(new URL(specifier, `file:///${path}`).pathname.slice(1))) dangling.push(`${path}: ${specifier}`);
    }
  }
  // Electron brings original-fs.
  const builtIn = (name: string): boolean => name.startsWith('node:') || [...builtinModules, 'original-fs'].includes(name);
  const modules = [...outside].filter((name) => !builtIn(name)).sort();
  expect(dangling).toEqual([]);
  expect(modules).toEqual(['@anthropic-ai/sandbox-runtime', '@lydell/node-pty', 'better-sqlite3', 'electron', 'keytar', 'sqlite-vec']);
  const absent = modules.filter((name) => name !== 'electron' && !packed.has(`node_modules/${name}/package.json`));
  expect(absent).toEqual([]);
});

test('the first paint needs few bytes; parser and sanitizer load with the first chat', () => {
  const folder = join(projectRoot, 'dist/renderer');
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const names = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name = '']) => name);
  const texts = [page, ...names.map((name) => readFileSync(join(folder, name), 'utf8'))];
  const kilobytes = texts.reduce((sum, text) => sum + gzipSync(text).length, 0) / 1000;
  expect(kilobytes).toBeGreaterThan(50);
  expect(kilobytes).toBeLessThan(80);
  expect(texts.filter((text) => text.includes('ALLOWED_TAGS'))).toEqual([]);
});

test('the package contains the licences of everything bundled', () => {
  const titles = [...readFileSync(join(projectRoot, 'dist/licenses.txt'), 'utf8').matchAll(/^(\S+) [\d.]+\n=+$/gm)].map(
    (match) => match[1],
  );
  // One package of each bundle: the program's, the page thread's, the window's.
  expect(titles).toEqual(expect.arrayContaining(['undici', 'zod', 'electron-updater', '@mozilla/readability', 'svelte', 'dompurify']));
  expect(titles).not.toContain('vitest');
});

test('names missing native files before anything is packed', () => {
  const root = createTree({ 'node_modules/better-sqlite3/prebuilds/darwin-x64.node': '' });
  expect(missingNativeFiles(root, 'darwin', 'x64')).toEqual([
    'node_modules/keytar/prebuilds/darwin-x64/keytar.node',
    'node_modules/@lydell/node-pty-darwin-x64/package.json',
    'node_modules/sqlite-vec-darwin-x64/package.json',
  ]);
  expect(missingNativeFiles(projectRoot, process.platform as PackedPlatform, process.arch)).toEqual([]);
});

test('npm run dist prints its usage', () => {
  expect(runCheck('build/dist.mjs', '--frobnicate')).toEqual({
    code: 2,
    lines: ['dist: unknown: --frobnicate; usage: npm run dist [-- --dir]'],
  });
});
