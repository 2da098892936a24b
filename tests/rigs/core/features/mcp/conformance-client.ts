// For tests only: the client under test that the protocol's conformance suite starts. It connects, signs in and calls with the program's
// own parts; only the person at the browser is simulated. Run as `conformance-client.ts URL`, with the scenario in the environment.

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { connectServer, wantsSignIn, type McpConnection } from '../../../../../core/features/mcp/connection.ts';
import { boundedFetch } from '../../../../../core/features/mcp/http-link.ts';
import { SignIn, type SignInProvider } from '../../../../../core/features/mcp/sign-in.ts';
import { SignInFlow } from '../../../../../core/features/mcp/sign-in-flow.ts';

interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments?: Record<string, unknown> }[];
}

const url = new URL(process.argv.at(-1) ?? '');
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const isModern = process.env['MCP_CONFORMANCE_PROTOCOL_VERSION'] === '2026-07-28';
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;
const never = new AbortController().signal;
const send = boundedFetch({ url, headers: {}, fetch, sendElsewhere: fetch });

const kept = new Map<string, string>();
const box = {
  resolve: (ref: string) => {
    const value = kept.get(ref.replace('keychain:', ''));
    return value === undefined ? Promise.reject(new Error('missing')) : Promise.resolve(value);
  },
  set: (name: string, value: string) => Promise.resolve(kept.set(name, value)).then(() => ({ isKeptOut: true })),
  delete: (name: string) => Promise.resolve(kept.delete(name)),
  guard: () => true,
};
if (context.client_secret !== undefined) kept.set('agreed', context.client_secret);
const agreed = context.client_secret === undefined ? undefined : 'keychain:agreed';
// Extensions without a person also name a client, but not a preregistered one.
const hasAgreed = scenario === 'auth/pre-registration' && context.client_id !== undefined;
const signIn = new SignIn(box, 'conformance', url, hasAgreed ? { id: context.client_id ?? '', secret: agreed } : null);

let transport: StreamableHTTPClientTransport | null = null;

function connect(provider: SignInProvider | null): Promise<McpConnection> {
  return connectServer({
    open: () =>
      (transport = new StreamableHTTPClientTransport(url, { fetch: send, ...(provider === null ? {} : { authProvider: provider }) })),
    era: isModern ? 'modern' : 'legacy',
    isLocal: false,
    startMs: 60_000,
    version: '1.0.0',
    signal: never,
    onToolsChanged: () => undefined,
    onClosed: () => undefined,
    elicit: () => Promise.resolve({ action: 'accept', content: {} }),
  });
}

/** Opens the address and follows redirects like a person's browser, back to this program. */
async function signInAsPerson(): Promise<void> {
  const flow = new SignInFlow(signIn, {
    signal: never,
    connect: async (provider) => {
      try {
        const made = await connect(provider);
        await made.listTools({ signal: never, timeoutMs: 30_000 }).finally(() => void made.close());
        return null;
      } catch (cause) {
        if (!(await wantsSignIn(cause))) throw cause;
        return transport;
      }
    },
  });
  const address = await flow.address;
  if (address !== null) await fetch(address, { redirect: 'follow' });
  await flow.done;
}

async function open(): Promise<McpConnection> {
  if (!scenario.startsWith('auth/')) return connect(null);
  if ((await signIn.provider()) === null) await signInAsPerson();
  return connect(await signIn.provider());
}

const argumentsFor = (schema: unknown): Record<string, unknown> => {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  const values: Readonly<Record<string, (at: number) => unknown>> = {
    number: (at) => [5, 3][at] ?? 1,
    integer: (at) => [5, 3][at] ?? 1,
    boolean: () => true,
  };
  return Object.fromEntries(Object.entries(properties).map(([name, { type = 'string' }], at) => [name, values[type]?.(at) ?? 'x']));
};

let connection = await open();
/** Signs in again if the server asks for more rights, at most three times. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let round = 0; round < 3; round++) {
    try {
      return await work();
    } catch (cause) {
      if (!(await wantsSignIn(cause))) throw cause;
      await connection.close();
      await signInAsPerson();
      connection = await connect(await signIn.provider());
    }
  }
  throw new Error('the server asks to sign in without end');
}

const limits = { signal: never, timeoutMs: 30_000 };
const tools = await again(() => connection.listTools(limits));
const wanted = context.toolCalls ?? tools.map(({ name, inputSchema }) => ({ name, arguments: argumentsFor(inputSchema) }));
for (const { name, arguments: args = {} } of wanted) {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) continue;
  try {
    await again(() => connection.callTool({ tool, args, progressToken: name }, limits));
  } catch (cause) {
    process.stderr.write(`${name}: ${cause instanceof Error ? cause.message : String(cause)}\n`);
  }
}
if (scenario === 'sse-retry') await new Promise((resolve) => setTimeout(resolve, 5000));
await connection.close();
process.exit(0);
