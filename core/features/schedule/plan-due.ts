// Decides what happens to the unsettled due times of a schedule. Pure: reads no clock and starts nothing.

import type { FiredDisposition, MissedPolicy } from '../../contracts/features/schedule.ts';

/** A due time that is this late still counts as on time: the clock is checked at least once a minute. */
export const graceMs = 90_000;
/** The maximum number of missed due times that `all` makes up for. */
export const madeUpMax = 10;

export interface DueSituation {
  /** Unsettled and passed, oldest first. */
  readonly dues: readonly number[];
  readonly nowMs: number;
  readonly missed: MissedPolicy;
  /** Its last turn has not ended. */
  readonly isOpen: boolean;
  readonly panicEngaged: boolean;
}

export type DueStep =
  | { readonly kind: 'run'; readonly dueMs: number }
  | { readonly kind: 'record'; readonly disposition: Exclude<FiredDisposition, 'run'>; readonly dues: readonly number[] };

/** In execution order. Due times of `all` without a step wait for the turn before them. */
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
