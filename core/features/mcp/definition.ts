// The definition of a server in config.yaml: its hash, and the sentences that a person reads about it before it runs. Pure.

import { hash } from 'node:crypto';
import { canonicalJson } from '../../base/json.ts';
import type { McpServerConfig } from '../../contracts/features/mcp.ts';
import { isSecretReference } from '../../contracts/secret-ref.ts';
import { shown } from './tool-pins.ts';

/** Hashes everything that determines what runs, where it is and what it receives. Time limits are not included. */
export function definitionHash(config: McpServerConfig): string {
  const { command = null, args = [], env = {}, cwd = null, url = null, headers = {}, confined = false, clientId } = config;
  return hash(
    'sha256',
    canonicalJson({ command, args, env, cwd, url, headers, confined, ...(clientId === undefined ? {} : { clientId }) }),
    'hex',
  );
}

export function runsOf({ command, args = [], url }: McpServerConfig): string {
  if (url !== undefined) return url;
  return shown([command ?? '', ...args].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' '), 2000);
}

/** One sentence for each thing that the server receives. */
export function givesOf({ url, env = {}, headers = {}, cwd, confined, clientId }: McpServerConfig): string[] {
  const values = Object.entries(url === undefined ? env : headers).map(
    ([name, value]) =>
      `${url === undefined ? 'variable' : 'header'} ${name} = ${isSecretReference(value) ? `the secret ${value}` : JSON.stringify(value)}`,
  );
  if (url !== undefined) return [...values, ...(clientId === undefined ? [] : [`signs in as the client ${clientId}`])];
  const where = cwd === undefined ? 'runs in the workspace' : `runs in ${cwd}`;
  return [
    where,
    confined === true ? 'confined like a command without approval' : 'with your rights, except on the data of TrayClaw',
    ...values,
  ];
}
