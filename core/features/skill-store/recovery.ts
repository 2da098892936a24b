// Undoes installations that a killed process left unfinished: restores the earlier state, and removes staging folders, including those left
// over after a completed installation.

import type { Logger } from '../../base/logger.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { sweep, takeBack, type StoreFs } from './placing.ts';
import type { SkillStoreRows } from './rows.ts';
import type { Shelf } from './shelf.ts';

export interface RecoveryDeps {
  readonly rows: SkillStoreRows;
  readonly shelf: Pick<Shelf, 'folder' | 'contentOf' | 'reload'>;
  readonly log: Pick<SessionLog, 'append'>;
  readonly logger: Logger;
  readonly fs: StoreFs;
}

export function recoverInstalls({ rows, shelf, log, logger, fs }: RecoveryDeps): void {
  const open = rows.open();
  for (const { installId, moves } of open) {
    takeBack(moves, { fs, contentOf: shelf.contentOf });
    const body = { installId, reason: 'The program was ended in between.' };
    log.append(systemSessionId, [{ type: 'skill.install_undone', body }], true);
    logger.log('warn', 'an installation of skills was cut off and taken back', { skills: moves.map(({ name }) => name) });
  }
  try {
    sweep(shelf.folder, fs);
  } catch (cause) {
    logger.log('warn', 'what an installation of skills left over could not be removed', { cause: String(cause) });
  }
  if (open.length > 0) shelf.reload();
}
