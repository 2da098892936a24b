// Budget extensions granted by a person, by turn, session and day. Kept in memory and built from the log; writes nothing.

import type { EventBodies } from '../../contracts/events.ts';
import type { BudgetScope, BudgetUnit } from '../../contracts/policy.ts';
import { toUnits } from './sum.ts';

/** The part of the event `budget.extended` that determines the limits. */
export type BudgetExtension = Omit<EventBodies['budget.extended'], 'amount' | 'by'>;

/** One extension, in billionths of a dollar or in tokens: its amount, and the configured limit it was added to. */
interface Raise {
  readonly by: number;
  readonly onTopOf: number;
}

export class Extensions {
  readonly #load: () => readonly BudgetExtension[];
  /** Null until first used. */
  #raised: Map<string, Raise[]> | null = null;

  constructor(load: () => readonly BudgetExtension[]) {
    this.#load = load;
  }

  /**
   * Returns the sum of the extensions of a scope. `key` is a turn, a session or a local day. Lowering the limit in the settings cancels the
   * extensions that were added to the higher limit.
   */
  raisedBy(scope: BudgetScope, unit: BudgetUnit, key: string, configured: number): number {
    const raises = this.#known().get(nameOf(scope, unit, key)) ?? [];
    // A turn combines its own limits with those of the turns it continues, so `configured` cannot be compared with `onTopOf` here.
    const holding = scope === 'turn' ? raises : raises.filter(({ onTopOf }) => onTopOf <= configured);
    return holding.reduce((sum, { by }) => sum + by, 0);
  }

  /** `extension` must already be in the log. */
  add(extension: BudgetExtension): void {
    // If the extensions are not loaded yet, this one will be read from the log.
    if (this.#raised !== null) addTo(this.#raised, extension);
  }

  #known(): Map<string, Raise[]> {
    if (this.#raised === null) {
      this.#raised = new Map();
      for (const extension of this.#load()) addTo(this.#raised, extension);
    }
    return this.#raised;
  }
}

function addTo(raised: Map<string, Raise[]>, extension: BudgetExtension): void {
  const { scope, unit, turnId, sessionId, day } = extension;
  const key = { turn: turnId, session: sessionId, day }[scope];
  if (key === null) return;
  const toBudgetUnits = (amount: number): number => (unit === 'usd' ? toUnits(amount) : amount);
  const name = nameOf(scope, unit, key);
  const before = raised.get(name) ?? [];
  const by = toBudgetUnits(extension.raisedBy);
  // `limit` includes the extensions that were effective when this one was granted, but not those already cancelled.
  let onTopOf = toBudgetUnits(extension.limit) - by;
  for (const raise of before) if (onTopOf - raise.by >= raise.onTopOf) onTopOf -= raise.by;
  raised.set(name, [...before, { by, onTopOf }]);
}

function nameOf(scope: BudgetScope, unit: BudgetUnit, key: string): string {
  return `${scope} ${unit} ${key}`;
}
