// Health: findings in plain words with a remedy, and guided recovery. Every feature adds its checks to one list.

import type { HealthSource } from '../../contracts/health.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import { defineBuiltInFeature, type Spine, type Wing } from '../feature.ts';
import { Doctor } from './doctor.ts';
import { freeOn, machineChecks, type Machine } from './machine-checks.ts';
import { modelChecks, type ModelChecksDeps } from './model-checks.ts';
import { routeChecks, type RouteChecksDeps } from './route-checks.ts';
import { stateChecks, type StateChecksDeps } from './state-checks.ts';
import { storeChecks } from './store-checks.ts';
import { waysBack, type WaysBackDeps } from './ways-back.ts';

export type { Machine } from './machine-checks.ts';

type Taken = Pick<Spine, 'home' | 'ids' | 'environment' | 'facts' | 'options'> &
  ModelChecksDeps &
  RouteChecksDeps &
  StateChecksDeps &
  WaysBackDeps & {
    readonly wings: readonly Wing[];
    /** Options of the host program and of fault tests. */
    readonly options: { readonly moreChecks?: HealthSource['check']; readonly faults?: { readonly machine?: Pick<Machine, 'freeBytes'> } };
  };

type HealthOps = Pick<OpHandlers, `health.${'check' | 'fix'}` | `recovery.${'list' | 'plan' | 'run'}`>;

export const health = defineBuiltInFeature({
  name: 'health',
  create: (spine: Taken) => {
    const { moreChecks: check = () => [], faults } = spine.options;
    const machine = { platform: process.platform, pid: process.pid, freeBytes: faults?.machine?.freeBytes ?? freeOn };
    const doctor = new Doctor(spine, [
      storeChecks(spine),
      machineChecks({ ...spine, ...machine }),
      modelChecks(spine),
      routeChecks(spine),
      stateChecks(spine),
      waysBack(spine),
      ...spine.wings.flatMap((wing) => wing.checks ?? []),
      { check },
    ]);
    return { handlers: handlersOf(doctor), gives: { check: () => doctor.check(false) } };
  },
});

function handlersOf(doctor: Doctor): HealthOps {
  return {
    'health.check': ({ full }) => doctor.check(full === true),
    'health.fix': ({ checkId, run }, caller) => doctor.fix(checkId, run === true, caller.actor),
    'recovery.list': () => doctor.recoveries(),
    'recovery.plan': ({ kind, target }) => doctor.plan(kind, target ?? null),
    'recovery.run': ({ planId }, caller) => doctor.run(planId, caller.actor),
  };
}
