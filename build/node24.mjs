// Runs every script here under the Node that is pinned as a dependency, whichever Node started the script.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from './files.mjs';

const MAJOR_MIN = 24;
const FORWARDED = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Returns true if this process is new enough. Otherwise starts the same command under the pinned Node, forwards signals, exits as the child
 * exits, and returns false: the caller has nothing more to do.
 */
export function runsOnPinnedNode() {
  if (Number.parseInt(process.versions.node, 10) >= MAJOR_MIN) return true;
  const node = join(projectRoot, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(node)) {
    process.stderr.write(
      `TrayClaw needs Node ${MAJOR_MIN}; this is ${process.versions.node}. Run "npm ci" in ${projectRoot} first: it brings one along.\n`,
    );
    process.exitCode = 1;
    return false;
  }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // A terminal also sends Ctrl-C to the child; forwarding it would deliver it twice.
  const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  for (const signal of FORWARDED) {
    process.on(signal, () => (signal === 'SIGINT' && hasTerminal ? undefined : child.kill(signal)));
  }
  child.on('error', (cause) => {
    process.stderr.write(`cannot start ${node}: ${cause.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => endAs(code, signal));
  return false;
}

/**
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 */
function endAs(code, signal) {
  if (signal === null) process.exit(code ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // If the signal does not end this process (it may be ignored), the exit code reports it by the shell's convention.
  process.exitCode = 128 + (constants.signals[signal] ?? 0);
}
