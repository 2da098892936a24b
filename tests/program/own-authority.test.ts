// A company's certificate authority that only the operating system knows: every client trusts it, but not one that is not installed.

import { execFile } from 'node:child_process';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { testCertificates, type TestCertificates } from '../doubles/nats/nats-identities.ts';
import { needs } from '../needs.ts';

const child = fileURLToPath(new URL('own-authority-child.ts', import.meta.url));

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A mail server that answers every line with 250, after its greeting. */
function mailServer(identity: TestCertificates['server'], greeting: string): Server {
  return createTlsServer(identity, (socket) => {
    socket.on('error', () => undefined).on('data', () => socket.write('250 ok\r\n'));
    socket.write(`${greeting}\r\n`);
  });
}

async function askAll(authorityFile: string, ports: readonly number[]): Promise<unknown> {
  const env = { ...process.env, SSL_CERT_FILE: authorityFile, SSL_CERT_DIR: '/nowhere' };
  const { stdout } = await promisify(execFile)(process.execPath, [child, ...ports.map(String)], { env });
  return JSON.parse(stdout);
}

const options = { ...needs('Linux'), timeout: 60_000 };

test('every client trusts an authority that only the operating system knows, and no other', options, async () => {
  const { ca, server: identity } = testCertificates();
  let requests = 0;
  const web = createServer(identity, (_request, response) => response.end(`answer ${(requests += 1)}`));
  const ports = [await listen(web), await listen(mailServer(identity, '220 ready')), await listen(mailServer(identity, '* BYE busy'))];
  const refused = expect.stringMatching(/certificate|^fetch failed$/);
  expect(await askAll('/dev/null', ports)).toEqual(Array(6).fill(refused));
  expect(requests).toBe(0);
  expect(await askAll(ca, ports)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', expect.stringMatching(/closed the connection: busy$/)]);
  expect(requests).toBe(4);
});
