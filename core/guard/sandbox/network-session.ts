// The part of the sandbox library that is shared by all commands: its filtering proxies on loopback, started for the first command that may
// reach a domain, and its wrapper around one command. The library supports one session per process; only this file uses it.

import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { SandboxManager, SandboxRuntimeConfig } from '@anthropic-ai/sandbox-runtime';
import { AppError } from '../../contracts/errors.ts';

export type SandboxLibrary = Pick<
  typeof SandboxManager,
  | 'initialize'
  | 'wrapWithSandbox'
  | 'cleanupAfterCommand'
  | 'registerCommandNetworkLists'
  | 'unregisterCommandNetworkLists'
  | 'getProxyPort'
  | 'getProxyAuthToken'
  | 'getLinuxHttpSocketPath'
  | 'reset'
>;

export interface LibraryWrap {
  /** A shell command that starts the given command inside the sandbox. */
  readonly line: string;
  release(): void;
}

export interface LibraryPolicy {
  readonly allowDomains: readonly string[];
  readonly filesystem: SandboxRuntimeConfig['filesystem'];
}

export interface OpenProxy {
  /** The proxy's local socket, which speaks HTTP and SOCKS. */
  readonly socket: string;
  /** Variables that direct programs to the proxy at the port they see. */
  readonly environment: Readonly<Record<string, string>>;
  readonly release: () => void;
}

const privateNetworks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];

/** The same for every instance in a process. Settings that differ are passed with each command. */
const sessionConfig = (): SandboxRuntimeConfig => ({
  // The library refuses names that resolve to this machine, to link-local addresses and to cloud metadata.
  network: { allowedDomains: [], deniedDomains: [], deniedResolvedAddresses: privateNetworks },
  filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
  // The default is a path inside the archive of the packaged app, which Java cannot open.
  javaAgentJarPath: join(libraryFolder(), 'vendor', 'java-proxy-agent', 'srt-proxy-agent.jar'),
});

const STARTS_MAX = 3;

export class NetworkSession {
  #library: SandboxLibrary | null = null;

  /** Linux: opens a proxy to the allowed domains only. Fails with `sandbox_unavailable` if the proxy cannot be started. */
  async openProxy(allowDomains: readonly string[], port: number): Promise<OpenProxy> {
    const library = await this.#start();
    const socket = library.getLinuxHttpSocketPath();
    const token = library.getProxyAuthToken();
    if (socket === undefined || token === undefined) throw proxyFailure();
    const commandId = createCommandId();
    library.registerCommandNetworkLists(commandId, { allowedDomains: [...allowDomains] });
    // The library reads the command's id from the user name, in this form. With any other form, every host would be refused.
    const user = encodeURIComponent(`srt.${Buffer.from(commandId).toString('base64')}`);
    return {
      socket,
      environment: proxyEnvironment(`http://${user}:${token}@127.0.0.1:${port}`),
      release: () => {
        library.unregisterCommandNetworkLists(commandId);
      },
    };
  }

  /** macOS: wraps the command in its own profile, with the network only through the proxy. */
  async wrap(command: string, policy: LibraryPolicy, signal: AbortSignal): Promise<LibraryWrap> {
    const library = await this.#start();
    const commandId = createCommandId();
    const { filesystem } = policy;
    const line = await library.wrapWithSandbox(command, '/bin/bash', { filesystem }, signal, { commandId });
    library.registerCommandNetworkLists(commandId, { allowedDomains: [...policy.allowDomains] });
    return {
      line,
      release: () => {
        library.unregisterCommandNetworkLists(commandId);
        library.cleanupAfterCommand();
      },
    };
  }

  async dispose(): Promise<void> {
    await this.#library?.reset();
    this.#library = null;
  }

  /** Starts the session, again if another instance in this process has closed it. */
  async #start(): Promise<SandboxLibrary> {
    const library = await loadLibrary();
    for (let attempt = 1; library.getProxyPort() === undefined; attempt += 1) {
      try {
        await library.initialize(sessionConfig());
      } catch (cause) {
        // On a busy machine, the helper may not start within the library's time limit. Its leftovers must be removed before a retry.
        await library.reset();
        if (attempt === STARTS_MAX) throw proxyFailure(cause);
      }
    }
    this.#library = library;
    return library;
  }
}

/** The id gives access to the command's domains, so it must be unguessable. */
function createCommandId(): string {
  return randomBytes(18).toString('base64url');
}

function proxyFailure(cause?: unknown): AppError {
  return new AppError('sandbox_unavailable', 'The proxy of the sandbox could not be started.', { cause });
}

function proxyEnvironment(address: string): Record<string, string> {
  const names = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => [name, name.toUpperCase()]);
  // Node reads these variables only with this flag.
  return { ...Object.fromEntries(names.map((name) => [name, address])), NODE_USE_ENV_PROXY: '1' };
}

/** The folder of the library's own programs, which a confined command must be able to run. */
export function libraryFolder(): string {
  const entry = createRequire(import.meta.url).resolve('@anthropic-ai/sandbox-runtime');
  return outsideArchive(join(dirname(entry), '..'));
}

/** Files that other programs open are next to the archive of the packaged app, because only Electron can read inside it. */
export function outsideArchive(path: string): string {
  return path.replace(/([\\/])app\.asar(?=[\\/])/, '$1app.asar.unpacked');
}

async function loadLibrary(): Promise<SandboxLibrary> {
  const { SandboxManager: manager } = await import('@anthropic-ai/sandbox-runtime');
  return manager;
}
