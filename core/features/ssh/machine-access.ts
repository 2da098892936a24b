// Gives the tools access to a machine: its facts for the gate, and a connection.

import type { SFTPWrapper } from 'ssh2';
import * as z from 'zod';
import { AppError } from '../../contracts/errors.ts';
import type { ArtifactSink, CallFacts, ToolContext } from '../../contracts/tools.ts';
import type { SshHost } from '../../contracts/features/ssh.ts';
import { SshConnection, type SshPorts } from './connection.ts';
import { addressOf, type KnownHosts } from './known-hosts.ts';
import type { RemoteWork } from './remote-work.ts';

export interface SshToolDeps extends SshPorts {
  readonly artifacts: Pick<ArtifactSink, 'read'>;
  readonly names: readonly string[];
  readonly known: KnownHosts;
  readonly work: RemoteWork;
}

export const hostName = z.string().min(1).max(64).describe('The name of a machine in config.yaml.');

/** The user, address and host key that a grant is bound to. */
export function placeOf(
  deps: SshToolDeps,
  name: string,
): { readonly host: SshHost; readonly place: string; readonly refused: string | null } {
  if (!deps.names.includes(name)) {
    throw new AppError('invalid_arguments', `There is no machine ${name.slice(0, 80)} in config.yaml.`, {
      hint: `Known: ${deps.names.join(', ')}.`,
    });
  }
  const host = deps.hostOf(name);
  const key = deps.known.of(host);
  const place = `ssh://${host.user}@${addressOf(host)} ${key ?? ''}`.trim();
  return { host, place, refused: key === null ? `The host key of ${name} is not known yet: call ssh_trust with this host first.` : null };
}

export function factsOf(deps: SshToolDeps, name: string, line: string, risks: readonly string[]): CallFacts {
  const { host, place, refused } = placeOf(deps, name);
  return {
    class: 'exec',
    paths: [],
    hosts: [host.host],
    command: { line, cwd: place },
    risks: [...risks],
    ...(refused === null ? {} : { refused }),
  };
}

export async function using<T>(
  deps: SshToolDeps,
  name: string,
  context: ToolContext,
  work: (connection: SshConnection) => Promise<T>,
): Promise<T> {
  const connection = await opened(deps, name, context);
  try {
    return await work(connection);
  } finally {
    connection.close();
  }
}

/** An abort closes the connection, so that nothing waits for a machine that no longer answers. */
export function usingFiles<T>(deps: SshToolDeps, name: string, context: ToolContext, work: (sftp: SFTPWrapper) => Promise<T>): Promise<T> {
  return using(deps, name, context, async (connection) => {
    const drop = (): void => connection.close();
    context.signal.addEventListener('abort', drop, { once: true });
    try {
      return await work(await connection.sftp());
    } finally {
      context.signal.removeEventListener('abort', drop);
    }
  });
}

/** The caller closes the connection. */
export function opened(deps: SshToolDeps, name: string, { signal }: ToolContext): Promise<SshConnection> {
  placeOf(deps, name);
  return SshConnection.open(name, deps, signal);
}
