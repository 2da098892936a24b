// Why a machine could not be used by ssh, and what to do about it. The only module that reads the errors of the ssh library.

import { networkCode, networkSentence } from '../../base/network-failure.ts';
import { AppError } from '../../contracts/errors.ts';
import type { SshHost } from '../../contracts/features/ssh.ts';
import { addressOf } from './known-hosts.ts';

export interface Attempt {
  readonly name: string;
  readonly host: SshHost;
  /** The host key that a person trusted, and the one of the machine; null if there is none. */
  readonly trusted: string | null;
  readonly seen: string | null;
  readonly hasAgent: boolean;
}

interface SshCause extends Error {
  readonly level?: string;
}

/** An attempt to connect that failed. */
export function connectFailure(attempt: Attempt, cause: SshCause): AppError {
  const { message, hint } = keyProblem(attempt) ?? wordsOf(attempt, cause);
  return new AppError('tool_failed', message, { hint, cause });
}

/** A failure on a connection that was open. */
export function useFailure(name: string, cause: Error): AppError {
  return new AppError('tool_failed', `${name} could not be used by ssh: ${cause.message}.`, { cause });
}

/** The machine could not connect to an address on behalf of this computer. */
export function reachFailure(name: string, to: Pick<SshHost, 'host' | 'port'>, cause: Error & { readonly reason?: unknown }): AppError {
  const why = cause.message.replace(/^\(SSH\) Channel open failure: /, '');
  const hint =
    cause.reason === PROHIBITED
      ? `The ssh server of ${name} must allow it: AllowTcpForwarding yes.`
      : `Check the address, as seen from ${name}.`;
  return new AppError('tool_failed', `${name} cannot reach ${addressOf(to)}: ${why || 'it gave no reason'}.`, { hint, cause });
}

/** SSH_OPEN_ADMINISTRATIVELY_PROHIBITED of RFC 4254. */
const PROHIBITED = 1;

interface Words {
  readonly message: string;
  readonly hint: string;
}

function keyProblem({ name, host, trusted, seen }: Attempt): Words | null {
  if (seen === null || seen === trusted) return null;
  const sent = 'Nothing was sent.';
  if (trusted === null) {
    return { message: `The host key of ${name} is not known yet: it is ${seen}. ${sent}`, hint: `Call ssh_trust with ${name} first.` };
  }
  return {
    message: `The host key of ${name} changed: it is ${seen} now, and you trusted ${trusted}. ${sent}`,
    hint: `Someone may be in between. If you changed it yourself, remove the line of ${addressOf(host)} from ssh_known_hosts in the data folder, and trust the new one.`,
  };
}

function wordsOf(attempt: Attempt, cause: SshCause): Words {
  const { name, host } = attempt;
  const place = `${name} (${addressOf(host)})`;
  const { level, message } = cause;
  if (level === 'client-authentication') return refusedLogin(attempt);
  if (level === 'agent') return { message: 'Your ssh agent did not answer.', hint: noKeyHint(name) };
  if (/privateKey|passphrase/i.test(message)) {
    return {
      message: `The private key of ${name} could not be read: ${message.replace(/^Cannot parse privateKey: /, '')}.`,
      hint: `Set passphrase for ${name} if the key has one, or name an OpenSSH private key, not the public one.`,
    };
  }
  if (level === 'handshake' && message.startsWith('Handshake failed: no matching')) {
    return { message: `${place} offers only outdated encryption: ${message}.`, hint: 'Update the ssh server of the machine.' };
  }
  const isReached = level === 'client-timeout' || /handshake|Connection lost/.test(message);
  const silent = isReached || level === 'protocol' ? `${place} did not answer as an ssh server.` : null;
  return {
    message: silent ?? (networkCode(cause) === null ? useFailure(name, cause).message : networkSentence(networkCode(cause), place)),
    hint: `Check that ${name} is on, that an ssh server runs there, and that host and port are right in its settings.`,
  };
}

const noKeyHint = (name: string): string => `Set key for ${name}, or start your ssh agent before TrayClaw.`;

function refusedLogin({ name, host, hasAgent }: Attempt): Words {
  const { user } = host;
  if (host.key !== undefined) {
    return {
      message: `${name} does not accept the key for the user ${user}.`,
      hint: `Add its public key to ~/.ssh/authorized_keys of ${user} on ${name}, or set another user or key for ${name}.`,
    };
  }
  if (!hasAgent) {
    return { message: `There is no key for ${name}.`, hint: noKeyHint(name) };
  }
  return {
    message: `${name} accepts no key of your ssh agent for the user ${user}.`,
    hint: `ssh-add -l lists its keys. Add the right one with ssh-add, or its public key to ~/.ssh/authorized_keys of ${user} on ${name}.`,
  };
}
