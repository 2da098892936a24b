// Checks of the machine: the disk, the owner of the folder, leftovers of another run, the clock, and programs that commands need.

import { counted } from '../../base/counted.ts';
import { accessSync, chmodSync, constants, lstatSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { valueAt, jsonIn } from '../../base/json.ts';
import { harmless, unwell, well, type Finding, type HealthSource } from '../../contracts/health.ts';
import { isExecutable } from '../../store/home/home.ts';
import type { Spine } from '../feature.ts';

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly freeBytes: (folder: string) => number;
}

type Checked = Pick<Spine, 'log' | 'home' | 'facts' | 'clock' | 'environment'> & Machine;

const DISK_WARN_BYTES = 500 * 1024 * 1024;
const CLOCK_SLACK_MS = 300_000;
const NEWEST_LOOKED_AT = 200;
/** Files with secrets that open everything else. */
const privateFiles = ['secrets.vault', 'instance.json'] as const;
const othersMay = 0o077;

export function machineChecks(deps: Checked): HealthSource {
  return {
    check: () => [
      checkDisk(deps),
      checkWorkspace(deps),
      checkPermissions(deps),
      checkInstance(deps),
      checkClock(deps),
      checkPrograms(deps),
    ],
  };
}

function checkDisk({ home, freeBytes }: Checked): Finding {
  const free = freeBytes(home);
  const detail = `${(free / 1e9).toFixed(1)} GB free for ${home}.`;
  return free > DISK_WARN_BYTES ? well('disk', detail) : unwell('disk', detail, 'Free some disk space.');
}

export function freeOn(folder: string): number {
  const stat = statfsSync(folder);
  return stat.bavail * stat.bsize;
}

function checkWorkspace({ facts: { workspace } }: Checked): Finding {
  try {
    accessSync(workspace, constants.R_OK | constants.W_OK);
    return well('workspace', workspace);
  } catch {
    return unwell('workspace', `${workspace} cannot be read and written.`, 'Make it writable or set workspace.path in config.yaml.');
  }
}

/** Anyone who can read the folder can read every conversation and the token of this instance. */
function checkPermissions({ home, platform }: Checked): Finding {
  if (platform === 'win32') return well('permissions', "Windows keeps a user's folder private.");
  const open = [home, ...privateFiles.map((name) => join(home, name))].flatMap((path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat === undefined || (stat.mode & othersMay) === 0 ? [] : [{ path, mode: stat.isDirectory() ? 0o700 : 0o600 }];
  });
  if (open.length === 0) return well('permissions', 'The data folder is yours alone.');
  const detail = `Others on this computer may look into ${open.map(({ path }) => path).join(', ')}.`;
  const close = harmless(
    open.map(({ path, mode }) => `Makes ${path} readable only for you (mode 0${mode.toString(8)}).`),
    () => {
      for (const { path, mode } of open) chmodSync(path, mode);
      return [`Closed ${counted(open.length, 'place')} to others.`];
    },
  );
  return unwell('permissions', detail, 'trayclaw doctor --fix', close);
}

/** This process holds the lock of the folder, so a file that names another process was left by a run that did not clean up. */
function checkInstance({ home, pid }: Checked): Finding {
  const path = join(home, 'instance.json');
  const owner = ownerIn(path);
  if (owner === null || owner === pid) return well('instance', 'No earlier run has left its address behind.');
  const detail = owner === 'unreadable' ? `${path} cannot be read.` : `${path} names process ${owner}, which no longer has this folder.`;
  const remove = harmless([`Removes ${path}; a running TrayClaw writes its own.`], () => {
    rmSync(path, { force: true });
    return [`Removed ${path}.`];
  });
  return unwell('instance', detail, 'trayclaw doctor --fix', remove);
}

function ownerIn(path: string): number | 'unreadable' | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // The file is usually missing.
    return null;
  }
  const pid = valueAt(jsonIn(text), 'pid');
  return typeof pid === 'number' ? pid : 'unreadable';
}

function checkClock({ log, clock }: Checked): Finding {
  const newest = log.storage.db.prepare('SELECT max(at_ms) FROM (SELECT at_ms FROM events ORDER BY seq DESC LIMIT ?)').pluck();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const aheadMs = ((newest.get(NEWEST_LOOKED_AT) as number | null) ?? 0) - clock.nowMs();
  if (aheadMs <= CLOCK_SLACK_MS) return well('clock', `The clock agrees with the log; the time zone is ${zone}.`);
  const words = aheadMs > 7_200_000 ? counted(Math.round(aheadMs / 3_600_000), 'hour') : counted(Math.round(aheadMs / 60_000), 'minute');
  return unwell(
    'clock',
    `The log has events ${words} in the future: the clock was set back, or was wrong before.`,
    'Set the clock of this computer right (and let it keep time over the network); the log itself needs nothing.',
  );
}

function checkPrograms({ environment, platform }: Checked): Finding {
  const folders = (environment['PATH'] ?? environment['Path'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const missing = ['git', ...(platform === 'win32' ? ['powershell.exe'] : ['sh'])].filter(
    (name) =>
      !folders.some((folder) => isExecutable(join(folder, name)) || (platform === 'win32' && isExecutable(join(folder, `${name}.exe`)))),
  );
  if (missing.length === 0) return well('programs', 'What commands usually need is installed.');
  return unwell('programs', `Not found in PATH: ${missing.join(', ')}.`, `Install ${missing.join(' and ')}, or put its folder into PATH.`);
}
