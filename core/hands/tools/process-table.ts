// Chooses the process table for the platform.

import { createLinuxProcessTable } from './process-table-linux.ts';
import { createMacProcessTable } from './process-table-mac.ts';
import type { ProcessTable } from './process-table-port.ts';

/** Null on Windows, where the system itself ends whole trees. `home` is the data folder, hidden from commands where there is bubblewrap. */
export function createProcessTable(platform: NodeJS.Platform, home?: string): ProcessTable | null {
  if (platform === 'linux') return createLinuxProcessTable(home);
  return platform === 'win32' ? null : createMacProcessTable();
}
