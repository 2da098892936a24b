// The connection of a node to the NATS server of its group: credentials, TLS, and the error message if it cannot connect.

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { AuthorizationError, connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import type { A2aConfig } from '../../contracts/features/a2a.ts';
import { withSystemAuthorities } from '../../guard/egress/egress.ts';

type Config = NonNullable<A2aConfig['nats']>;
type Resolve = (ref: string) => Promise<string>;

/** Connects once. The client then reconnects automatically. */
export async function connectToServer(
  { servers, user, password, token, credentials, tls }: Config,
  { name, timeoutMs, resolve }: { readonly name: string; readonly timeoutMs: number; readonly resolve: Resolve },
): Promise<NatsConnection> {
  const options = {
    servers: servers.split(',').map((server) => server.trim()),
    name,
    timeout: timeoutMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 500,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { pass: await resolve(password) }),
    ...(token === undefined ? {} : { token: await resolve(token) }),
    ...(credentials === undefined ? {} : { authenticator: credsAuthenticator(await credentialsOf(credentials, resolve)) }),
    ...(tls === undefined ? {} : { tls: await securityOf(tls, servers, resolve) }),
  };
  return withSystemAuthorities(() => connect(options));
}

/** Adds the final newline that the client requires after the last line, since secret values are stored without one. */
async function credentialsOf(ref: string, resolve: Resolve): Promise<Uint8Array> {
  return new TextEncoder().encode(`${await resolve(ref)}\n`);
}

async function securityOf({ ca, cert, key }: NonNullable<Config['tls']>, servers: string, resolve: Resolve) {
  return {
    ...(ca === undefined ? {} : { ca: readFileSync(ca, 'utf8') }),
    ...(cert === undefined ? {} : { cert: readFileSync(cert, 'utf8') }),
    ...(key === undefined ? {} : { key: await resolve(key) }),
    checkServerIdentity: identityCheck(servers),
  };
}

/** The client names every server with an IP address `localhost`, so the certificate is checked against the addresses in config.yaml. */
function identityCheck(servers: string): typeof checkServerIdentity {
  const addresses = servers.split(',').flatMap((server) => {
    const host = URL.parse(`nats://${server.trim().replace(/^\w+:\/\//, '')}`)?.hostname.replaceAll(/[[\]]/g, '') ?? '';
    return isIP(host) === 0 ? [] : [host];
  });
  return (host, certificate) => {
    const problems = (host === 'localhost' && addresses.length > 0 ? addresses : [host]).map((one) =>
      checkServerIdentity(one, certificate),
    );
    return problems.includes(undefined) ? undefined : problems[0];
  };
}

/** Returns the message and the hint for a connection error. */
export function troubleOf(cause: unknown): readonly [string, string] {
  const { code = '', message = '' } = rootOf(cause);
  if (cause instanceof AuthorizationError) {
    return [
      'The NATS server of the group refused the credentials of this node.',
      'Check user, password, token or credentials in a2a.nats.',
    ];
  }
  if (/CERT|SSL|TLS|ALTNAME/i.test(code) || /certificate|tls/i.test(message)) {
    return ['There is no TLS connection to the NATS server of the group.', 'Check ca, cert and key in a2a.nats.tls.'];
  }
  return [
    'The NATS server of the group cannot be reached.',
    'Check that the NATS server runs with JetStream, and a2a.nats in config.yaml.',
  ];
}

function rootOf(cause: unknown): { readonly code?: string; readonly message?: string } {
  let root = cause;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return root instanceof Error ? root : {};
}
