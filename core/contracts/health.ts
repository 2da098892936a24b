// Health findings and their repairs. Each part of the program adds its findings to one list, which doctor, the health view and guided
// recovery read.

import type { OpResult } from './ops.ts';
import type { RecoveryKind } from './features/health.ts';

type Check = Omit<OpResult<'health.check'>['checks'][number], 'repair'>;

/** The repair of a finding, or a recovery that a person requests by name. */
export interface Plan {
  /** Loses nothing that cannot be recreated, so it runs without approval when unattended. */
  readonly harmless: boolean;
  /** The steps it would take, one sentence each. */
  readonly will: readonly string[];
  readonly lost?: readonly string[];
  readonly keeps?: readonly string[];
  /** Performs the steps and returns what was done. Null if a person has to perform them, as `will` says. */
  readonly run: ((by: string) => Promise<readonly string[]> | readonly string[]) | null;
}

export interface Finding extends Check {
  readonly repair?: Plan;
}

/** A recovery that a person can request, independent of the findings. */
export interface Recovery extends Omit<OpResult<'recovery.list'>['kinds'][number], 'kind'> {
  readonly kind: RecoveryKind;
  /** Changes nothing. Fails with not_found if there is no such target, and with conflict if there is nothing to do. */
  plan(target: string | null): Plan | Promise<Plan>;
}

export interface HealthSource {
  /** Never fails. `full` includes checks that take long on a large data folder. */
  check(full: boolean): readonly Finding[] | Promise<readonly Finding[]>;
  readonly recoveries?: readonly Recovery[];
}

export function well(id: string, detail: string): Finding {
  return { id, ok: true, detail };
}

/** It works, but there is something that a person should know and can act on. */
export function warning(id: string, detail: string, fix: string): Finding {
  return { id, ok: true, detail, fix };
}

export function unwell(id: string, detail: string, fix: string, repair?: Plan): Finding {
  return { id, ok: false, detail, fix, ...(repair === undefined ? {} : { repair }) };
}

/** A plan that loses nothing, so the program may run it without approval. */
export function harmless(will: readonly string[], run: Plan['run']): Plan {
  return { harmless: true, will, run };
}
