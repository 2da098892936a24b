// The sign-ins in progress, one per server.

import { AppError } from '../../contracts/errors.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { connectServer, wantsSignIn } from './connection.ts';
import { boundedFetch } from './http-link.ts';
import type { McpServer, ServerDeps } from './server.ts';
import { SignInFlow } from './sign-in-flow.ts';
import type { SignIn, SignInProvider } from './sign-in.ts';
import { startFailure } from './start-failure.ts';

type Taken = Pick<ServerDeps, 'fetch' | 'sendElsewhere' | 'closing' | 'version' | 'panic'>;

const START_MS = 30_000;

export class SignIns {
  readonly #deps: Taken;
  readonly #signInOf: ServerDeps['signInOf'];
  readonly #running = new Map<string, SignInFlow>();

  constructor(deps: Taken, signInOf: ServerDeps['signInOf']) {
    this.#deps = deps;
    this.#signInOf = signInOf;
  }

  /** Starts a sign-in, or joins the running one; with `wait`, until it is done. Fails as the server does. */
  async login(server: McpServer, wait: boolean): Promise<OpResult<'mcp.login'>> {
    const { name } = server;
    const url = addressOf(server);
    if (this.#deps.panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped.');
    let flow = this.#running.get(name);
    if (flow === undefined) {
      if (wait) return { name, url: null, isSignedIn: (await this.#signInOf(name, url).provider()) !== null };
      flow = this.#begin(server, url);
    }
    if (wait) {
      await flow.done;
      return { name, url: null, isSignedIn: true };
    }
    const address = await flow.address;
    return { name, url: address, isSignedIn: address === null };
  }

  async logout(server: McpServer): Promise<void> {
    await this.#running.get(server.name)?.cancel();
    if (server.config.url !== undefined) await this.#signInOf(server.name, new URL(server.config.url)).forget();
    await server.close();
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#running.values()].map((flow) => flow.cancel()));
  }

  #begin(server: McpServer, url: URL): SignInFlow {
    const signIn: SignIn = this.#signInOf(server.name, url);
    const flow = new SignInFlow(signIn, { signal: this.#deps.closing, connect: (provider) => this.#attempt(server, url, provider) });
    this.#running.set(server.name, flow);
    const over = async (): Promise<void> => {
      await flow.done.catch(() => undefined);
      this.#running.delete(server.name);
      // The existing connection has no tokens.
      await server.close();
    };
    void over();
    return flow;
  }

  async #attempt(server: McpServer, url: URL, provider: SignInProvider) {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const { fetch: given, sendElsewhere, closing, version } = this.#deps;
    const send = boundedFetch({ url, headers: {}, fetch: given, sendElsewhere });
    const transport = new StreamableHTTPClientTransport(url, { fetch: send, authProvider: provider });
    try {
      const connection = await connectServer({
        open: () => transport,
        era: server.approved?.era ?? null,
        isLocal: false,
        startMs: START_MS,
        version,
        signal: closing,
        onToolsChanged: () => undefined,
        onClosed: () => undefined,
        elicit: () => Promise.resolve({ action: 'decline' }),
      });
      // Some servers let everyone connect and require a sign-in at the first request.
      await connection.listTools({ signal: closing, timeoutMs: START_MS }).finally(() => void connection.close());
      return null;
    } catch (cause) {
      if (!(await wantsSignIn(cause))) throw await startFailure({ name: server.name, url: url.href }, cause);
      return transport;
    }
  }
}

function addressOf({ name, config }: McpServer): URL {
  if (config.url !== undefined) return new URL(config.url);
  throw new AppError('invalid_params', `The MCP server ${name} is a program on this machine; it has no sign-in.`);
}
