// Remote machines by ssh. Connects the tools to the program; without a machine in the settings there are none, and nothing of it is loaded.

import { AppError } from '../../contracts/errors.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { KnownHosts } from './known-hosts.ts';
import { createSshTools } from './tools.ts';

type Taken = Pick<Spine, 'home' | 'config' | 'environment' | 'secrets'>;

export const ssh = defineBuiltInFeature({
  name: 'ssh',
  create: ({ home, config, environment, secrets }: Taken) => {
    const { hosts } = config.ssh;
    const known = new KnownHosts(home);
    const names = Object.keys(hosts);
    const hostOf = (name: string) => {
      const host = hosts[name];
      if (host === undefined) throw new AppError('tool_failed', `There is no machine ${name} in config.yaml.`);
      return host;
    };
    const ports = { hostOf, known, names, trusted: known.of.bind(known), agent: environment['SSH_AUTH_SOCK'] };
    return { tools: names.length === 0 ? [] : createSshTools({ ...ports, resolve: (ref) => secrets.resolve(ref) }) };
  },
});
