// Finds processes that a test run left behind: those whose command line or working folder is inside the run's scratch folder. Reads /proc,
// so it works on Linux only and finds none elsewhere. Kills nothing.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

const COMMAND_SHOWN_MAX = 160;

interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/** `folder`: the scratch folder; every temporary path of the run is in it. */
export function findLeftovers(folder: string, proc = '/proc'): Leftover[] {
  return pidsOf(proc).flatMap((pid) => {
    const place = join(proc, String(pid));
    const command = read(() => readFileSync(join(place, 'cmdline'), 'utf8'))
      .replaceAll('\0', ' ')
      .trim();
    const isOurs = command.includes(folder) || read(() => readlinkSync(join(place, 'cwd'))).startsWith(folder);
    return isOurs && pid !== process.pid ? [{ pid, command: command.slice(0, COMMAND_SHOWN_MAX) }] : [];
  });
}

function pidsOf(proc: string) {
  try {
    return readdirSync(proc).map(Number).filter(Number.isInteger);
  } catch {
    return []; // no /proc on macOS and Windows
  }
}

function read(look: () => string) {
  try {
    return look();
  } catch {
    return ''; // The process ended meanwhile, or belongs to another user.
  }
}
