import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { engineVersion } from '../../mind/llm/llm.ts';
import { installEngine } from './install-engine.ts';
import { pinnedPackages, type PinnedPackage } from './pinned-packages.ts';

interface Entry {
  readonly name: string;
  readonly body?: string;
  readonly type?: string;
}

function archiveOf(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ name, body = '', type = '0' }) => {
    const head = Buffer.alloc(512);
    head.write(name, 0);
    head.write(`${Buffer.byteLength(body).toString(8).padStart(11, '0')}\0`, 124);
    head.write(type, 156);
    head.write('ustar\0', 257);
    head.write('        ', 148);
    const sum = head.reduce((total, byte) => total + byte, 0);
    head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    const data = Buffer.from(body);
    return [head, data, Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

function bench(archives: Readonly<Record<string, Buffer>>) {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-install-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, 'engine', 'v1');
  const packages = Object.entries(archives).map(([name, archive]): PinnedPackage => {
    const sha512 = createHash('sha512').update(archive).digest('base64');
    return [`node_modules/${name}`, '1.0.0', archive.length, 0, sha512];
  });
  const asked: string[] = [];
  const install = (given: Readonly<Record<string, Buffer>> = archives, signal = new AbortController().signal) =>
    installEngine(
      {
        packages,
        folder,
        registry: 'https://registry.example',
        fetch: (url) => {
          asked.push(url);
          const archive = Object.entries(given).find(([name]) => url.includes(`/${name}/-/`))?.[1];
          return archive === undefined ? Promise.reject(new Error('offline')) : Promise.resolve(archive);
        },
        onProgress: () => undefined,
      },
      signal,
    );
  return { home, folder, install, asked };
}

const plain = archiveOf([
  { name: 'package/package.json', body: '{"scripts":{"postinstall":"exit 1"}}' },
  { name: 'package/dist/index.js', body: 'export {};' },
  { name: 'package/dist/index.d.ts', body: 'export {};' },
  { name: 'package/llama/gitRelease.bundle', body: 'sources' },
]);

test('unpacks pinned archives without types and sources', async () => {
  const { folder, install, asked } = bench({ '@scope/one': plain, two: plain });
  await install();
  expect(asked.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    'https://registry.example/@scope/one/-/one-1.0.0.tgz',
    'https://registry.example/two/-/two-1.0.0.tgz',
  ]);
  expect(new Set(readdirSync(join(folder, 'node_modules/@scope/one'), { recursive: true, encoding: 'utf8' }))).toEqual(
    new Set(['dist', join('dist', 'index.js'), 'package.json']),
  );
  expect(readFileSync(join(folder, 'node_modules/two/dist/index.js'), 'utf8')).toBe('export {};');
});

test.each([
  ['an archive that is another one', archiveOf([{ name: 'package/index.js', body: 'evil()' }]), 'is not the pinned archive'],
  ['one that is missing', null, 'offline'],
])('%s installs nothing', async (_what, other, words) => {
  const { home, folder, install } = bench({ one: plain, two: plain });
  await expect(install({ one: plain, ...(other === null ? {} : { two: other }) })).rejects.toThrow(words);
  expect(existsSync(folder)).toBe(false);
  expect(readdirSync(join(home, 'engine'))).toEqual([]);
});

test.each([
  ['a path that leads out', { name: 'package/../../../../out.js', body: 'x' }],
  ['an absolute path', { name: '/out.js', body: 'x' }],
  ['a link', { name: 'package/link', type: '2' }],
  ['a hard link', { name: 'package/link', type: '1' }],
])('refuses an archive with %s, even if it is pinned', async (_what, entry) => {
  const { home, install } = bench({ one: archiveOf([entry]) });
  await expect(install()).rejects.toMatchObject({ code: 'tool_failed' });
  expect(existsSync(join(home, 'out.js'))).toBe(false);
  expect(readdirSync(join(home, 'engine'))).toEqual([]);
});

test('leaves nothing behind if it is stopped', async () => {
  const { home, install } = bench({ one: plain });
  await expect(install({}, AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
  expect(readdirSync(join(home, 'engine'))).toEqual([]);
});

test.each(['linux-x64', 'linux-arm64', 'mac-arm64-metal', 'mac-x64', 'win-x64', 'win-arm64'])('%s: every pin is complete', (target) => {
  const all = pinnedPackages(target);
  expect(new Set(all.map(([path]) => path)).size).toBe(all.length);
  for (const [path, version, archiveBytes, diskBytes, sha512] of all) {
    expect(path).toMatch(/^node_modules\/(?!.*\.\.)/);
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect([archiveBytes > 0, diskBytes > 0, Buffer.from(sha512, 'base64').length]).toEqual([true, true, 64]);
  }
  const engines = all.filter(([path]) => path.includes('node-llama-cpp')).map(([, version]) => version);
  expect(engines).toEqual([engineVersion, engineVersion]);
});

test('has no packages for an unknown platform', () => expect(pinnedPackages('plan9-x64')).toEqual([]));
