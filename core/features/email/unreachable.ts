// Explains why a mail server could not be connected to, for the person who sets it up.

import { getSystemErrorName } from 'node:util';
import { networkCode, networkFailure, networkSentence } from '../../base/network-failure.ts';

export interface MailAddress {
  readonly host: string;
  readonly port: number;
}

export function unreachableWords(cause: unknown, { host, port }: MailAddress): string {
  const code = networkCode(cause);
  return networkSentence(networkFailure(code) === null ? (systemCode(cause) ?? code) : code, `the mail server ${host}:${port}`);
}

/** nodemailer replaces the system's error code with its own, and keeps its number. */
function systemCode(cause: unknown): string | null {
  const { errno } = cause as { errno?: unknown };
  return typeof errno === 'number' && errno < 0 ? getSystemErrorName(errno) : null;
}
