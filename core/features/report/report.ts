// A bug report: created, shown, and saved exactly as it was shown. Loaded when a person asks for one; sends nothing.

import { join } from 'node:path';
import { AppError } from '../../contracts/errors.ts';
import { isHere } from '../../contracts/doors.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import type { CollectDeps, ReportFile } from './collect.ts';

type Taken = CollectDeps & Pick<Spine, 'later' | 'ids'>;

const KEPT_MS = 15 * 60_000;

export const report = defineBuiltInFeature({
  name: 'report',
  create: (spine: Taken) => {
    let made: { readonly reportId: string; readonly files: readonly ReportFile[]; readonly forget: () => void } | null = null;
    const drop = (): void => {
      made?.forget();
      made = null;
    };
    const handlers = {
      'report.make': async ({ sessionId }) => {
        const { collectReport } = await import('./collect.ts');
        const files = await collectReport(spine, sessionId ?? null);
        drop();
        const reportId = spine.ids.next('evt');
        made = { reportId, files, forget: spine.later(KEPT_MS, drop) };
        return { reportId, files: [...files] };
      },
      'report.save': async ({ reportId }, caller) => {
        if (!isHere(caller.channel)) throw new AppError('denied', 'Only callers on this computer may save a file on it.');
        if (made?.reportId !== reportId)
          throw new AppError('conflict', 'This report is not the one that was shown last, or was shown too long ago.', {
            hint: 'Nothing was saved. Make it again.',
          });
        const { saveReport } = await import('./save.ts');
        const day = new Date(spine.clock.nowMs()).toISOString().replaceAll(/[:.]/g, '-');
        return saveReport(join(spine.home, 'reports', `report-${day}.zip`), made.files);
      },
    } satisfies Partial<OpHandlers>;
    return { handlers, dispose: drop };
  },
});
