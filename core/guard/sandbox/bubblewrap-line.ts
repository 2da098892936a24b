// Builds the arguments of bubblewrap for one run: the machine is read-only, personal folders are empty, write folders are open except for
// their protected places, and the command has no capabilities, its own process namespace, and no network unless granted. Pure; the order of
// the mounts is the policy.

import { dirname } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import type { SandboxJob, ShieldJob } from './sandbox-backend.ts';
import type { ProtectedPlace } from './protected-scan.ts';
import { accessOf, type FolderRule } from './sandbox-policy.ts';

/** The run's temporary folder appears as /tmp. */
export interface BubblewrapRun extends Pick<SandboxJob, 'policy' | 'cwd' | 'temporaryFolder' | 'instanceFolder' | 'environment'> {
  readonly places: readonly ProtectedPlace[];
  /** True if an outer layer has already removed the network, except for the way to its proxy. */
  readonly keepsNetwork: boolean;
  /** The open descriptor of the syscall filter. */
  readonly filterDescriptor: number;
}

/** Excludes the program name. Ends with the `--` before the command. */
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

/** Arguments that leave the machine as it is, except for hidden folders, which look empty. Ends with the `--` before the command. */
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
    // For root, the files of /proc/sys are the kernel's settings, which root can write even without capabilities.
    ...'--proc /proc --remount-ro /proc'.split(' '),
    ...policy.folders.flatMap((rule) => openFolder(rule, run)),
    ...policy.hiddenFiles.filter((path) => accessOf(path, policy) !== 'hidden').flatMap(shutFile),
    ...places.flatMap(shutPlace),
    ...temporaryOf(run),
    // Must come last, because the steps above create mount points in these folders.
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

/**
 * Needed if the policy gives the command no separate /tmp: the run's folder then keeps its real name, and the folders of other runs are
 * hidden.
 */
function temporaryOf({ policy, instanceFolder, temporaryFolder }: BubblewrapRun): string[] {
  if (policy.folders.some(({ access }) => access === 'temporary')) return [];
  return ['--tmpfs', instanceFolder, '--bind', temporaryFolder, temporaryFolder, '--remount-ro', instanceFolder];
}

/**
 * Makes every folder above a protected place a mount point, which no process can rename or remove. Otherwise the place could be moved aside
 * and replaced. The write folder is then mounted over these again, so that no path leads through a read-only mount.
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
  // The content of a hooks folder is protected together with the folder.
  if (git === 'hook') return [];
  // A mount would apply to the target of the link, whose parts are protected separately. The link itself is restored after the run.
  if (git === 'pointer' && link !== null) return [];
  if (kind === 'code') return ['--ro-bind', path, path];
  return isFolder ? ['--tmpfs', path, '--remount-ro', path] : shutFile(path);
}

function shutFile(path: string): string[] {
  return ['--ro-bind', '/dev/null', path];
}
