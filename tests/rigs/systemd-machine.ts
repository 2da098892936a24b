// For tests only: a real systemd that runs as the first process of separate namespaces, over the file system of this computer, which it
// cannot write to. It starts the given units, keeps their journal, and ends with the test.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../until.ts';

/** Kernel settings and files are read-only for it; it has no network, and a /dev without real devices. */
const script = `set -e
root=$1 units=$2
mount --make-rprivate /
mount --bind / "$root"; mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"; mount -o remount,bind,ro "$root/proc/sys"
for at in run tmp var/log sys dev; do mount -t tmpfs tmpfs "$root/$at"; done
for at in null urandom; do touch "$root/dev/$at"; mount --bind "/dev/$at" "$root/dev/$at"; done
mkdir -p "$root/sys/fs/cgroup"; mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount --bind "$units" "$root/etc/systemd/system"
exec env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" /lib/systemd/systemd --system --show-status=0 --log-target=journal systemd.unit=base.target`;

const base = '[Unit]\nDescription=Base\nDefaultDependencies=no\nRequires=systemd-journald.service\n';

export interface SystemdMachine {
  /** The prefix of a command that makes it run inside. */
  readonly inside: readonly string[];
  /** The administrator's folder of units: the given ones, and the links that enable them. */
  readonly units: string;
  dispose(): Promise<void>;
}

export async function startSystemdMachine(units: Readonly<Record<string, string>>): Promise<SystemdMachine> {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-systemd-'));
  const unitFolder = join(folder, 'units');
  for (const name of ['root', 'units']) mkdirSync(join(folder, name));
  for (const [name, text] of Object.entries({ 'base.target': base, ...units })) writeFileSync(join(unitFolder, name), text);
  const apart = ['--fork', '--kill-child', '--pid', '--mount', '--uts', '--ipc', '--cgroup', '--net'];
  // It also ends when this process ends, for any reason.
  const start = ['--pdeathsig', 'KILL', 'unshare', ...apart, 'bash', '-c', script, 'bash', join(folder, 'root'), unitFolder];
  const machine = spawn('setpriv', start, { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => machine.once('exit', () => resolve()));
  let inside: readonly string[] = [];
  const dispose = async (): Promise<void> => {
    if (machine.exitCode === null) process.kill(firstOf(machine) ?? machine.pid ?? 0, 'SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until(() => {
      if (machine.exitCode !== null) throw new Error('systemd could not be started in namespaces of its own');
      const first = firstOf(machine);
      inside = ['nsenter', '-t', String(first), '-m', '-p', '-u', '-i', '-C', '-n', '-r', '-w'];
      return first !== null && isUp(first, inside);
    }, 'systemd is up');
  } catch (cause) {
    await dispose();
    throw cause;
  }
  return { inside, units: unitFolder, dispose };
}

/** The pid of the namespaces' first process, as seen from outside. */
function firstOf({ pid }: ChildProcess): number | null {
  const child = /^\d+/.exec(pid === undefined ? '' : contentOf(`/proc/${pid}/task/${pid}/children`))?.[0];
  return child === undefined ? null : Number(child);
}

function isUp(first: number, [file = '', ...inside]: readonly string[]): boolean {
  if (contentOf(`/proc/${first}/comm`) !== 'systemd\n') return false;
  return spawnSync(file, [...inside, 'systemctl', 'is-system-running'], { encoding: 'utf8' }).stdout === 'running\n';
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process has ended.
    return '';
  }
}
