// Ids that a test can predict: ses_1, ses_2, …

import type { IdPrefix, IdSource } from '../../core/base/ids.ts';

export class CountingIds implements IdSource {
  readonly #counts = new Map<string, number>();

  next(prefix: IdPrefix): string {
    const count = (this.#counts.get(prefix) ?? 0) + 1;
    this.#counts.set(prefix, count);
    return `${prefix}_${count}`;
  }
}
