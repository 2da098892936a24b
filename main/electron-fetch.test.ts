// Runs Electron's own installer against a local mirror: progress is reported and the file unpacked; a silent mirror is given up.

import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { bringElectron, findElectron, findOrFetchElectron, type Fetched, type FetchOptions } from './electron-binary.ts';

const modules = fileURLToPath(new URL('../node_modules', import.meta.url));

interface Told {
  readonly fetched: Fetched;
  readonly said: string[];
  readonly host: string;
  readonly asked: string[];
  readonly root: string;
}

type Way = (options: FetchOptions) => Promise<Fetched>;

interface Case {
  readonly way?: Way;
  readonly archive?: Buffer;
}

async function fetchFrom(answer: RequestListener, { way = findOrFetchElectron, archive = Buffer.alloc(0) }: Case = {}): Promise<Told> {
  const root = mkdtempSync(join(tmpdir(), 'trayclaw-fetch-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, 'node_modules', 'electron'), { recursive: true });
  for (const file of ['install.js', 'package.json', 'checksums.json'])
    copyFileSync(join(modules, 'electron', file), join(root, 'node_modules', 'electron', file));
  for (const scope of ['@electron', '@electron-internal']) symlinkSync(join(modules, scope), join(root, 'node_modules', scope), 'junction');
  if (archive.length > 0) {
    const file = join(root, 'node_modules', 'electron', 'checksums.json');
    const sums = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    const sum = createHash('sha256').update(archive).digest('hex');
    writeFileSync(file, JSON.stringify(Object.fromEntries(Object.keys(sums).map((name) => [name, sum]))));
  }
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const said: string[] = [];
  const fetched = await way({
    root,
    home: join(root, 'home'),
    env: {
      PATH: process.env['PATH'],
      HOME: root,
      TMPDIR: root,
      ELECTRON_MIRROR: `http://${host}/`,
      electron_config_cache: join(root, 'cache'),
    },
    platform: process.platform,
    nowMs: () => 1_800_000_000_000,
    silentMsMax: 3_000,
    say: (line) => said.push(line),
  });
  return { fetched, said, host, asked, root };
}

test('reports a slow download in steps, and rejects a wrong file', { timeout: 60_000 }, async () => {
  const { fetched, said, host, asked } = await fetchFrom((_request, response) => {
    response.writeHead(200, { 'content-length': 4_000_000 });
    let sent = 0;
    // The whole download takes longer than the allowed silence.
    const timer = setInterval(() => {
      response.write(Buffer.alloc(500_000));
      sent += 1;
      if (sent < 8) return;
      clearInterval(timer);
      response.end();
    }, 600);
  });
  expect(asked[0]).toMatch(/electron-v[\d.]+-\w+-\w+\.zip$/);
  expect(fetched).toEqual({ why: expect.stringMatching(/^Electron could not be fetched \(.*checksum.*\)$/) });
  expect(said[0]).toBe(`Fetching Electron from ${host}, which is done once.`);
  expect(said.length).toBeGreaterThan(4);
  expect(said.at(-1)).toMatch(/^Electron: 100 % of 4 MB, [5-9] s$|, \d\d s$/);
});

test('gives up a mirror that never answers, and one that falls silent', { timeout: 60_000 }, async () => {
  const why = 'Electron could not be fetched, because nothing more came of it';
  expect((await fetchFrom(() => undefined)).fetched).toEqual({ why });
  const some: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-length': 1_000_000 });
    response.write(Buffer.alloc(300_000));
  };
  const half = await fetchFrom(some);
  expect([half.fetched, half.said.length]).toEqual([{ why }, 2]);
});

test('packaging gets an unpacked Electron, repeatedly, with the time it took', { timeout: 60_000 }, async () => {
  const names: Partial<Record<NodeJS.Platform, string>> = { win32: 'electron.exe', darwin: 'Electron.app/Contents/MacOS/Electron' };
  const name = names[process.platform] ?? 'electron';
  const archive = zip({ [name]: 'program', version: '1.2.3' });
  // Neither an earlier try today nor a build server prevents this, and an existing program is not downloaded again.
  const insisting: Way = async (options) => {
    const asks = { ...options, env: { ...options.env, CI: '1' } };
    expect(await findOrFetchElectron(asks)).toEqual({ why: 'Electron is not installed' });
    await bringElectron(asks);
    return bringElectron(asks);
  };
  const { fetched, said, host, asked, root } = await fetchFrom((_request, response) => response.end(archive), { way: insisting, archive });
  expect(fetched).toEqual(findElectron(root, {}, process.platform));
  expect('binary' in fetched && readFileSync(fetched.binary, 'utf8')).toBe('program');
  expect('folder' in fetched && readFileSync(join(fetched.folder, 'version'), 'utf8')).toBe('1.2.3');
  expect([said[0], said.at(-1)]).toEqual([
    `Fetching Electron from ${host}, which is done once.`,
    expect.stringMatching(/^Electron is there, after \d+ s\.$/),
  ]);
  expect(asked).toHaveLength(1);
});

test('names a mirror without this version, and an unreachable one, as the reason', { timeout: 60_000 }, async () => {
  const missing = await fetchFrom((_request, response) => response.writeHead(404).end());
  expect(missing.fetched).toEqual({ why: expect.stringMatching(/^Electron could not be fetched \(.*404.*\)$/) });
  const nowhere: Way = (options) => bringElectron({ ...options, env: { ...options.env, ELECTRON_MIRROR: 'http://127.0.0.1:1/' } });
  expect((await fetchFrom(() => undefined, { way: nowhere })).fetched).toEqual({
    why: expect.stringMatching(/^Electron could not be fetched \(.*(?:ECONNREFUSED|bad port).*\)$/),
  });
});

/** A zip archive that stores its files uncompressed. */
function zip(files: Readonly<Record<string, string>>): Buffer {
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  for (const [path, text] of Object.entries(files)) {
    const [name, data] = [Buffer.from(path), Buffer.from(text)];
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt32LE(crc32(data), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(data.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(0o100755 * 0x10000, 6);
    place.writeUInt32LE(Buffer.concat(bodies).length, 10);
    entries.push(Buffer.from('PK\u0001\u0002\u0014\u0003'), fields, place, name);
    bodies.push(Buffer.from('PK\u0003\u0004'), fields, name, data);
  }
  const end = Buffer.alloc(18);
  for (const at of [4, 6]) end.writeUInt16LE(Object.keys(files).length, at);
  end.writeUInt32LE(Buffer.concat(entries).length, 8);
  end.writeUInt32LE(Buffer.concat(bodies).length, 12);
  return Buffer.concat([...bodies, ...entries, Buffer.from('PK\u0005\u0006'), end]);
}
