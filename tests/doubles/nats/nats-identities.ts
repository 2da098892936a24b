// For tests only: identities for a NATS server with TLS and accounts. Certificates come from openssl; operator, account and users are
// signed here as NATS's own tool does.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { onTestFinished } from 'vitest';

type KeyPair = ReturnType<typeof nkeys.createUser>;

const without = -1;
const limits = {
  subs: without,
  data: without,
  payload: without,
  imports: without,
  exports: without,
  wildcards: true,
  conn: without,
  leaf: without,
  mem_storage: without,
  disk_storage: without,
  streams: without,
  consumer: without,
};

function signed(by: KeyPair, of: KeyPair, name: string, nats: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { jti: name, iat: Math.floor(Date.now() / 1000), iss: by.getPublicKey(), name, sub: of.getPublicKey(), nats };
  const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(claims)}`;
  return `${text}.${Buffer.from(by.sign(Buffer.from(text))).toString('base64url')}`;
}

/** An operator with one account. */
export class NatsIdentities {
  readonly #operator = nkeys.createOperator();
  readonly #account = nkeys.createAccount();
  readonly #system = nkeys.createAccount();

  /** Configuration lines of a server that accepts the account's users. */
  get config(): string {
    const account = (of: KeyPair, name: string, more: object): string =>
      signed(this.#operator, of, name, {
        limits: { ...limits, ...more },
        default_permissions: { pub: {}, sub: {} },
        type: 'account',
        version: 2,
      });
    const system = { mem_storage: 0, disk_storage: 0, streams: 0, consumer: 0 };
    return `operator: "${signed(this.#operator, this.#operator, 'test', { type: 'operator', version: 2 })}"
system_account: ${this.#system.getPublicKey()}
resolver: MEMORY
resolver_preload: {
  ${this.#account.getPublicKey()}: "${account(this.#account, 'group', {})}"
  ${this.#system.getPublicKey()}: "${account(this.#system, 'SYS', system)}"
}`;
  }

  /** The content of a credentials file. */
  credentials(): string {
    const user = nkeys.createUser();
    const nats = { pub: {}, sub: {}, subs: without, data: without, payload: without, type: 'user', version: 2 };
    const token = signed(this.#account, user, 'node', nats);
    const seed = Buffer.from(user.getSeed()).toString();
    const block = (name: string, text: string): string => `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n`;
    return `${block('NATS USER JWT', token)}\n${block('USER NKEY SEED', seed)}`;
  }
}

export interface TestCertificates {
  readonly ca: string;
  /** Configuration lines of a server that presents its certificate and requires one from clients. */
  readonly config: string;
  readonly server: { readonly cert: string; readonly key: string };
  readonly client: { readonly cert: string; readonly key: string };
}

/** Creates a new certificate authority, and certificates signed by it for a server on this machine and for a client. */
export function testCertificates(): TestCertificates {
  const folder = mkdtempSync(join(tmpdir(), 'tc-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { stdio: 'ignore' });
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  openssl('req', '-x509', ...fresh, '-keyout', file('ca.key'), '-out', file('ca.pem'), '-subj', '/CN=test authority');
  const ca = ['-CA', file('ca.pem'), '-CAkey', file('ca.key')];
  for (const name of ['server', 'client']) {
    const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
    openssl('req', '-x509', ...fresh, ...ca, '-keyout', file(`${name}.key`), '-out', file(`${name}.pem`), ...names);
  }
  return {
    ca: file('ca.pem'),
    config: `tls { cert_file: "${file('server.pem')}", key_file: "${file('server.key')}", ca_file: "${file('ca.pem')}", verify: true }`,
    server: { cert: readFileSync(file('server.pem'), 'utf8'), key: readFileSync(file('server.key'), 'utf8') },
    client: { cert: file('client.pem'), key: readFileSync(file('client.key'), 'utf8') },
  };
}
