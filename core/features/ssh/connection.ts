// One connection to a remote machine: checks its host key against the one a person trusted, then runs commands and opens files and ports.
// Does not decide what may run.

import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { Client, ConnectConfig, SFTPWrapper } from 'ssh2';
import { AppError } from '../../contracts/errors.ts';
import type { SshHost } from '../../contracts/features/ssh.ts';
import { connectFailure, reachFailure, useFailure, type Attempt } from './failure.ts';
import { runCommand, STOP_MS, type CommandEnd } from './remote-command.ts';

export interface SshPorts {
  readonly hostOf: (name: string) => SshHost;
  readonly trusted: (host: SshHost) => string | null;
  readonly resolve: (ref: string) => Promise<string>;
  /** The socket of the person's ssh agent. */
  readonly agent: string | undefined;
}

/** An address as seen from the remote machine. */
export type Aim = Pick<SshHost, 'host' | 'port'>;

const CONNECT_MS = 20_000;
const KEEPALIVE_MS = 10_000;
const JUMPS_MAX = 3;

export class SshConnection {
  readonly #client: Client;
  readonly #below: SshConnection | null;
  readonly #name: string;
  readonly #ports: SshPorts;

  private constructor(name: string, ports: SshPorts, client: Client, below: SshConnection | null) {
    this.#name = name;
    this.#ports = ports;
    this.#client = client;
    this.#below = below;
  }

  /**
   * `seen` receives the fingerprint of the host key. Fails with `tool_failed`. Sends no credentials to a host whose key is not the trusted
   * one.
   */
  static open(
    name: string,
    ports: SshPorts,
    signal: AbortSignal,
    seen: (fingerprint: string) => void = () => undefined,
  ): Promise<SshConnection> {
    return SshConnection.#through({ name, depth: 0 }, ports, signal, seen);
  }

  static async #through(
    { name, depth }: { readonly name: string; readonly depth: number },
    ports: SshPorts,
    signal: AbortSignal,
    seen: (fingerprint: string) => void,
  ): Promise<SshConnection> {
    const host = ports.hostOf(name);
    if (signal.aborted) throw stopped(name);
    if (depth > JUMPS_MAX) throw new AppError('tool_failed', `The way to ${name} goes through too many hosts.`);
    const below =
      host.jump === undefined ? null : await SshConnection.#through({ name: host.jump, depth: depth + 1 }, ports, signal, () => undefined);
    // Closes the connection to the jump host on abort, so that nothing waits for a host that no longer answers.
    const drop = (): void => below?.close();
    signal.addEventListener('abort', drop, { once: true });
    try {
      const sock = below === null ? undefined : await below.forward(host);
      const attempt = { name, host, trusted: ports.trusted(host), seen: null as string | null, hasAgent: ports.agent !== undefined };
      const config = await configOf(host, ports, (fingerprint) => {
        attempt.seen = fingerprint;
        seen(fingerprint);
        return fingerprint === attempt.trusted;
      });
      const client = await connected(attempt, { ...config, ...(sock === undefined ? {} : { sock }) }, signal);
      return new SshConnection(name, ports, client, below);
    } catch (cause) {
      below?.close();
      throw signal.aborted ? stopped(name) : cause;
    } finally {
      signal.removeEventListener('abort', drop);
    }
  }

  async run(line: string, signal: AbortSignal, onOutput: (piece: Buffer) => void): Promise<CommandEnd> {
    // A command that was stopped while connecting is not started.
    if (signal.aborted) throw new AppError('cancelled', `Nothing was run on ${this.#name}: it was stopped before.`);
    return runCommand({ client: this.#client, elsewhere: this.#elsewhere }, line, signal, onOutput).catch((cause: Error) => {
      throw useFailure(this.#name, cause);
    });
  }

  /** Whether a command succeeds over a second connection. */
  readonly #elsewhere = async (line: string): Promise<boolean> => {
    const signal = AbortSignal.timeout(STOP_MS);
    const another = await SshConnection.open(this.#name, this.#ports, signal).catch(() => null);
    const end = await another?.run(line, signal, () => undefined).catch(() => null);
    another?.close();
    return end?.code === 0;
  };

  sftp(): Promise<SFTPWrapper> {
    return new Promise((resolve, reject) => {
      this.#client.sftp((cause, sftp) => (cause === undefined ? resolve(sftp) : reject(useFailure(this.#name, cause))));
    });
  }

  onClose(listener: () => void): void {
    this.#client.on('close', listener);
  }

  close(): void {
    this.#client.end();
    this.#client.destroy();
    this.#below?.close();
  }

  /** Opens a stream to a port that the machine can reach. */
  forward({ host, port }: Aim): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      this.#client.forwardOut('127.0.0.1', 0, host, port, (cause, stream) =>
        cause === undefined ? resolve(stream) : reject(reachFailure(this.#name, { host, port }, cause)),
      );
    });
  }
}

async function configOf(host: SshHost, ports: SshPorts, isTrusted: (fingerprint: string) => boolean): Promise<ConnectConfig> {
  const key = host.key === undefined ? undefined : await ports.resolve(host.key);
  const passphrase = host.passphrase === undefined ? undefined : await ports.resolve(host.passphrase);
  return {
    host: host.host,
    port: host.port,
    username: host.user,
    readyTimeout: CONNECT_MS,
    keepaliveInterval: KEEPALIVE_MS,
    hostVerifier: (hostKey: Buffer) => isTrusted(`SHA256:${createHash('sha256').update(hostKey).digest('base64').replace(/=+$/, '')}`),
    ...(key === undefined ? {} : { privateKey: key }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(key === undefined && ports.agent !== undefined ? { agent: ports.agent } : {}),
  };
}

/** Connects. Loads the ssh library on first use. */
async function connected(attempt: Attempt, config: ConnectConfig, signal: AbortSignal): Promise<Client> {
  const ssh2 = (await import('ssh2')).default;
  const client = new ssh2.Client();
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      client.destroy();
      reject(stopped(attempt.name));
    };
    if (signal.aborted) return stop();
    client.on('ready', () => {
      signal.removeEventListener('abort', stop);
      resolve(client);
    });
    // After the connection is ready, a lost connection shows up as an error of the command.
    client.on('error', (cause) => {
      signal.removeEventListener('abort', stop);
      client.destroy();
      reject(connectFailure(attempt, cause));
    });
    signal.addEventListener('abort', stop, { once: true });
    try {
      client.connect(config);
    } catch (cause) {
      reject(connectFailure(attempt, cause instanceof Error ? cause : new Error(String(cause))));
    }
  });
}

function stopped(name: string): AppError {
  return new AppError('cancelled', `Connecting to ${name} was stopped.`);
}
