// Remote machines by ssh. Connects the tools to the program. Without a machine in the settings there are no tools, and nothing is loaded.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { AppError } from '../../contracts/errors.ts';
import type { SshHost } from '../../contracts/features/ssh.ts';
import { expandHome, findProgram } from '../../hands/tools/tools.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { KnownHosts } from './known-hosts.ts';
import { RemoteWork } from './remote-work.ts';
import { createSshTools } from './tools.ts';

export { KnownHosts } from './known-hosts.ts';
export { RemoteWork } from './remote-work.ts';
export { createSshTools } from './tools.ts';

type Taken = Pick<Spine, 'home' | 'config' | 'environment' | 'secrets' | 'clock' | 'panic' | 'background' | 'artifacts'>;

export const ssh = defineBuiltInFeature({
  name: 'ssh',
  create: ({ home, config, environment, secrets, clock, panic, background, artifacts }: Taken) => {
    const { hosts, fromUserConfig } = config.ssh;
    const names = [...new Set([...Object.keys(hosts), ...fromUserConfig])];
    if (names.length === 0) return { tools: [] };
    const known = new KnownHosts(home);
    const agent = environment['SSH_AUTH_SOCK'];
    const read = new Map<string, SshHost>();
    const hostOf = (name: string): SshHost => {
      const host = hosts[name] ?? read.get(name);
      if (host !== undefined) return host;
      if (!fromUserConfig.includes(name)) throw new AppError('tool_failed', `There is no machine ${name} in config.yaml.`);
      const found = readUserHost(name, { names, hasAgent: agent !== undefined });
      read.set(name, found);
      return found;
    };
    const work = new RemoteWork({ clock, panic });
    background.join(work);
    const ports = { hostOf, known, names, work, artifacts, trusted: known.of.bind(known), agent };
    return { tools: createSshTools({ ...ports, resolve: (ref) => secrets.resolve(ref) }), dispose: () => work.stopAll() };
  },
});

// Reads a machine's settings from the person's ~/.ssh/config through the ssh program of this computer, so that the file is interpreted
// exactly as ssh does. Connects to nothing.

interface UserHostOptions {
  /** The machines that the agent may use. Jump hosts must be among them. */
  readonly names: readonly string[];
  readonly hasAgent: boolean;
  /** Used instead of ~/.ssh/config. */
  readonly file?: string;
}

const TIMEOUT_MS = 5_000;

/** Fails with `tool_failed`. */
export function readUserHost(name: string, { names, hasAgent, file }: UserHostOptions): SshHost {
  const program = findProgram('ssh');
  if (program === null) {
    const hint = 'Install the OpenSSH client, or name the machine under ssh.hosts.';
    throw new AppError('tool_failed', `${name} is named in ssh.fromUserConfig, and this computer has no program ssh.`, { hint });
  }
  const argv = [...(file === undefined ? [] : ['-F', file]), '-G', '--', name];
  const { status, stdout, stderr } = spawnSync(program, argv, { encoding: 'utf8', timeout: TIMEOUT_MS, input: '' });
  if (status !== 0) throw new AppError('tool_failed', `ssh does not understand the settings of ${name}: ${stderr.trim().slice(0, 300)}`);
  const all = stdout.split('\n').map((line): [string, string] => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)]);
  const of = (word: string): string | undefined => all.find(([key]) => key === word)?.[1];
  const jump = jumpOf(name, of('proxyjump'), names);
  if (of('proxycommand') !== undefined && of('proxycommand') !== 'none')
    throw new AppError('tool_failed', `${name} is reached by a ProxyCommand, which TrayClaw does not run.`, {
      hint: 'Use ProxyJump, or name the machine under ssh.hosts with jump.',
    });
  const keys = all.flatMap(([key, path]) => (key === 'identityfile' ? [expandHome(path, homedir())] : []));
  const key = keys.find((path) => existsSync(path) && (!hasAgent || !isEncrypted(path)));
  return {
    host: of('hostname') ?? name,
    port: Number(of('port') ?? 22),
    user: of('user') ?? '',
    ...(key === undefined ? {} : { key: `file:${key}` }),
    ...(jump === undefined ? {} : { jump }),
  };
}

function jumpOf(name: string, given: string | undefined, names: readonly string[]): string | undefined {
  if (given === undefined || given === 'none') return undefined;
  if (names.includes(given)) return given;
  throw new AppError('tool_failed', `The way to ${name} goes through ${given}, which the agent may not use.`, {
    hint: `Name ${given} under ssh.fromUserConfig as well, by the name it has in ~/.ssh/config.`,
  });
}

/** Whether the key has a passphrase. Such a key is left to the ssh agent, because the passphrase is not known here. */
function isEncrypted(path: string): boolean {
  const text = readFileSync(path, 'utf8');
  if (!text.includes('OPENSSH PRIVATE KEY')) return text.includes('ENCRYPTED');
  const body = Buffer.from(text.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64').toString('latin1');
  return !body.startsWith('openssh-key-v1\0\0\0\0\u0004none');
}
