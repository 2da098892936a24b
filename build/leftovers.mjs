// Finds processes that a test run left behind: those whose command line or working folder is inside the run's scratch folder. Reads /proc,
// so it works on Linux only and finds none elsewhere. Kills nothing.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

const COMMAND_SHOWN_MAX = 160;

/**
 * @typedef {object} Leftover
 * @property {number} pid
 * @property {string} command
 *
 * @param {string} folder the scratch folder; every temporary path of the run is in it
 * @param {string} [proc]
 * @returns {Leftover[]}
 */
export function findLeftovers(folder, proc = '/proc') {
  return pidsOf(proc).flatMap((pid) => {
    const place = join(proc, String(pid));
    const command = read(() => readFileSync(join(place, 'cmdline'), 'utf8'))
      .replaceAll('\0', ' ')
      .trim();
    const isOurs = command.includes(folder) || read(() => readlinkSync(join(place, 'cwd'))).startsWith(folder);
    return isOurs && pid !== process.pid ? [{ pid, command: command.slice(0, COMMAND_SHOWN_MAX) }] : [];
  });
}

/** @param {string} proc */
function pidsOf(proc) {
  try {
    return readdirSync(proc).map(Number).filter(Number.isInteger);
  } catch {
    return []; // no /proc on macOS and Windows
  }
}

/** @param {() => string} look */
function read(look) {
  try {
    return look();
  } catch {
    return ''; // The process ended meanwhile, or belongs to another user.
  }
}
