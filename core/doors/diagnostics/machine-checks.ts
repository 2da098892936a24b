// What is around the data: the disk, whose folder it is, what another run left behind, the clock, the programs commands need.

import { accessSync, chmodSync, constants, lstatSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { parseJson } from '../../base/json.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { counted, unwell, well, type Finding, type HealthSource } from '../../contracts/health.ts';

export interface MachineChecksDeps {
  readonly log: SessionLog;
  readonly home: string;
  readonly workspace: string;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  /** Free bytes on the disk of a folder; the system's own answer where left out. */
  readonly freeBytes?: (folder: string) => number;
}

const DISK_WARN_BYTES = 500 * 1024 * 1024;
const CLOCK_SLACK_MS = 300_000;
const NEWEST_LOOKED_AT = 200;
/** Files that hold what opens everything else. */
const privateFiles = ['secrets.vault', 'instance.json'] as const;
const othersMay = 0o077;

export function machineChecks(deps: MachineChecksDeps): HealthSource {
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

function checkDisk({ home, freeBytes = freeOn }: MachineChecksDeps): Finding {
  const free = freeBytes(home);
  const detail = `${(free / 1e9).toFixed(1)} GB free for ${home}.`;
  return free > DISK_WARN_BYTES ? well('disk', detail) : unwell('disk', detail, 'Free some disk space.');
}

function freeOn(folder: string): number {
  const stat = statfsSync(folder);
  return stat.bavail * stat.bsize;
}

function checkWorkspace({ workspace }: MachineChecksDeps): Finding {
  try {
    accessSync(workspace, constants.R_OK | constants.W_OK);
    return well('workspace', workspace);
  } catch {
    return unwell('workspace', `${workspace} cannot be read and written.`, 'Make it writable or set workspace.path in config.yaml.');
  }
}

/** Whoever may look into the folder reads every conversation, and the token of this instance. */
function checkPermissions({ home, platform }: MachineChecksDeps): Finding {
  if (platform === 'win32') return well('permissions', "Windows keeps a user's folder private.");
  const open = [home, ...privateFiles.map((name) => join(home, name))].flatMap((path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat === undefined || (stat.mode & othersMay) === 0 ? [] : [{ path, mode: stat.isDirectory() ? 0o700 : 0o600 }];
  });
  if (open.length === 0) return well('permissions', 'The data folder is yours alone.');
  return unwell(
    'permissions',
    `Others on this computer may look into ${open.map(({ path }) => path).join(', ')}.`,
    'trayclaw doctor --fix',
    {
      harmless: true,
      will: open.map(({ path, mode }) => `Takes ${path} away from others (mode 0${mode.toString(8)}).`),
      run: () => {
        for (const { path, mode } of open) chmodSync(path, mode);
        return [`Closed ${counted(open.length, 'place')} to others.`];
      },
    },
  );
}

/** This process holds the lock of the folder, so a file that names another is of a run that ended without taking it away. */
function checkInstance({ home, pid }: MachineChecksDeps): Finding {
  const path = join(home, 'instance.json');
  const owner = ownerIn(path);
  if (owner === null || owner === pid) return well('instance', 'No earlier run has left its address behind.');
  const detail = owner === 'unreadable' ? `${path} cannot be read.` : `${path} names process ${owner}, which no longer has this folder.`;
  return unwell('instance', detail, 'trayclaw doctor --fix', {
    harmless: true,
    will: [`Removes ${path}; a running TrayClaw writes its own.`],
    run: () => {
      rmSync(path, { force: true });
      return [`Removed ${path}.`];
    },
  });
}

function ownerIn(path: string): number | 'unreadable' | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // Missing is the usual case.
    return null;
  }
  const parsed = parseJson(text);
  const record = parsed.ok ? (parsed.value as { readonly pid?: unknown } | null) : null;
  return typeof record?.pid === 'number' ? record.pid : 'unreadable';
}

function checkClock({ log, clock }: MachineChecksDeps): Finding {
  const row = log.storage.db
    .prepare('SELECT max(at_ms) AS atMs FROM (SELECT at_ms FROM events ORDER BY seq DESC LIMIT ?)')
    .get(NEWEST_LOOKED_AT) as {
    atMs: number | null;
  };
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const aheadMs = (row.atMs ?? 0) - clock.nowMs();
  if (aheadMs <= CLOCK_SLACK_MS) return well('clock', `The clock agrees with the log; the time zone is ${zone}.`);
  const words = aheadMs > 7_200_000 ? counted(Math.round(aheadMs / 3_600_000), 'hour') : counted(Math.round(aheadMs / 60_000), 'minute');
  return unwell(
    'clock',
    `The log has events ${words} in the future: the clock was set back, or was wrong before.`,
    'Set the clock of this computer right (and let it keep time over the network); the log itself needs nothing.',
  );
}

function checkPrograms({ environment, platform }: MachineChecksDeps): Finding {
  const folders = (environment['PATH'] ?? environment['Path'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const missing = ['git', ...(platform === 'win32' ? ['powershell.exe'] : ['sh'])].filter(
    (name) => !folders.some((folder) => isProgram(join(folder, name)) || (platform === 'win32' && isProgram(join(folder, `${name}.exe`)))),
  );
  if (missing.length === 0) return well('programs', 'What commands usually need is installed.');
  return unwell('programs', `Not found in PATH: ${missing.join(', ')}.`, `Install ${missing.join(' and ')}, or put its folder into PATH.`);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there, or not to be run: the same for whoever wants it.
    return false;
  }
}
