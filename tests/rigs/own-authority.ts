// For tests only, once in a process because Node keeps its list: a certificate authority that only the operating system knows, with a server
// of it, and a server of an authority that is not installed.

import type { AddressInfo, Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { onTestFinished } from 'vitest';
import { testCertificates, type TestCertificates } from '../doubles/nats/nats-identities.ts';

export type Identity = TestCertificates['server'];

/** The ports of both servers. */
export async function ownAuthority(open: (identity: Identity) => Server): Promise<{ readonly known: number; readonly unknown: number }> {
  const installed = testCertificates();
  Object.assign(process.env, { SSL_CERT_FILE: installed.ca, SSL_CERT_DIR: '/nowhere' });
  forgetAuthorities();
  return { known: await listen(open(installed.server)), unknown: await listen(open(testCertificates().server)) };
}

/** Trusts only the authorities of Node, as at the start of a process. */
export function forgetAuthorities(): void {
  setDefaultCACertificates(getCACertificates('bundled'));
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
