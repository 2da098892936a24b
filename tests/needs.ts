// The requirements of tests on the machine. If something is missing, the test is skipped and `npm test` lists it at the end. This is the
// only way to skip a test; build/check-tree.ts rejects others.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { installedEngine } from '../core/mind/llm/llm.ts';
import { findChromium, findOnPath } from '../build/chromium.ts';
import { isPeerInstalled } from './bench/peers/peer-folder.ts';
import { findOlderNode } from './older-node.ts';
import { isSoak } from './soak.ts';

/** Where the tests install the engine: once, pinned and verified, and reused by every later run. */
export const engineHome = process.env['TRAYCLAW_TEST_ENGINE'] ?? join(homedir(), '.cache', 'trayclaw-test-engine');

declare module 'vitest' {
  interface TaskMeta {
    /** Read by build/test-tally.ts. */
    needs?: string;
  }
}

const isLinux = process.platform === 'linux';
const isRoot = process.getuid?.() === 0;

/** The names are used in the list of skipped tests. */
const things = {
  'a Unix system': () => process.platform !== 'win32',
  'a Unix user other than root': () => process.platform !== 'win32' && !isRoot,
  Linux: () => isLinux,
  'root on Linux, able to mount': () => isLinux && isRoot && runs('unshare', '--mount', 'true'),
  bubblewrap: hasBubblewrap,
  'bubblewrap, socat, ripgrep and bash': () => hasBubblewrap() && ['socat', 'rg', 'bash'].every(isInstalled),
  'a keychain service': () => isLinux && ['gnome-keyring-daemon', 'dbus-run-session'].every(isInstalled),
  'bubblewrap and libsecret': () => hasBubblewrap() && findLibsecret() !== null,
  'a journal writer': () => isLinux && existsSync('/lib/systemd/systemd-journal-remote') && isInstalled('journalctl'),
  'a Node on the path that is too old for the package': () => findOlderNode() !== null,
  'a Chromium': () => findChromium() !== null,
  'an ssh server': () => isLinux && existsSync('/usr/sbin/sshd') && isInstalled('ssh-keygen') && isInstalled('ssh-agent'),
  'i2c and spi tools, and umockdev': () =>
    isLinux &&
    ['i2cdetect', 'i2ctransfer', 'spi-pipe', 'umockdev-wrapper'].every(isInstalled) &&
    runs('/usr/bin/python3', '-c', 'import gi; gi.require_version("UMockdev", "1.0")'),
  ripgrep: () => isInstalled('rg'),
  sqlite3: () => isInstalled('sqlite3'),
  strace: () => runs('strace', '-e', 'trace=write', '-o', '/dev/null', 'true'),
  'the program script of Linux': () => isLinux && isInstalled('script'),
  fish: () => isInstalled('fish'),
  zsh: () => isInstalled('zsh'),
  'the GGUF engine (npm run soak -- embedded-model installs it)': () => isSoak || installedEngine(engineHome) !== null,
  'the MCP peers (npm run soak -- mcp-peers installs them)': () => isSoak || isPeerInstalled('mcp'),
  'Dovecot and aiosmtpd': () =>
    isLinux && existsSync('/usr/sbin/dovecot') && existsSync('/usr/lib/dovecot/imap') && runs('/usr/bin/python3', '-c', 'import aiosmtpd'),
  ngircd: () => isLinux && existsSync('/usr/sbin/ngircd'),
  'nats-server': () => isInstalled('nats-server'),
  'maim and a virtual screen': () => isLinux && ['maim', 'Xvfb'].every(isInstalled),
  systemd: () => runs('systemd-analyze', '--version'),
  'systemd and root on Linux, able to make namespaces': () =>
    isLinux &&
    isRoot &&
    existsSync('/lib/systemd/systemd') &&
    ['setpriv', 'nsenter', 'journalctl'].every(isInstalled) &&
    runs('unshare', '--fork', '--pid', '--mount', '--uts', '--ipc', '--cgroup', '--net', 'true'),
};

export type Need = keyof typeof things;

export function has(thing: Need): boolean {
  return things[thing]();
}

/** Options of a test: `test(title, needs('Linux'), …)`, or `{ ...needs('Linux'), timeout: 60_000 }`. */
export function needs(thing: Need): { readonly skip: boolean; readonly meta: { readonly needs: Need } } {
  return { skip: !has(thing), meta: { needs: thing } };
}

/** The library through which a program uses a keychain service. */
export function findLibsecret(): string | null {
  if (!isLinux) return null;
  const folders = readdirSync('/usr/lib').map((name) => join('/usr/lib', name));
  return folders.map((folder) => join(folder, 'libsecret-1.so.0')).find((file) => existsSync(file)) ?? null;
}

/** Runs it, because some systems have bwrap installed but forbid it to create a sandbox. */
function hasBubblewrap(): boolean {
  return isLinux && runs('bwrap', '--ro-bind', '/', '/', 'true');
}

function isInstalled(program: string): boolean {
  return findOnPath([program]) !== null;
}

function runs(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
