// The definition of a server in config.yaml: its hash, and the sentences that a person reads about it before it runs. Reads only
// the disk.

import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { canonicalJson } from '../../base/json.ts';
import type { McpServerConfig } from '../../contracts/features/mcp.ts';
import { isSecretReference } from '../../contracts/secret-ref.ts';
import { codeFiles } from '../../guard/command/command.ts';
import { realOf } from '../../guard/workspace/workspace.ts';
import { shown } from './tool-pins.ts';

/** Hashes everything that determines what runs, where it is and what it receives. Time limits are not included. */
export function definitionHash(config: McpServerConfig, files: readonly CodeFile[]): string {
  const { command = null, args = [], env = {}, cwd = null, url = null, headers = {}, confined = false, clientId } = config;
  return hash(
    'sha256',
    canonicalJson({
      command,
      args,
      env,
      cwd,
      url,
      headers,
      confined,
      ...(clientId === undefined ? {} : { clientId }),
      // Approvals of servers that name no file keep the hash they were given for.
      ...(files.length === 0 ? {} : { files }),
    }),
    'hex',
  );
}

/** An existing file with its content. */
export interface CodeFile {
  readonly name: string;
  readonly sha256: string | null;
}

export interface ServerProgram {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The code that the arguments name; real paths. */
  readonly files: readonly string[];
}

/**
 * A server with the person's rights does not run in the workspace unless its settings say so: interpreters and package runners load code
 * from their folder, and the agent writes there. Words that name something in the workspace keep their meaning.
 */
export function programOf(config: McpServerConfig, workspace: string, userHome: string): ServerProgram {
  const { command = '', args = [], cwd, confined = false } = config;
  const argv = [command, ...args];
  const folder = resolve(workspace, cwd ?? '');
  const isThere = cwd !== undefined || confined;
  const files = codeFiles(argv, folder, isThere ? folder : userHome);
  if (isThere) return { argv, cwd: folder, files };
  const isOfWorkspace = (path: string, word: string): boolean =>
    /^\.{1,2}(?:[\\/]|$)/.test(word) || (files.includes(realOf(path)) && existsSync(path));
  const absolute = argv.map((word, at) => {
    const path = resolve(folder, word);
    return (at > 0 || /[\\/]/.test(word)) && isOfWorkspace(path, word) ? path : word;
  });
  return { argv: absolute, cwd: userHome, files };
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
  const where = cwd !== undefined ? `runs in ${cwd}` : confined === true ? 'runs in the workspace' : 'runs in your home folder';
  return [
    where,
    confined === true ? 'confined like a command without approval' : 'with your rights, except on the data of TrayClaw',
    ...values,
  ];
}
