// Translates TrayClaw's policy to OpenShell's sandbox policy schema, version 1. Pure. Limits that the schema cannot express are described
// in words.

import { stringify } from 'yaml';
import type { SandboxPolicy } from './sandbox-policy.ts';

/** The folder of the workspace copy in OpenShell's container. */
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
    // Without this setting, a kernel that cannot restrict folders would still run the command.
    landlock: { compatibility: 'hard_requirement' },
    process: { run_as_user: 'sandbox', run_as_group: 'sandbox' },
    network_policies: hosts.length === 0 ? {} : { trayclaw: { name: 'trayclaw', endpoints: hosts.flat(), binaries: [{ path: '/**' }] } },
  });
}

function endpointOf(domain: string): { host: string; port: number }[] {
  const [, host = domain, port] = /^(.*?)(?::(\d+))?$/.exec(domain) ?? [];
  return (port === undefined ? PORTS : [Number(port)]).map((one) => ({ host, port: one }));
}
