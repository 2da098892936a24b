// One connection to a remote machine: its host key checked against what a person trusted, commands that can really be ended, and files.
// Decides nothing about what may run.

import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { Client, ConnectConfig, SFTPWrapper } from 'ssh2';
import { AppError } from '../../contracts/errors.ts';
import type { SshHost } from '../../contracts/features/ssh.ts';

export interface SshPorts {
  readonly hostOf: (name: string) => SshHost;
  readonly trusted: (host: SshHost) => string | null;
  readonly resolve: (ref: string) => Promise<string>;
  /** The socket of the person's ssh agent. */
  readonly agent: string | undefined;
}

/** An address that a machine reaches. */
export type Aim = Pick<SshHost, 'host' | 'port'>;

export interface CommandEnd {
  /** Null where it was ended by a signal. */
  readonly code: number | null;
  readonly isCut: boolean;
  /** The connection ended first: what became of the command is not known. */
  readonly isLost: boolean;
}

const CONNECT_MS = 20_000;
const KEEPALIVE_MS = 10_000;
const OUTPUT_BYTES_MAX = 8 * 1024 * 1024;
const JUMPS_MAX = 3;
/** For the last output of a command that was ended. */
const LAST_OUTPUT_MS = 1_000;

export class SshConnection {
  readonly #client: Client;
  readonly #below: SshConnection | null;
  readonly #name: string;

  private constructor(name: string, client: Client, below: SshConnection | null) {
    this.#name = name;
    this.#client = client;
    this.#below = below;
  }

  /** `seen` gets the fingerprint of the host key. Fails with `tool_failed`; sends no credential to a host whose key is not the trusted one. */
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
    if (depth > JUMPS_MAX) throw new AppError('tool_failed', `The way to ${name} goes through too many hosts.`);
    const below =
      host.jump === undefined ? null : await SshConnection.#through({ name: host.jump, depth: depth + 1 }, ports, signal, () => undefined);
    try {
      const sock = below === null ? undefined : await below.forward(host);
      const client = await connected(name, { ...(await configOf(host, ports, seen)), ...(sock === undefined ? {} : { sock }) }, signal);
      return new SshConnection(name, client, below);
    } catch (cause) {
      below?.close();
      throw cause;
    }
  }

  run(line: string, signal: AbortSignal, onOutput: (piece: Buffer) => void): Promise<CommandEnd> {
    // Closing a channel ends nothing there, and servers refuse signals: the command tells its number first, and its group is ended by it.
    // The number of its parent serves where the person's shell stays in between and leads the group.
    return this.#exec(`sh -c ${quoted(`echo "group $$ $PPID" >&2; exec sh -c ${quoted(line)}`)}`, signal, onOutput);
  }

  sftp(): Promise<SFTPWrapper> {
    return new Promise((resolve, reject) => {
      this.#client.sftp((cause, sftp) => (cause === undefined ? resolve(sftp) : reject(failed(this.#name, cause))));
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

  #exec(command: string, signal: AbortSignal, onOutput: (piece: Buffer) => void): Promise<CommandEnd> {
    return new Promise((resolve, reject) => {
      this.#client.exec(command, (cause, stream) => {
        if (cause !== undefined) return reject(failed(this.#name, cause));
        let bytes = 0;
        let ending: string | null = null;
        let wasEnded: Promise<boolean> | null = null;
        let head = '';
        let ended: { code: number | null } | null = null;
        const finish = async (): Promise<void> => {
          signal.removeEventListener('abort', end);
          if (ended === null && (await wasEnded) === true) ended = { code: null };
          resolve({ code: ended?.code ?? null, isCut: bytes > OUTPUT_BYTES_MAX, isLost: ended === null });
        };
        const end = (): void => {
          if (ending === null || wasEnded !== null) return;
          wasEnded = this.#succeeds(ending);
          void wasEnded.then((isEnded) => isEnded && setTimeout(() => void finish(), LAST_OUTPUT_MS).unref());
        };
        const take = (piece: Buffer): void => {
          bytes += piece.length;
          if (bytes <= OUTPUT_BYTES_MAX) onOutput(piece);
          else end();
        };
        stream.on('data', take);
        stream.stderr.on('data', (piece: Buffer) => {
          if (ending !== null) return take(piece);
          head += piece.toString('latin1');
          const [whole = '', number = '', parent = ''] = /^group (\d+) (\d+)\n/.exec(head) ?? [];
          if (whole === '') return;
          ending = endOfGroup(number, parent);
          // Stopped before the number was here.
          if (signal.aborted) end();
          if (head.length > whole.length) take(Buffer.from(head.slice(whole.length), 'latin1'));
        });
        stream.on('exit', (code: number | null) => (ended = { code }));
        stream.on('close', () => void finish());
        signal.addEventListener('abort', end, { once: true });
        if (signal.aborted) end();
      });
    });
  }

  /** False as well where the connection ends before the answer. */
  #succeeds(command: string): Promise<boolean> {
    return new Promise((resolve) => {
      this.#client.exec(command, (cause, answer) => {
        if (cause !== undefined) return resolve(false);
        answer.resume().on('exit', (code: number | null) => resolve(code === 0));
        answer.on('close', () => resolve(false));
      });
    });
  }

  /** A stream to a port that the machine reaches. */
  forward({ host, port }: Aim): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      this.#client.forwardOut('127.0.0.1', 0, host, port, (cause, stream) =>
        cause === undefined ? resolve(stream) : reject(failed(this.#name, cause)),
      );
    });
  }
}

async function configOf(host: SshHost, ports: SshPorts, seen: (fingerprint: string) => void): Promise<ConnectConfig> {
  const trusted = ports.trusted(host);
  const key = host.key === undefined ? undefined : await ports.resolve(host.key);
  const passphrase = host.passphrase === undefined ? undefined : await ports.resolve(host.passphrase);
  return {
    host: host.host,
    port: host.port,
    username: host.user,
    readyTimeout: CONNECT_MS,
    keepaliveInterval: KEEPALIVE_MS,
    hostVerifier: (hostKey: Buffer) => {
      const fingerprint = `SHA256:${createHash('sha256').update(hostKey).digest('base64').replace(/=+$/, '')}`;
      seen(fingerprint);
      return fingerprint === trusted;
    },
    ...(key === undefined ? {} : { privateKey: key }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(key === undefined && ports.agent !== undefined ? { agent: ports.agent } : {}),
  };
}

/** Loaded when first used. */
async function connected(name: string, config: ConnectConfig, signal: AbortSignal): Promise<Client> {
  const ssh2 = (await import('ssh2')).default;
  const client = new ssh2.Client();
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      client.destroy();
      reject(new AppError('cancelled', `Connecting to ${name} was stopped.`));
    };
    client.on('ready', () => {
      signal.removeEventListener('abort', stop);
      resolve(client);
    });
    // After that a lost connection shows itself at the command.
    client.on('error', (cause) => {
      signal.removeEventListener('abort', stop);
      reject(failed(name, cause));
    });
    signal.addEventListener('abort', stop, { once: true });
    try {
      client.connect(config);
    } catch (cause) {
      reject(failed(name, cause instanceof Error ? cause : new Error(String(cause))));
    }
  });
}

function failed(name: string, cause: Error): AppError {
  return new AppError('tool_failed', `${name} could not be used by ssh: ${cause.message}.`, { cause });
}

/** A command line that ends the group of a command; code 0 where it did. dash takes `--` only after `-s`. */
function endOfGroup(number: string, parent: string): string {
  return `sh -c ${quoted(`kill -s KILL -- -${number} || { kill -0 ${number} && kill -s KILL -- -${parent}; }`)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
