// The session log as the composition root builds it: real redaction, real projections, on disk. Imports the sources, because the bundle
// does not export it.

import { systemClock } from '../../../core/base/clock.ts';
import { silentLogger } from '../../../core/base/logger.ts';
import { PolicyStore, policyMigrations } from '../../../core/guard/policy/policy.ts';
import { SafetyChecks } from '../../../core/guard/safety/safety.ts';
import { ContinuityRows, continuityMigrations } from '../../../core/store/continuity/continuity.ts';
import { SessionLog, sessionMigrations } from '../../../core/store/session/session.ts';
import { Storage } from '../../../core/store/storage/storage.ts';

export interface OpenLog {
  readonly log: SessionLog;
  readonly storage: Storage;
  readonly continuity: ContinuityRows;
}

export function openLog(home: string): OpenLog {
  const storage = Storage.open({ home, migrations: [...sessionMigrations, ...policyMigrations, ...continuityMigrations] });
  const safety = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
  const continuity = new ContinuityRows(storage.db);
  const log = new SessionLog({
    storage,
    clock: systemClock,
    logger: silentLogger,
    scrub: (body) => safety.redactDeep(body),
    projections: [new PolicyStore(storage.db), continuity],
  });
  return { log, storage, continuity };
}
