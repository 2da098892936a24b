// Usage: the spending, counted from the log. The budget reads the same rows.

import { resolve } from 'node:path';
import type { OpHandlers } from '../../contracts/ops.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { PackLog } from './pack-log.ts';
import { UsageReport } from './report.ts';
import { UsageRows, type ReadEvents } from './rows.ts';
import { usageMigrations } from './usage-schema.ts';

export { LineFile } from './pack-log.ts';
export { UsageRows } from './rows.ts';
export { usageMigrations } from './usage-schema.ts';

type Taken = Pick<Spine, 'home' | 'config' | 'clock' | 'log' | 'logger' | 'settings' | 'redactLog'>;

const PACKS_LISTED = 50;

export const usage = defineBuiltInFeature({
  name: 'usage',
  migrations: usageMigrations,
  rows: (storage) => {
    const rows = new UsageRows(storage.db, { transact: (work) => storage.transact(work) });
    return { rows, report: new UsageReport(storage.db, rows) };
  },
  create: (spine: Taken, { rows, report }: { rows: UsageRows; report: UsageReport }) => {
    const { home, config, clock, log, logger, settings, redactLog: redact } = spine;
    const read: ReadEvents = (after, limit) => log.reads.after(after, limit);
    rows.takeOver(read);
    const stopTaking = log.onCommitted((events) => rows.take(events));
    const { packLog: path } = config.context;
    const packLog = path === undefined ? null : new PackLog(log.storage.db, { path: resolve(home, path), logger, redact });
    packLog?.begin(log.lastSeq);
    const catchUp = (): boolean => {
      rows.settle();
      return packLog?.catchUp(read) ?? false;
    };
    const writePackLog = (): void => {
      while (catchUp());
    };
    const handlers = {
      'usage.get': (query) => {
        const { perTurnUsd = null, perSessionUsd = null, perDayUsd = null } = settings.config.budget;
        return { ...report.usage(query, clock.nowMs()), budget: { perTurnUsd, perSessionUsd, perDayUsd } };
      },
      'pack.list': ({ sessionId, limit = PACKS_LISTED }) => {
        writePackLog();
        return { packs: report.packs(sessionId, limit) };
      },
    } satisfies Partial<OpHandlers>;
    return {
      handlers,
      gives: { newestCall: (ref: string) => report.newestCall(ref), rebuildUsage: () => rows.rebuild(read) },
      catchUp,
      dispose: () => {
        stopTaking();
        writePackLog();
        rows.close();
      },
    };
  },
});
