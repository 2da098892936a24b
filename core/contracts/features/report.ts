// A bug report: its content is shown as it would be saved, then saved as one archive. The operations.

import * as z from 'zod';
import { defineOps, id, sessionName } from '../define-ops.ts';

const reportOps = defineOps({
  /** Collects the files; sends nothing. Kept for fifteen minutes, so that exactly the shown files are saved. */
  'report.make': {
    params: z.strictObject({
      /** Adds the text of this conversation, with its secrets redacted. */
      sessionId: sessionName.optional(),
    }),
    result: z.object({ reportId: z.string(), files: z.array(z.object({ name: z.string(), text: z.string() })) }),
    about: 'show a report for a bug, without secrets and without messages; then save it as one archive',
    forPerson: true,
    commands: {
      'report make': {
        options: { sessionId: { flag: 'session', about: 'add the text of this conversation' }, '--yes': 'save it without asking' },
        example: '--yes',
      },
    },
  },
  /** Saves it in the data folder. */
  'report.save': {
    params: z.strictObject({ reportId: id }),
    result: z.object({ path: z.string(), sizeBytes: z.number().int() }),
    about: 'save a report as it was shown',
    forPerson: true,
  },
});

export const reportContract = {
  ops: reportOps,
  families: { report: 'Activity, health, recovery' },
  help: { report: ['Repair', 'an archive for a bug report, shown before it is saved'] },
} as const;
