// Remote machines by ssh. Connects the tools to the program. Without a machine in the settings there are no tools, and nothing is loaded.

import { AppError } from '../../contracts/errors.ts';
import type { SshHost } from '../../contracts/features/ssh.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { KnownHosts } from './known-hosts.ts';
import { RemoteWork } from './remote-work.ts';
import { createSshTools } from './tools.ts';
import { readUserHost } from './user-config.ts';

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
