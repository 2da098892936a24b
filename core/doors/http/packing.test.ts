// The local server compresses assets and large results for clients that accept it, and sends the rest uncompressed.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClaw } from '../../../tests/doubles/fake-claw.ts';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { createHttpDoor, type HttpDoor, type UrlListening } from './http.ts';

const token = 'T'.repeat(43);
const auth = { authorization: `Bearer ${token}` };
const json = { ...auth, 'content-type': 'application/json' };

let claw: FakeClaw;
let door: HttpDoor;
let at: UrlListening;
let folder: string;

beforeEach(async () => {
  claw = new FakeClaw({ 'safety.url': ({ url }) => ({ decision: 'allow', reason: 'fine', url }) });
  folder = mkdtempSync(join(tmpdir(), 'trayclaw-packed-'));
  for (const name of ['assets', 'deep']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'index.html'), '<!doctype html>window');
  door = createHttpDoor({ claw, token, logger: silentLogger, clock: new ManualClock(), assetsFolder: folder, version: '1.2.3' });
  at = await door.listen({});
});

afterEach(async () => {
  await claw.close();
  await door.close();
  rmSync(folder, { recursive: true });
});

interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function open(path: string, { method = 'GET', headers = {}, body }: Sent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) =>
    request({ host: '127.0.0.1', port: at.port, path, method, headers, agent: false }, resolve).on('error', reject).end(body),
  );
}

/** The content coding of the response and its raw bytes. */
async function sendPacked(path: string, sent: Sent): Promise<[string | undefined, Buffer]> {
  const response = await open(path, sent);
  return [response.headers['content-encoding'], Buffer.concat(await response.toArray())];
}

test('compresses an asset for a client that accepts only gzip', async () => {
  const text = 'export const words = "the same again and again";\n'.repeat(100);
  writeFileSync(join(folder, 'assets', 'long-3c4d.js'), text);
  const get = (path: string, accepted: string) => sendPacked(path, { headers: { 'accept-encoding': accepted } });
  for (const accepted of ['gzip', 'br, gzip', 'gzip;q=0.5']) {
    const [encoding, bytes] = await get('/assets/long-3c4d.js', accepted);
    expect([accepted, encoding, gunzipSync(bytes).toString(), bytes.length < text.length / 10]).toEqual([accepted, 'gzip', text, true]);
  }
  for (const accepted of ['', 'br', 'gzip;q=0', 'x-gzip-not']) {
    expect([accepted, ...(await get('/assets/long-3c4d.js', accepted))]).toEqual([accepted, undefined, Buffer.from(text)]);
  }
  // The page fits into one packet uncompressed.
  expect((await get('/', 'gzip'))[0]).toBe(undefined);
  // The build created a compressed form. It is used only for files named by a content hash.
  const built = brotliCompressSync(text);
  for (const path of ['assets/long-3c4d.js', 'deep/long.js']) {
    writeFileSync(join(folder, path), text);
    writeFileSync(join(folder, `${path}.br`), built);
  }
  expect(await get('/assets/long-3c4d.js', 'gzip, deflate, br, zstd')).toEqual(['br', built]);
  expect((await get('/assets/long-3c4d.js', 'gzip, br;q=0'))[0]).toBe('gzip');
  expect((await get('/deep/long.js', 'gzip, br'))[0]).toBe('gzip');
});

test('compresses large results for gzip clients, never small ones or streams', async () => {
  const url = `https://example.org/${'a'.repeat(6000)}`;
  const ask = (asked: string, accepted: string) =>
    sendPacked('/api/ops/safety.url', {
      method: 'POST',
      headers: { ...json, 'accept-encoding': accepted },
      body: JSON.stringify({ url: asked }),
    });
  const whole = { ok: true, result: { decision: 'allow', reason: 'fine', url } };
  const [coding, bytes] = await ask(url, 'gzip, br');
  expect([coding, JSON.parse(gunzipSync(bytes).toString()), bytes.length < 1000]).toEqual(['gzip', whole, true]);
  const [plain, unpacked] = await ask(url, 'gzip;q=0');
  expect([plain, JSON.parse(unpacked.toString())]).toEqual([undefined, whole]);
  expect((await ask('https://example.org/', 'gzip'))[0]).toBe(undefined);
  const stream = await open('/api/events?after=latest', { headers: { ...auth, 'accept-encoding': 'gzip' } });
  expect(stream.headers['content-encoding']).toBe(undefined);
  stream.destroy();
});
