// Health: what a person would check by hand, each finding in plain words with what to do, and with the repair the program can do itself.
// A check changes nothing; a repair is done only when it is asked for by its check's name.

import type { IdSource } from '../../base/ids.ts';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { unwell, type Finding, type HealthSource } from '../../contracts/health.ts';

export type { Finding, HealthSource, Repair } from '../../contracts/health.ts';
export { machineChecks, type MachineChecksDeps } from './machine-checks.ts';
export { modelChecks } from './model-checks.ts';
export { routeChecks } from './route-checks.ts';
export { Recovery, type RecoveryDeps } from './recovery.ts';
export { stateChecks } from './state-checks.ts';
export { storeChecks } from './store-checks.ts';

export interface DoctorDeps {
  readonly log: SessionLog;
  readonly ids: IdSource;
  readonly sources: readonly HealthSource[];
}

type Check = OpResult<'health.check'>['checks'][number];

export class Doctor {
  readonly #deps: DoctorDeps;

  constructor(deps: DoctorDeps) {
    this.#deps = deps;
  }

  async check(full: boolean): Promise<OpResult<'health.check'>> {
    const checks = (await this.#look(full)).map(shown);
    return { ok: checks.every((check) => check.ok), checks };
  }

  /** What would be done about a finding, and with `run` does it. Fails with not_found, or with conflict where nothing can be done. */
  async fix(checkId: string, run: boolean, by: string): Promise<OpResult<'health.fix'>> {
    const finding = (await this.#findings(checkId)).find(({ id }) => id === checkId);
    const repair = finding?.repair;
    if (finding === undefined || repair === undefined) {
      throw new AppError('conflict', `TrayClaw cannot repair ${checkId} automatically.`, {
        data: { hint: 'See what the check says to do: trayclaw doctor' },
      });
    }
    const will = [...repair.will];
    if (!run) return { checkId, harmless: repair.harmless, will, did: [], check: shown(finding) };
    const did = [...(await repair.run())];
    const { log, ids } = this.#deps;
    log.append(
      systemSessionId,
      [{ type: 'recovery.finished', body: { planId: ids.next('plan'), kind: `fix:${checkId}`, target: null, did, by } }],
      true,
    );
    const now = (await this.#findings(checkId)).find(({ id }) => id === checkId);
    return { checkId, harmless: repair.harmless, will, did, check: now === undefined ? null : shown(now) };
  }

  /** The quick look first; what it finds nothing wrong with may still be ill on a closer one. */
  async #findings(checkId: string): Promise<readonly Finding[]> {
    const quick = await this.#look(false);
    const found = quick.find(({ id }) => id === checkId);
    if (found === undefined) throw new AppError('not_found', `There is no check ${checkId}.`, { data: { hint: 'See: trayclaw doctor' } });
    return found.ok ? this.#look(true) : quick;
  }

  async #look(full: boolean): Promise<Finding[]> {
    const found: Finding[] = [];
    for (const source of this.#deps.sources) {
      try {
        found.push(...(await source.check(full)));
      } catch (cause) {
        // One check that breaks is a finding, and must not hide the others.
        const why = cause instanceof Error ? cause.message : String(cause);
        found.push(unwell('doctor', `A check could not be made: ${why}.`, 'Look at the other findings first.'));
      }
    }
    return found;
  }
}

function shown({ repair, ...check }: Finding): Check {
  return repair === undefined ? check : { ...check, repair: { will: [...repair.will], harmless: repair.harmless } };
}
