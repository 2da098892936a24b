// Electron's own installer against a mirror on this computer: what comes is said in steps, and what falls silent is given up.

import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { findOrFetchElectron, type Fetched } from './electron-binary.ts';

const modules = fileURLToPath(new URL('../node_modules', import.meta.url));

async function fetchFrom(answer: RequestListener): Promise<{ fetched: Fetched; said: string[]; host: string; asked: string[] }> {
  const root = mkdtempSync(join(tmpdir(), 'trayclaw-fetch-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, 'node_modules', 'electron'), { recursive: true });
  for (const file of ['install.js', 'package.json', 'checksums.json'])
    copyFileSync(join(modules, 'electron', file), join(root, 'node_modules', 'electron', file));
  symlinkSync(join(modules, '@electron'), join(root, 'node_modules', '@electron'));
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
  const fetched = await findOrFetchElectron({
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
  return { fetched, said, host, asked };
}

test('what comes slowly is said in steps, and a wrong file is none', { timeout: 60_000 }, async () => {
  const { fetched, said, host, asked } = await fetchFrom((_request, response) => {
    response.writeHead(200, { 'content-length': 4_000_000 });
    let sent = 0;
    // Longer in all than the silence that is allowed.
    const timer = setInterval(() => {
      response.write(Buffer.alloc(500_000));
      sent += 1;
      if (sent < 8) return;
      clearInterval(timer);
      response.end();
    }, 600);
  });
  expect(asked[0]).toMatch(/electron-v[\d.]+-\w+-\w+\.zip$/);
  expect(fetched).toEqual({ why: 'Electron could not be fetched' });
  expect(said[0]).toBe(`Fetching Electron from ${host}, which is done once.`);
  expect(said.length).toBeGreaterThan(4);
  expect(said.at(-1)).toBe('Electron: 100 % of 4 MB');
});

test('a mirror that says nothing, and one that falls silent, are given up', { timeout: 60_000 }, async () => {
  const why = 'Electron could not be fetched, because nothing more came of it';
  expect((await fetchFrom(() => undefined)).fetched).toEqual({ why });
  const half = await fetchFrom((_request, response) => {
    response.writeHead(200, { 'content-length': 1_000_000 });
    response.write(Buffer.alloc(300_000));
  });
  expect([half.fetched, half.said.length]).toEqual([{ why }, 2]);
});
