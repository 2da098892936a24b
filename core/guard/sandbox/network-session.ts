// The part of the sandbox library that is kept for the whole instance: its filtering proxies on loopback, started when a command
// that may reach a domain first needs them, and its wrap around one command. The library keeps one session a process; this file is
// the only one that knows it.

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
  | 'reset'
>;

export interface LibraryWrap {
  /** A shell command that starts the given one inside. */
  readonly line: string;
  release(): void;
}

export interface LibraryPolicy {
  readonly allowDomains: readonly string[];
  /** Null leaves the files to whoever is inside. */
  readonly filesystem: SandboxRuntimeConfig['filesystem'] | null;
}

/** The same for every instance in a process; what differs goes with each command. */
const session: SandboxRuntimeConfig = {
  network: { allowedDomains: [], deniedDomains: [], allowAllUnixSockets: true },
  filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
  allowNestedUserNamespaces: true,
  // Its own search starts at the working directory of this process, which says nothing about the command's.
  mandatoryDenySearchDepth: 1,
};

export class NetworkSession {
  readonly #load: () => Promise<SandboxLibrary>;
  readonly #isMac: boolean;
  #library: SandboxLibrary | null = null;

  constructor(platform: NodeJS.Platform, load: () => Promise<SandboxLibrary> = loadLibrary) {
    this.#isMac = platform === 'darwin';
    this.#load = load;
  }

  /** Fails with `sandbox_unavailable` when the proxies cannot be started. */
  async wrap(command: string, policy: LibraryPolicy, signal: AbortSignal): Promise<LibraryWrap> {
    const library = await this.#start();
    // Whoever knows the id gets the domains that go with it.
    const commandId = randomBytes(18).toString('base64url');
    const filesystem = policy.filesystem ?? { ...session.filesystem, disabled: true };
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

  /** Another instance in this process may have closed the session; then it is opened again. */
  async #start(): Promise<SandboxLibrary> {
    const library = await this.#load();
    try {
      if (this.#library === null || library.getProxyPort() === undefined) await library.initialize(this.#sessionConfig());
    } catch (cause) {
      throw new AppError('sandbox_unavailable', 'The proxies of the sandbox could not be started.', { cause });
    }
    this.#library = library;
    return library;
  }

  #sessionConfig(): SandboxRuntimeConfig {
    // On macOS the library's own layer is the only one.
    return this.#isMac ? { ...session, network: { ...session.network, allowAllUnixSockets: false } } : session;
  }
}

/** The folder the library's own programs lie in; a confined command must be able to run them. */
export function libraryFolder(): string {
  const entry = createRequire(import.meta.url).resolve('@anthropic-ai/sandbox-runtime');
  return join(dirname(entry), '..');
}

async function loadLibrary(): Promise<SandboxLibrary> {
  const { SandboxManager: manager } = await import('@anthropic-ai/sandbox-runtime');
  return manager;
}
