// Explains why a mail server could not be connected to, for the person who sets it up. Reads the errors of both mail libraries.

import { networkCode, networkFailure, networkSentence } from '../../base/network-failure.ts';

export interface MailAddress {
  readonly host: string;
  readonly port: number;
}

interface MailCause {
  readonly code?: string;
  /** The code of the system, where nodemailer has put its own in its place. */
  readonly originalCode?: string;
  readonly tlsFailed?: boolean;
  /** The last words of an IMAP server that closed the connection. */
  readonly reason?: string;
}

const PLAIN_INSTEAD = 'ERR_SSL_WRONG_VERSION_NUMBER';

export function unreachableWords(cause: unknown, { host, port }: MailAddress): string {
  const place = `the mail server ${host}:${port}`;
  const { code = '', originalCode, tlsFailed, reason } = cause as MailCause;
  const system = networkCode(cause);
  if (system === PLAIN_INSTEAD)
    return `The port ${port} of ${host} does not begin with TLS. Set security to starttls, or the port for TLS.`;
  if (networkFailure(system) === 'certificate') return networkSentence(system, place);
  if (tlsFailed === true || (code === 'ETLS' && originalCode === undefined)) {
    return `No secure connection to ${place} could be made: it offers no STARTTLS. Set security to tls, with the port for it.`;
  }
  if (code.startsWith('ClosedAfterConnect') && reason !== undefined)
    return `The mail server ${host}:${port} closed the connection: ${reason.slice(0, 200)}`;
  if (code.startsWith('ClosedAfterConnect') || code === 'EPROTOCOL') {
    return `What answers at ${host}:${port} is not the mail server that is expected there. Check host and port.`;
  }
  return networkSentence(system, place);
}
