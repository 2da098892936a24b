// Tracks which elements of the page show each row of a difference. The page itself does not depend on it.

import type { Attachment } from 'svelte/attachments';
import type { DiffRow } from './diff-rows.ts';

export class RowElements {
  readonly #elements = new Map<DiffRow, Set<Element>>();

  of(row: DiffRow): Iterable<Element> {
    return this.#elements.get(row) ?? [];
  }

  /** Returns an attachment for an element that shows the row. */
  shows(row: DiffRow): Attachment {
    return (node) => {
      const known = this.#elements.get(row) ?? new Set();
      this.#elements.set(row, known.add(node));
      return () => {
        known.delete(node);
        if (known.size === 0) this.#elements.delete(row);
      };
    };
  }
}
