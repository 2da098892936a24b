// Health findings and their repairs. Each part of the program adds its findings to one list, which the doctor, the health view and guided
// recovery read.

import type { OpResult } from './ops.ts';
import type { RecoveryKind } from './features/health.ts';

type Check = Omit<OpResult<'health.check'>['checks'][number], 'repair'>;

/** The repair of a finding, or a recovery that a person requests by name. */
export interface Plan {
  /** Loses nothing that cannot be recreated: runs without approval when unattended. */
  readonly harmless: boolean;
  /** The steps it would take, a sentence each. */
  readonly will: readonly string[];
  readonly lost?: readonly string[];
  readonly keeps?: readonly string[];
  /** Does it, and says what was done. Null where a person does it, as `will` says. */
  readonly run: ((by: string) => Promise<readonly string[]> | readonly string[]) | null;
}

export interface Finding extends Check {
  readonly repair?: Plan;
}

/** A way back that a person can ask for, whatever was found. */
export interface Recovery extends Omit<OpResult<'recovery.list'>['kinds'][number], 'kind'> {
  readonly kind: RecoveryKind;
  /** Changes nothing. Fails with not_found where there is nothing of that name, with conflict where there is nothing to do. */
  plan(target: string | null): Plan | Promise<Plan>;
}

export interface HealthSource {
  /** Never fails. `full`: also what takes long on a large folder. */
  check(full: boolean): readonly Finding[] | Promise<readonly Finding[]>;
  readonly recoveries?: readonly Recovery[];
}

export function well(id: string, detail: string): Finding {
  return { id, ok: true, detail };
}

/** It works, and there is something a person should know and can do. */
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

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
