// Health: findings in plain words with a remedy, and guided recovery. Every feature adds its checks to one list.

import { NewestMap } from '../../base/newest-map.ts';
import { AppError, noSuch, toAppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import { type RecoveryKind, recoveryKindSchema } from '../../contracts/features/health.ts';
import { type Finding, type HealthSource, type Plan, type Recovery, unwell } from '../../contracts/health.ts';
import type { OpHandlers, OpResult } from '../../contracts/ops.ts';
import { defineBuiltInFeature, type Contribution, type Spine } from '../feature.ts';
import { freeOn, type Machine, machineChecks } from './machine-checks.ts';
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
    readonly contributions: readonly Contribution[];
    /** Options of the host program and of fault tests. */
    readonly options: { readonly moreChecks?: HealthSource['check']; readonly faults?: { readonly machine?: Pick<Machine, 'freeBytes'> } };
  };

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
      ...spine.contributions.flatMap((one) => one.checks ?? []),
      { check },
    ]);
    return { handlers: handlersOf(doctor), gives: { check: () => doctor.check(false) } };
  },
});

function handlersOf(doctor: Doctor) {
  return {
    'health.check': ({ full }) => doctor.check(full === true),
    'health.fix': ({ checkId, run }, caller) => doctor.fix(checkId, run === true, caller.actor),
    'recovery.list': () => doctor.recoveries(),
    'recovery.plan': ({ kind, target }) => doctor.plan(kind, target ?? null),
    'recovery.run': ({ planId }, caller) => doctor.run(planId, caller.actor),
  } satisfies Partial<OpHandlers>;
}

// Collects the health findings of every part, repairs findings, and runs the recovery plans that a person asks for. Checks and plans change
// nothing; what is run is recorded.

interface Planned extends Plan {
  readonly kind: RecoveryKind;
  readonly target: string | null;
  readonly untilMs: number;
}

const PLAN_MS = 600_000;
const PLANS_MAX = 20;

class Doctor {
  readonly #spine: Pick<Spine, 'log' | 'clock' | 'ids' | 'panic'>;
  readonly #sources: readonly HealthSource[];
  readonly #plans = new NewestMap<string, Planned>(PLANS_MAX);

  constructor(spine: Pick<Spine, 'log' | 'clock' | 'ids' | 'panic'>, sources: readonly HealthSource[]) {
    this.#spine = spine;
    this.#sources = sources;
  }

  async check(full: boolean): Promise<OpResult<'health.check'>> {
    const checks = (await this.#look(full)).map(shown);
    return { ok: checks.every((check) => check.ok), checks };
  }

  /** Describes the repair of a finding, and with `run` performs it. Fails with not_found, or with conflict if there is no repair. */
  async fix(checkId: string, run: boolean, by: string): Promise<OpResult<'health.fix'>> {
    const { finding, look } = await this.#find(checkId);
    const { repair } = finding;
    if (repair === undefined || repair.run === null) {
      throw new AppError('conflict', `TrayClaw cannot repair ${checkId} automatically.`, {
        hint: 'See what the check says to do: trayclaw doctor',
      });
    }
    const { harmless, will } = repair;
    if (!run) return { checkId, harmless, will: [...will], did: [], check: shown(finding) };
    const did = [...(await repair.run(by))];
    this.#record({ planId: this.#spine.ids.next('plan'), kind: `fix:${checkId}`, target: null, did, by });
    const now = await look();
    return { checkId, harmless, will: [...will], did, check: now === undefined ? null : shown(now) };
  }

  recoveries(): OpResult<'recovery.list'> {
    const known = this.#recoveries();
    return { kinds: recoveryKindSchema.options.flatMap((kind) => known.filter((one) => one.kind === kind)).map(namedOnly) };
  }

  /** Fails with not_found for an unknown kind, and with conflict if there is nothing to do. */
  async plan(kind: RecoveryKind, target: string | null): Promise<OpResult<'recovery.plan'>> {
    const { clock, ids } = this.#spine;
    const recovery = this.#recoveries().find((one) => one.kind === kind);
    if (recovery === undefined) throw new AppError('not_found', `There is no recovery called ${kind}.`);
    const plan = await recovery.plan(target);
    const planId = ids.next('plan');
    this.#plans.set(planId, { ...plan, kind, target, untilMs: clock.nowMs() + PLAN_MS });
    const { will, lost = [], keeps = [], run } = plan;
    return { planId, kind, target, will: [...will], lost: [...lost], keeps: [...keeps], runs: run !== null };
  }

  /** Fails with not_found if the plan no longer exists, with conflict or panic_engaged, or as the plan does. */
  async run(planId: string, by: string): Promise<OpResult<'recovery.run'>> {
    const { clock, panic } = this.#spine;
    const plan = this.#plans.get(planId);
    if (plan === undefined || plan.untilMs < clock.nowMs()) {
      throw new AppError('not_found', `There is no plan ${planId} any more.`, { hint: 'Plan it again, look at it, and run that one.' });
    }
    if (panic.engaged) throw new AppError('panic_engaged', 'Nothing is recovered while everything is stopped.');
    if (plan.run === null) throw new AppError('conflict', 'This is done by hand, as the plan says.', { hint: plan.will.join(' ') });
    // Removed before it starts, so that a plan runs only once even if it fails.
    this.#plans.delete(planId);
    const { kind, target } = plan;
    const did = [...(await plan.run(by))];
    this.#record({ planId, kind, target, did, by });
    return { planId, kind, did };
  }

  #recoveries(): Recovery[] {
    return this.#sources.flatMap(({ recoveries = [] }) => recoveries);
  }

  /**
   * A finding, and `look` to see it again: asks only its own source, and only as deep as necessary, because the full check of models costs
   * money. A finding that is fine in the quick check may still fail in the full one.
   */
  async #find(checkId: string): Promise<{ readonly finding: Finding; readonly look: () => Promise<Finding | undefined> }> {
    for (const source of this.#sources) {
      const look = async (full: boolean): Promise<Finding | undefined> => (await findingsOf(source, full)).find(({ id }) => id === checkId);
      const quick = await look(false);
      if (quick === undefined) continue;
      return { finding: (quick.ok ? await look(true) : undefined) ?? quick, look: () => look(quick.ok) };
    }
    throw noSuch(
      'check',
      checkId,
      (await this.#look(false)).map(({ id }) => id),
      'See: trayclaw doctor',
    );
  }

  async #look(full: boolean): Promise<Finding[]> {
    const found: Finding[] = [];
    for (const source of this.#sources) found.push(...(await findingsOf(source, full)));
    return found;
  }

  #record(body: { planId: string; kind: string; target: string | null; did: string[]; by: string }): void {
    this.#spine.log.append(systemSessionId, [{ type: 'recovery.finished', body }], true);
  }
}

/** A check that throws becomes a finding, so that it does not hide the others. */
async function findingsOf(source: HealthSource, full: boolean): Promise<readonly Finding[]> {
  try {
    return await source.check(full);
  } catch (cause) {
    const why = toAppError(cause).message.replace(/\.$/, '');
    return [unwell('doctor', `A check could not be made: ${why}.`, 'Look at the other findings first.')];
  }
}

function shown({ repair, ...check }: Finding): OpResult<'health.check'>['checks'][number] {
  return repair === undefined ? check : { ...check, repair: { will: [...repair.will], harmless: repair.harmless } };
}

function namedOnly({ kind, title, when, target }: Recovery): OpResult<'recovery.list'>['kinds'][number] {
  return { kind, title, when, target };
}
