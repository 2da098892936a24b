// The OAuth sign-in to a server on the web: stores the official client's data in the keychain or vault, bound to the server's address.
// Checks the `state` of an answer, because the client does not. Opens no browser.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import type {
  OAuthClientInformationContext,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { objectIn } from '../../base/json.ts';
import type { Secrets } from '../../guard/secret/secret.ts';

export type SecretBox = Pick<Secrets, 'resolve' | 'set' | 'delete' | 'guard'>;

interface Kept {
  /** The server of this sign-in. The data is never sent anywhere else. */
  readonly url: string;
  readonly port: number;
  /** The scopes that a server asked for in addition to those already granted. */
  readonly scope?: string | undefined;
  readonly tokens?: StoredOAuthTokens | undefined;
  readonly discovery?: OAuthDiscoveryState | undefined;
  /** The sign-in server at which the configured client was used. The client is not sent to any other. */
  readonly issuer?: string | undefined;
  /** Clients by issuer. */
  readonly clients: Readonly<Record<string, StoredOAuthClientInformation>>;
}

/** A client that was preregistered at the sign-in server. The secret is a reference. */
export interface AgreedClient {
  readonly id: string;
  readonly secret?: string | undefined;
}

export class SignIn {
  readonly #box: SecretBox;
  readonly #name: string;
  readonly #url: URL;
  readonly #agreed: AgreedClient | null;

  constructor(box: SecretBox, server: string, url: URL, agreed: AgreedClient | null = null) {
    this.#box = box;
    this.#name = `mcp-sign-in-${server}`;
    this.#url = url;
    this.#agreed = agreed;
  }

  /** For connections without a person; null before the first sign-in. */
  async provider(): Promise<SignInProvider | null> {
    const kept = await this.#read();
    return kept?.tokens === undefined ? null : this.#providerOf(kept);
  }

  /** For a person who signs in now. Reuses the port of an earlier sign-in if possible, because the sign-in server knows it. */
  async interactive(listen: (port: number | null) => Promise<number>): Promise<SignInProvider> {
    const kept = await this.#read();
    const port = await listen(kept?.port ?? null);
    // Another port means another redirect address, which the sign-in server does not know.
    const clients = kept?.port === port ? kept.clients : {};
    return this.#providerOf({ url: this.#url.href, port, clients, scope: kept?.scope, issuer: kept?.issuer });
  }

  async #providerOf(kept: Kept): Promise<SignInProvider> {
    const agreed = this.#agreed;
    const secret = agreed?.secret === undefined ? {} : { client_secret: await this.#box.resolve(agreed.secret) };
    const client = agreed === null ? null : { client_id: agreed.id, ...secret };
    return new SignInProvider(kept, (now) => this.#write(now), client);
  }

  async forget(): Promise<void> {
    await this.#box.delete(this.#name);
  }

  async #read(): Promise<Kept | null> {
    let text: string;
    try {
      text = await this.#box.resolve(`keychain:${this.#name}`);
    } catch {
      // The data is missing or cannot be read now, so a person signs in again.
      return null;
    }
    const kept = objectIn(text);
    if (kept?.['url'] !== this.#url.href) return null;
    const found = kept as unknown as Kept;
    this.#guard(found);
    return found;
  }

  async #write(kept: Kept): Promise<void> {
    this.#guard(kept);
    await this.#box.set(this.#name, JSON.stringify(kept));
  }

  /** Registers the secrets for redaction in logs and messages. */
  #guard({ tokens, clients }: Kept): void {
    const secrets = [tokens?.access_token, tokens?.refresh_token, ...Object.values(clients).map((client) => client.client_secret)];
    for (const secret of secrets) if (secret !== undefined) this.#box.guard(secret, this.#name);
  }
}

export class SignInProvider implements OAuthClientProvider {
  readonly #write: (kept: Kept) => Promise<void>;
  readonly #agreed: StoredOAuthClientInformation | null;
  #kept: Kept;
  #state: string | null = null;
  #verifier = '';
  /** The address at which the person signs in, once the official client has determined it. */
  address: URL | null = null;

  constructor(kept: Kept, write: (kept: Kept) => Promise<void>, agreed: StoredOAuthClientInformation | null) {
    this.#kept = kept;
    this.#write = write;
    this.#agreed = agreed;
  }

  get redirectUrl(): string {
    return `http://127.0.0.1:${this.#kept.port}/callback`;
  }

  get clientMetadata() {
    return {
      client_name: 'TrayClaw',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  /** Creates a new state for each sign-in. */
  state(): string {
    this.#state = randomBytes(32).toString('base64url');
    return this.#state;
  }

  /** True if an answer belongs to the sign-in that was started last; at most once. */
  takesState(given: string | null): boolean {
    const expected = this.#state;
    if (expected === null || given === null || given.length !== expected.length) return false;
    if (!timingSafeEqual(Buffer.from(given), Buffer.from(expected))) return false;
    this.#state = null;
    return true;
  }

  clientInformation(context?: OAuthClientInformationContext): StoredOAuthClientInformation | undefined {
    if (context === undefined) return undefined;
    const { issuer = context.issuer, clients } = this.#kept;
    if (this.#agreed === null || issuer !== context.issuer) return clients[context.issuer];
    this.#kept = { ...this.#kept, issuer };
    return this.#agreed;
  }

  saveClientInformation(client: StoredOAuthClientInformation, context?: OAuthClientInformationContext): Promise<void> {
    return context === undefined ? Promise.resolve() : this.#change({ clients: { ...this.#kept.clients, [context.issuer]: client } });
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#kept.tokens;
  }

  /** Drops the discovery, so that the next sign-in notices if the server moved to another sign-in server. */
  saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    return this.#change({ tokens, discovery: undefined });
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#kept.discovery;
  }

  /** Needed only during the sign-in, so it is not written. */
  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.#kept = { ...this.#kept, discovery };
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  /** Requests the scopes of this challenge together with those of earlier ones. */
  async redirectToAuthorization(address: URL): Promise<void> {
    const scope = [...new Set([...wordsOf(this.#kept.scope), ...wordsOf(address.searchParams.get('scope'))])].join(' ');
    if (scope !== '') address.searchParams.set('scope', scope);
    this.address = address;
    if (this.#kept.tokens !== undefined && scope !== '') await this.#change({ scope });
  }

  invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (what === 'verifier') this.#verifier = '';
    const all = what === 'all';
    return this.#change({
      ...(all || what === 'tokens' ? { tokens: undefined } : {}),
      ...(all || what === 'client' ? { clients: {} } : {}),
      ...(all || what === 'discovery' ? { discovery: undefined } : {}),
    });
  }

  #change(part: Partial<Kept>): Promise<void> {
    this.#kept = { ...this.#kept, ...part };
    return this.#write(this.#kept);
  }
}

function wordsOf(text: string | null | undefined): string[] {
  return (text ?? '').split(' ').filter((word) => word !== '');
}
