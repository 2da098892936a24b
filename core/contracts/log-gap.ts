// A gap in the log: the events that were missing when the log was compared with its head file at the start, and the sentences about it.

import { counted } from '../base/counted.ts';
import * as z from 'zod';

export const logGapReasons = ['rewound', 'other-log', 'power-cut', 'head-missing', 'head-damaged'] as const;

export const logGapSchema = z.object({
  /**
   * rewound: the end of the log is missing. other-log: a different log is in its place. power-cut: only events that were not yet promised
   * to be durable are missing. head-missing, head-damaged: the head file is missing or unreadable, so that a loss cannot be detected.
   */
  reason: z.enum(logGapReasons),
  /** The end of the log according to the head file. */
  expectedSeq: z.number().int().nonnegative().nullable(),
  foundSeq: z.number().int().nonnegative(),
  missing: z.number().int().nonnegative().nullable(),
  /** When the head file was last written. */
  atMs: z.number().int().nullable(),
});
export type LogGap = z.infer<typeof logGapSchema>;

export const logGapEvents = {
  'log.gap_found': logGapSchema,
  /** A person reviewed the gaps and continues with the log as it is. */
  'log.gap_accepted': z.object({ by: z.string(), gaps: z.number().int().positive() }),
};

/** After a power cut the log is as complete as promised. Every other gap waits for a person. */
export function isGapOpen({ reason }: Pick<LogGap, 'reason'>): boolean {
  return reason !== 'power-cut';
}

/** Whether the end of the log has changed, so that a panic stop or a revoked grant may be missing. */
export function isRewound({ reason }: Pick<LogGap, 'reason'>): boolean {
  return reason === 'rewound' || reason === 'other-log';
}

export const gapAdvice =
  'Stop TrayClaw and restore a backup (trayclaw backup list), or continue with the current log: trayclaw audit accept';

export function describeGap({ reason, expectedSeq, foundSeq, missing, atMs }: LogGap): string {
  const when = atMs === null ? '' : ` at ${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const events = counted(missing ?? 0, 'event is', 'events are');
  const sentences: Readonly<Record<LogGap['reason'], string>> = {
    rewound: `${events} missing from the end of the log: it had reached event ${expectedSeq ?? 0}${when} and now ends at event ${foundSeq}.`,
    'other-log': `The database holds another log: event ${expectedSeq ?? 0} is not the one that was recorded${when}.`,
    'power-cut': `${events} missing from the end of the log after the machine went down. None of them had been confirmed as written to disk.`,
    'head-missing': `The head file of the log (trayclaw.head) is gone. Whether events after ${foundSeq} are missing cannot be told.`,
    'head-damaged': `The head file of the log (trayclaw.head) cannot be read. Whether events after ${foundSeq} are missing cannot be told.`,
  };
  return sentences[reason];
}
