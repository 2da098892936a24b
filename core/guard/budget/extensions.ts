// What a person allowed beyond the configured limits, by turn, session and day. Kept in memory, made from the log; writes nothing.

import type { BudgetScope, BudgetUnit } from '../../contracts/policy.ts';
import { toUnits } from './sum.ts';

/** The part of the event `budget.extended` that the limits follow from. */
export interface BudgetExtension {
  readonly scope: BudgetScope;
  readonly unit: BudgetUnit;
  readonly raisedBy: number;
  readonly turnId: string | null;
  readonly sessionId: string | null;
  readonly day: string | null;
}

export class Extensions {
  readonly #load: () => readonly BudgetExtension[];
  /** In billionths of a dollar or in tokens; null until it is first asked for. */
  #raised: Map<string, number> | null = null;

  constructor(load: () => readonly BudgetExtension[]) {
    this.#load = load;
  }

  /** By how much the limit of a place was raised. `key` is a turn, a session or a local day. */
  raisedBy(scope: BudgetScope, unit: BudgetUnit, key: string): number {
    return this.#known().get(nameOf(scope, unit, key)) ?? 0;
  }

  /** `extension` is in the log already. */
  add(extension: BudgetExtension): void {
    // What is not loaded yet will be found in the log.
    if (this.#raised !== null) addTo(this.#raised, extension);
  }

  #known(): Map<string, number> {
    if (this.#raised === null) {
      this.#raised = new Map();
      for (const extension of this.#load()) addTo(this.#raised, extension);
    }
    return this.#raised;
  }
}

function addTo(raised: Map<string, number>, { scope, unit, raisedBy, turnId, sessionId, day }: BudgetExtension): void {
  const key = { turn: turnId, session: sessionId, day }[scope];
  if (key === null) return;
  const name = nameOf(scope, unit, key);
  raised.set(name, (raised.get(name) ?? 0) + (unit === 'usd' ? toUnits(raisedBy) : raisedBy));
}

function nameOf(scope: BudgetScope, unit: BudgetUnit, key: string): string {
  return `${scope} ${unit} ${key}`;
}
