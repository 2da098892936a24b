// The location of the data folder: --home, TRAYCLAW_HOME, or the usual application data folder of the system. Creates nothing. Source for
// Linux: XDG Base Directory Specification 0.8 (a relative XDG_DATA_HOME must be ignored).

import { isAbsolute, join } from 'node:path';
import { givenPath, type PathSources } from '../../base/given-path.ts';

export interface HomeSources extends PathSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

export function resolveHome(flag: string | undefined, io: HomeSources): string {
  const named = nonEmpty(flag) ?? nonEmpty(io.env['TRAYCLAW_HOME']);
  if (named !== undefined) return givenPath(io, named);
  // Not the roaming folder, because a database and a browser profile would be copied over the network at each logon.
  if (io.platform === 'win32') return join(nonEmpty(io.env['LOCALAPPDATA']) ?? join(io.userFolder, 'AppData', 'Local'), 'TrayClaw');
  if (io.platform === 'darwin') return join(io.userFolder, 'Library', 'Application Support', 'TrayClaw');
  const shared = nonEmpty(io.env['XDG_DATA_HOME']);
  return join(shared !== undefined && isAbsolute(shared) ? shared : join(io.userFolder, '.local', 'share'), 'trayclaw');
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text;
}
