// Decides what happens to the unsettled due times of a schedule. Pure: reads no clock and starts nothing.

import type { FiredDisposition, MissedPolicy } from '../../contracts/features/schedule.ts';

/** A due time that is late by at most this counts as on time, because the clock is checked only once a minute. */
export const graceMs = 90_000;
/** The maximum number of missed due times that the policy `all` makes up for. */
export const madeUpMax = 10;

export interface DueSituation {
  /** Due times that have passed and are unsettled, oldest first. */
  readonly dues: readonly number[];
  readonly nowMs: number;
  readonly missed: MissedPolicy;
  /** Whether the last turn of the schedule has not ended. */
  readonly isOpen: boolean;
  readonly panicEngaged: boolean;
}

export type DueStep =
  | { readonly kind: 'run'; readonly dueMs: number }
  | { readonly kind: 'record'; readonly disposition: Exclude<FiredDisposition, 'run'>; readonly dues: readonly number[] };

/** The steps in execution order. Under the policy `all`, due times without a step wait for the turn before them. */
export function planDue({ dues, nowMs, missed, isOpen, panicEngaged }: DueSituation): readonly DueStep[] {
  const last = dues.at(-1);
  if (last === undefined) return [];
  if (panicEngaged) return record('panic', dues);
  if (missed === 'all') {
    const over = dues.slice(0, Math.max(0, dues.length - madeUpMax));
    const next = dues[over.length];
    return [...record('missed', over), ...(isOpen || next === undefined ? [] : [{ kind: 'run', dueMs: next } as const])];
  }
  if (isOpen) return record('overlap', dues);
  const isOnTime = nowMs - last <= graceMs;
  const runs = isOnTime || missed === 'once';
  return runs ? [...record('missed', dues.slice(0, -1)), { kind: 'run', dueMs: last }] : record('missed', dues);
}

function record(disposition: Exclude<FiredDisposition, 'run'>, dues: readonly number[]): DueStep[] {
  return dues.length === 0 ? [] : [{ kind: 'record', disposition, dues }];
}
