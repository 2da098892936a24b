// The argument list of bubblewrap for one run: the machine read-only, personal folders empty, the write folders open except their protected
// places, no capability, separate processes, and no network unless it is granted. Pure; the order of mounts is the policy.

import { dirname } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import type { SandboxJob, ShieldJob } from './sandbox-backend.ts';
import type { ProtectedPlace } from './protected-scan.ts';
import { accessOf, type FolderRule } from './sandbox-policy.ts';

/** Its temporary folder appears as /tmp. */
export interface BubblewrapRun extends Pick<SandboxJob, 'policy' | 'cwd' | 'temporaryFolder' | 'instanceFolder' | 'environment'> {
  readonly places: readonly ProtectedPlace[];
  /** True where a layer around it has taken the network away already, all but the way to its proxy. */
  readonly keepsNetwork: boolean;
  /** Already open descriptor of the syscall filter. */
  readonly filterDescriptor: number;
}

/** Without the program's own name, up to and with the `--` before the command. */
export function bubblewrapArguments(run: BubblewrapRun): string[] {
  return [
    ...'--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try'.split(' '),
    ...(run.keepsNetwork ? [] : ['--unshare-net']),
    ...'--die-with-parent --new-session --cap-drop ALL'.split(' '),
    '--seccomp',
    String(run.filterDescriptor),
    ...mounts(run),
    '--clearenv',
    ...Object.entries(run.environment).flatMap(([name, value]) => ['--setenv', name, value]),
    '--chdir',
    run.cwd,
    '--',
  ];
}

/** Everything as it is, but for folders that look empty. Up to and with the `--` before the command. */
export function shieldArguments({ cwd, hidden, opened, readable }: ShieldJob): string[] {
  const isHidden = (path: string): boolean => hidden.some((folder) => isInside(path, folder));
  return [
    ...'--die-with-parent --dev-bind / /'.split(' '),
    ...hidden.flatMap((path) => ['--tmpfs', path]),
    ...opened.filter(isHidden).flatMap((path) => ['--bind', path, path]),
    ...readable.filter(isHidden).flatMap((path) => ['--ro-bind', path, path]),
    ...hidden.flatMap((path) => ['--remount-ro', path]),
    '--chdir',
    cwd,
    '--',
  ];
}

function mounts(run: BubblewrapRun): string[] {
  const { policy, places } = run;
  const closed = policy.folders.filter(({ access }) => access === 'hidden');
  return [
    ...'--ro-bind / / --dev /dev'.split(' '),
    // As root the files of /proc/sys are the kernel's own settings, which root can write even without capabilities.
    ...'--proc /proc --remount-ro /proc'.split(' '),
    ...policy.folders.flatMap((rule) => openFolder(rule, run)),
    ...policy.hiddenFiles.filter((path) => accessOf(path, policy) !== 'hidden').flatMap(shutFile),
    ...places.flatMap(shutPlace),
    ...temporaryOf(run),
    // Last, because mount points are made in them until here.
    ...closed.flatMap(({ path }) => ['--remount-ro', path]),
  ];
}

function openFolder({ path, access }: FolderRule, { places, temporaryFolder }: BubblewrapRun): string[] {
  switch (access) {
    case 'hidden':
      return ['--tmpfs', path];
    case 'temporary':
      return ['--bind', temporaryFolder, path];
    case 'read':
      return ['--ro-bind', path, path];
    case 'write': {
      const pinned = pins(places, path);
      return pinned.length === 0 ? ['--bind', path, path] : ['--bind', path, path, ...pinned, '--bind', path, path];
    }
  }
}

/** If the policy gives the command its own /tmp, the run's folder keeps its real name, and those of other runs are hidden. */
function temporaryOf({ policy, instanceFolder, temporaryFolder }: BubblewrapRun): string[] {
  if (policy.folders.some(({ access }) => access === 'temporary')) return [];
  return ['--tmpfs', instanceFolder, '--bind', temporaryFolder, temporaryFolder, '--remount-ro', instanceFolder];
}

/**
 * Makes every folder above a protected place a mount point, which the kernel lets no process rename or remove: otherwise the place could be
 * moved aside and replaced. The write folder is mounted over them again, so that no path leads through one.
 */
function pins(places: readonly ProtectedPlace[], root: string): string[] {
  const pinned = new Set<string>();
  for (const { path } of places) {
    for (let folder = dirname(path); folder !== root && isInside(folder, root); folder = dirname(folder)) pinned.add(folder);
  }
  const fromTheTop = [...pinned].sort((a, b) => a.length - b.length);
  return fromTheTop.flatMap((folder) => ['--ro-bind', folder, folder]);
}

function shutPlace({ path, kind, isFolder, git, link }: ProtectedPlace): string[] {
  // The content of a hooks folder is protected with it.
  if (git === 'hook') return [];
  // A mount would land on what the link leads to, which is shut part by part; the link itself is put back.
  if (git === 'pointer' && link !== null) return [];
  if (kind === 'code') return ['--ro-bind', path, path];
  return isFolder ? ['--tmpfs', path, '--remount-ro', path] : shutFile(path);
}

function shutFile(path: string): string[] {
  return ['--ro-bind', '/dev/null', path];
}
