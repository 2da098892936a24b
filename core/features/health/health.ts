// Health: what a person would check by hand, each finding in plain words with what to do, and the ways back from trouble. One list, to which
// every feature adds what it says of itself.

import type { HealthSource } from '../../contracts/health.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { Doctor } from './doctor.ts';
import { freeOn, machineChecks, type Machine } from './machine-checks.ts';
import { modelChecks, type ModelChecksDeps } from './model-checks.ts';
import { routeChecks, type RouteChecksDeps } from './route-checks.ts';
import { stateChecks, type StateChecksDeps } from './state-checks.ts';
import { storeChecks } from './store-checks.ts';
import { waysBack, type WaysBackDeps } from './ways-back.ts';

export type { Machine } from './machine-checks.ts';

type Taken = Pick<
  Spine,
  'home' | 'clock' | 'ids' | 'log' | 'environment' | 'facts' | 'panic' | 'config' | 'checkpoints' | 'secrets' | 'tools'
>;

/** Dependencies outside the spine: models, secrets, the outbox, and health sources of other features. */
type Others = Omit<ModelChecksDeps & RouteChecksDeps & StateChecksDeps & WaysBackDeps, keyof Taken> & {
  readonly sources: readonly HealthSource[];
  readonly freeBytes?: Machine['freeBytes'] | undefined;
};

type HealthOps = Pick<OpHandlers, `health.${'check' | 'fix'}` | `recovery.${'list' | 'plan' | 'run'}`>;

export const health = defineBuiltInFeature({
  name: 'health',
  create: (spine: Taken, _rows: null, { sources, freeBytes = freeOn, ...others }: Others) => {
    const all = { ...spine, ...others };
    const machine = { platform: process.platform, pid: process.pid, freeBytes };
    const doctor = new Doctor(spine, [
      storeChecks(spine),
      machineChecks({ ...spine, ...machine }),
      modelChecks(all),
      routeChecks(all),
      stateChecks(all),
      waysBack(all),
      ...sources,
    ]);
    return { handlers: handlersOf(doctor) };
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
