// Rows that follow the log name each event that changes them in a table by its type: a new event is a new line.

import type { AnyEvent, EventOf, EventType } from './events.ts';

export type Changes = { readonly [T in EventType]?: (event: EventOf<T>) => void };

/** Called for every event inside its transaction. */
export function applyChange(changes: Changes, event: AnyEvent): void {
  // The table is typed by the same name.
  (changes[event.type] as ((event: AnyEvent) => void) | undefined)?.(event);
}
