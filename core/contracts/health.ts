// The form of all health findings: a component's state, and the repairs it offers.

import type { OpResult } from './ops.ts';

type Check = Omit<OpResult<'health.check'>['checks'][number], 'repair'>;

/** An automatic repair of a finding. */
export interface Repair {
  /** Loses nothing that cannot be recreated: runs without asking if no person is there. */
  readonly harmless: boolean;
  /** The steps it would take, a sentence each. */
  readonly will: readonly string[];
  /** Runs the repair; returns what was done. */
  run(): Promise<readonly string[]> | readonly string[];
}

export interface Finding extends Check {
  readonly repair?: Repair;
}

export interface HealthSource {
  /** Never fails. `full`: also what takes long on a large folder. */
  check(full: boolean): readonly Finding[] | Promise<readonly Finding[]>;
}

export function well(id: string, detail: string): Finding {
  return { id, ok: true, detail };
}

/** It works, and there is something a person should know and can do. */
export function warning(id: string, detail: string, fix: string): Finding {
  return { id, ok: true, detail, fix };
}

export function unwell(id: string, detail: string, fix: string, repair?: Repair): Finding {
  return { id, ok: false, detail, fix, ...(repair === undefined ? {} : { repair }) };
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
