// TrayClaw's policy in the words of OpenShell: its sandbox policy schema, version 1. Pure. What that schema cannot say is
// said in words beside it.

import { stringify } from 'yaml';
import type { SandboxPolicy } from './sandbox-policy.ts';

/** Where the copy of the workspace lies in OpenShell's container. */
export const containerWorkspace = '/sandbox/workspace';

const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc', '/opt', '/proc', '/dev/urandom', '/dev/zero'];
const PORTS = [443, 80];

export function openShellPolicy(policy: Pick<SandboxPolicy, 'allowDomains'>): string {
  const hosts = policy.allowDomains.map(endpointOf);
  return stringify({
    version: 1,
    filesystem_policy: {
      include_workdir: false,
      read_only: systemFolders,
      read_write: [containerWorkspace, '/tmp', '/dev/null'],
    },
    // Without it a kernel that cannot hold the folders would run the command all the same.
    landlock: { compatibility: 'hard_requirement' },
    process: { run_as_user: 'sandbox', run_as_group: 'sandbox' },
    network_policies: hosts.length === 0 ? {} : { trayclaw: { name: 'trayclaw', endpoints: hosts.flat(), binaries: [{ path: '/**' }] } },
  });
}

function endpointOf(domain: string): { host: string; port: number }[] {
  const [, host = domain, port] = /^(.*?)(?::(\d+))?$/.exec(domain) ?? [];
  return (port === undefined ? PORTS : [Number(port)]).map((one) => ({ host, port: one }));
}
