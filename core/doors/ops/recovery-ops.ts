// Health and recovery as operations: findings, their repairs, and running a repair.

import type { OpHandlers } from '../../contracts/ops.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'doctor' | 'recovery'>;

type RecoveryOps = Pick<OpHandlers, `health.${'check' | 'fix'}` | `recovery.${'list' | 'plan' | 'run'}`>;

export function createRecoveryOps({ doctor, recovery }: Deps): RecoveryOps {
  return {
    'health.check': ({ full }) => doctor.check(full === true),
    'health.fix': ({ checkId, run }, caller) => doctor.fix(checkId, run === true, caller.actor),
    'recovery.list': () => recovery.list(),
    'recovery.plan': ({ kind, target }) => recovery.plan(kind, target ?? null),
    'recovery.run': ({ planId }, caller) => recovery.run(planId, caller.actor),
  };
}
