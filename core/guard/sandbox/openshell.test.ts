// Tests OpenShell with a fake of its program that checks its arguments, stores the policy and runs the command on a copy, as OpenShell's
// documentation describes. OpenShell itself was not run.

import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { openShellPolicy } from './openshell-policy.ts';
import { SandboxBench } from '../../../tests/rigs/sandbox-bench.ts';

let bench: SandboxBench | null = null;
afterEach(async () => {
  await bench?.dispose();
  bench = null;
});

/** Rejects flags that OpenShell's command line does not have, so that a wrong flag fails the test. */
const standIn = `#!/bin/sh
set -eu
[ "$1 $2" = "sandbox create" ] || exit 64
shift 2
environment=""
while [ "$1" != "--" ]; do
  case "$1" in
    --no-keep|--no-tty) shift ;;
    --policy) cp "$2" "$STAND_IN/policy.yaml"; shift 2 ;;
    --upload) from=\${2%%:*}; to=\${2#*:}; shift 2 ;;
    --env) environment="$environment $2"; shift 2 ;;
    *) echo "error: unexpected argument '$1'" >&2; exit 2 ;;
  esac
done
shift
echo "$environment" > "$STAND_IN/environment"
mkdir -p "$STAND_IN/container$to"
cp -R "$from/." "$STAND_IN/container$to"
# The command names folders of the container; here they lie below another root.
[ "$1 $2" = "/bin/sh -c" ] && script=$3 && folder=$4 && shift 4
exec env -i $environment PATH=/usr/bin:/bin /bin/sh -c "$script" "$STAND_IN/container$folder" "$@"
`;

/** Creates a folder with the fake program, for the path. */
function putStandIn(made: SandboxBench): string {
  const file = made.put('bin/openshell', standIn.replaceAll('$STAND_IN', made.root));
  chmodSync(file, 0o755);
  return dirname(file);
}

test('runs a command on a copy with its arguments, folder, environment and exit code', async () => {
  const environment = { PATH: '/usr/bin:/bin', LANG: 'C', TOKEN: 'x' };
  const allowDomains = ['example.org', '*.example.net:8443'];
  bench = new SandboxBench({ backend: 'openshell', network: { allowDomains } }, { environment });
  environment.PATH = `${putStandIn(bench)}:/usr/bin:/bin`;
  mkdirSync(join(bench.workspace, 'sub'));
  const more = { cwd: join(bench.workspace, 'sub'), environment: { LANG: 'C' } };
  const { code, output, report } = await bench.shell('pwd; echo "$LANG:$TOKEN"; echo made > made; exit 3', more);
  expect({ code, output, failed: report.failed, made: bench.has('sub/made') }).toEqual({
    code: 3,
    output: `${bench.root}/container/sandbox/workspace/sub\nC:\n`,
    failed: false,
    made: false,
  });
  expect(report.whenFailed).toContain('what it changed there did not come back');
  expect(readFileSync(join(bench.root, 'environment'), 'utf8').trim()).toBe('LANG=C');
  expect(readFileSync(join(bench.root, 'policy.yaml'), 'utf8')).toBe(openShellPolicy({ allowDomains }));
  await expect(bench.shell('true', { cwd: '/usr' })).rejects.toMatchObject({ code: 'sandbox_unavailable' });
});

test('the policy follows version 1 of the schema', () => {
  expect(parse(openShellPolicy({ allowDomains: ['example.org', '*.example.net:8443'] }))).toEqual({
    version: 1,
    filesystem_policy: {
      include_workdir: false,
      read_only: ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc', '/opt', '/proc', '/dev/urandom', '/dev/zero'],
      read_write: ['/sandbox/workspace', '/tmp', '/dev/null'],
    },
    landlock: { compatibility: 'hard_requirement' },
    process: { run_as_user: 'sandbox', run_as_group: 'sandbox' },
    network_policies: {
      trayclaw: {
        name: 'trayclaw',
        endpoints: [
          { host: 'example.org', port: 443 },
          { host: 'example.org', port: 80 },
          { host: '*.example.net', port: 8443 },
        ],
        binaries: [{ path: '/**' }],
      },
    },
  });
  expect(parse(openShellPolicy({ allowDomains: [] }))).toMatchObject({ network_policies: {} });
});

test('reports openshell as missing', async () => {
  const made = new SandboxBench({ backend: 'openshell' }, { environment: { PATH: '/nonexistent' } });
  bench = made;
  await expect(made.shell('true')).rejects.toMatchObject({
    code: 'sandbox_unavailable',
    message: expect.stringContaining('openshell is missing'),
  });
  expect((await made.sandbox.explain(null)).backend).toEqual({
    name: 'openshell',
    how: "OpenShell's container, on a copy of the workspace",
  });
});
